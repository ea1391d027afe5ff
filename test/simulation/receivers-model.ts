import type { Receivers } from '../../processors/engine/receivers.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Process, Scheduler } from './scheduler.ts'

/** What has arrived outside, by the id of the effect: how often, and of which kind. */
export interface Outside {
  readonly arrived: Map<string, { readonly kind: string; times: number }>
}

export const createOutside = (): Outside => ({ arrived: new Map() })

/** A post that delivers what it is given, and a depot that knows its parcels by their id. */
export const KINDS = { letter: false, parcel: true } as const

const away = () => new Fault('receiver-away', 'The simulated receiver took nothing. Try again.', { retriable: true })
const silence = () => new Error('the simulated receiver did not answer')

/** The port of receivers, for one process. */
export const receiversFor = (scheduler: Scheduler, process: Process, { arrived }: Outside): Receivers =>
  Object.fromEntries(Object.entries(KINDS).map(([kind, tellsDuplicatesApart]) => [kind, {
    tellsDuplicatesApart,
    send: ({ id }) => scheduler.call(process, {
      port: `receiver.${kind}`,
      *steps() {
        const known = arrived.get(id)
        if (known) known.times += 1
        else arrived.set(id, { kind, times: 1 })
      },
      refused: away,
      unknown: silence,
    }),
  }]))
