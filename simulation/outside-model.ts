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
import type { Answers } from './workload.ts'

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

/** An outside service that is slow. It computes the answer to a repeated call again. */
export interface OutsideService {
  /** The kinds of asks that it answers. */
  readonly kinds: readonly string[]
  readonly arrived: readonly ArrivedCall[]
  handlers(process: Process, clock: Clock): AskHandlers
}

export interface OutsideParts {
  readonly scheduler: Scheduler
  readonly random: Random
  readonly tables: Tables
  readonly domain: Domain
  readonly answers: Answers
}

/** Longer than a claim. */
const SLOW_MS = 90_000
/** Longer than the session of a member, and shorter than a claim. */
const BUSY_MS = 12_000

export const createOutside = ({ scheduler, random, tables, domain, answers }: OutsideParts): OutsideService => {
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
        return answers[ask.kind]?.(ask, random) ?? { events: [] }
      },
      unknown: noAnswer,
    })
  }
  return {
    kinds: Object.keys(answers),
    arrived,
    handlers: (process, clock) => {
      const handler = { call: (ask: AskCall) => call(process, clock, ask) }
      return Object.fromEntries(Object.keys(answers).map((kind) => [kind, handler]))
    },
  }
}

/** The ids that the events of an answer can have. An answer has at most three events. */
export const answerIds = (id: string, derived: (number: number) => string): readonly string[] => [
  derived(0),
  derived(1),
  derived(2),
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
