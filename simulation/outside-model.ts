import type { AskCall, AskHandlers, AskResult } from '../projections/ask.ts'
import type { Clock } from '../processors/engine/ports/clock.ts'
import { CONTROL_TABLE } from '../processors/engine/generations/control.ts'
import { pk } from '../processors/engine/generations/control-rows.ts'
import type { Domain } from '../projections/projection.ts'
import { Fault } from '../schemas/fault.ts'
import type { Process } from './process.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'
import type { Tables } from './tables.ts'

/** A call that arrived outside. */
export interface ArrivedCall {
  readonly id: string
  readonly at: number
  /** The time of the answer. Undefined: the caller got no answer. */
  ended?: number
  /**
   * The time since which the ask must wait for an operator: the last flip, if the ask changes something and its event is older than the flip.
   * Undefined: the ask does not have to wait.
   */
  readonly waitsSince: number | undefined
}

/** An outside service that is slow, answers a repeated call differently, and repeats the events of its answers. */
export interface OutsideService {
  readonly arrived: readonly ArrivedCall[]
  handlers(process: Process, clock: Clock): AskHandlers
}

export interface OutsideParts {
  readonly scheduler: Scheduler
  readonly random: Random
  readonly tables: Tables
  readonly domain: Domain
}

/** Longer than a claim. */
const SLOW_MS = 90_000
/** Longer than the session of a member, and shorter than a claim. */
const BUSY_MS = 12_000

export const createOutside = ({ scheduler, random, tables, domain }: OutsideParts): OutsideService => {
  const arrived: ArrivedCall[] = []
  const call = async (process: Process, clock: Clock, ask: AskCall): Promise<AskResult> => {
    if (random.chance(0.1)) return { later: scheduler.now() + 2_000 }
    const begun: ArrivedCall = await scheduler.call(process, {
      port: 'outside.arrive',
      *steps() {
        const call = { id: ask.id, at: scheduler.now(), waitsSince: waitsSince({ tables, domain }, ask.id) }
        arrived.push(call)
        return call
      },
      refused,
      unknown: noAnswer,
    })
    const ms = random.pick([0, 0, 0, 500, 500, BUSY_MS, SLOW_MS])
    if (ms > 0) await clock.sleep(ms)
    return scheduler.call(process, {
      port: 'outside.answer',
      *steps() {
        begun.ended = scheduler.now()
        return answerTo(ask, random)
      },
      unknown: noAnswer,
    })
  }
  return {
    arrived,
    handlers: (process, clock) => {
      const handler = { call: (ask: AskCall) => call(process, clock, ask) }
      return { look: handler, buy: handler }
    },
  }
}

/** A repeated call finds another number. One answer in five contains its event twice, with one id or with two ids. */
const answerTo = ({ id, name, body }: AskCall, random: Random): AskResult => {
  const { rest } = body as { readonly rest: number }
  const event = { type: 'ErrandDone', data: { name, rest: rest - 1, found: random.between(1, 9) } }
  if (!random.chance(0.2)) return { events: [event] }
  return random.chance(0.5)
    ? { events: [event, event] }
    : { events: [{ ...event, eventId: `${id}!` }, { ...event, eventId: `${id}!` }] } // prettier-ignore
}

/** The ids that the events of an answer can have. */
export const answerIds = (id: string, derived: (number: number) => string): readonly string[] => [
  derived(0),
  derived(1),
  `${id}!`,
]

const refused = () => new Fault('outside-refused', 'The simulated outside service refuses the call.')
const noAnswer = () => new Fault('outside-silent', 'The simulated outside service does not answer.')

const waitsSince = (
  { tables, domain }: { readonly tables: Tables; readonly domain: Domain },
  id: string,
): number | undefined => {
  const control = [...tables.of(CONTROL_TABLE, 1).items.values()]
  const serving = control.find(({ PK, SK }) => PK === pk(domain.name) && SK === 'SERVING')
  const row = [...tables.serving(domain).table.items.values()].find((item) => item['id'] === id)
  if (serving === undefined || row?.['changes'] !== true) return undefined
  const from = (serving['from'] ?? {}) as Readonly<Record<string, number>>
  return row._pos < (from[row.PK.split('#')[1] ?? ''] ?? 0) ? Number(serving['since']) : undefined
}
