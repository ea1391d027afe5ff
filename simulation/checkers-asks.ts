import { v5 } from 'uuid'
import { LEDGER_TABLE } from '../processors/engine/generations/control.ts'
import { CONTROL_TABLE } from '../processors/engine/generations/control.ts'
import { pk } from '../processors/engine/generations/control-rows.ts'
import type { Stored } from '../projections/item.ts'
import type { Domain } from '../projections/projection.ts'
import type { Codec } from '../schemas/codec.ts'
import type { Violation } from './checkers.ts'
import { isCertain } from './checkers-sent.ts'
import type { FaultKind } from './faults.ts'
import type { Topic } from './log-model.ts'
import { answerIds, type ArrivedCall } from './outside-model.ts'
import type { Expected } from './reference.ts'
import type { Tables } from './tables.ts'

export interface AsksInput {
  readonly topic: Topic
  readonly codec: Codec
  readonly expected: Expected
  readonly arrived: readonly ArrivedCall[]
  readonly faults: readonly { readonly kind: FaultKind }[]
  /** True if all nodes were stopped and started again during the run. */
  readonly hasRestarted: boolean
}

/** A round of the fetcher can end this long after it has read the serving period. */
const ROUND_MS = 8_000

/**
 * Checks the calls that arrived outside: a fold requested each of them, none was too early, and an ask with `once` was called at most once.
 * Checks that each answer in the log answers a call. In a run without faults that can hide an answer, also checks that no answered ask was
 * called again, that the calls of a queue did not overlap, and that no ask was called that waits for an operator.
 */
export const checkAsks = (input: AsksInput): readonly Violation[] => {
  const { expected, arrived, faults, hasRestarted } = input
  const details = [
    ...arrived.filter(({ id }) => !expected.asks.has(id)).map(({ id }) => `no fold requested ${id}`),
    ...arrived.filter(({ id, at }) => at < (expected.asks.get(id)?.at ?? 0)).map(({ id }) => `too early: ${id}`),
    ...repeated(arrived.filter(({ id }) => expected.asks.get(id)?.once === true)).map((id) => `not once: ${id}`),
    ...unknownAnswers(input),
    ...(isCertain(faults) && !hasRestarted ? certain(input) : []),
  ]
  return details.map((detail) => ({ checker: 'asks', detail }))
}

const repeated = (calls: readonly ArrivedCall[]): readonly string[] => [
  ...new Set(calls.filter(({ id }, index) => calls.findIndex((call) => call.id === id) < index).map(({ id }) => id)),
]

const unknownAnswers = ({ topic, codec, arrived }: AsksInput): readonly string[] => {
  const known = new Set(arrived.flatMap(({ id }) => answerIds(id, (number) => v5(`answer:${number}`, id))))
  return topic.partitions.flat().flatMap(({ value }) => {
    try {
      const { meta } = codec.decode(value)
      return meta.source === 'fetcher' && !known.has(meta.eventId) ? [`an answer to no call: ${meta.eventId}`] : []
    } catch {
      return []
    }
  })
}

const certain = ({ arrived, expected }: AsksInput): readonly string[] => {
  const queueOf = ({ id }: ArrivedCall) => expected.asks.get(id)?.queue
  const overlaps = arrived.filter((call, index) =>
    arrived.slice(0, index).some((other) => queueOf(other) === queueOf(call) && (other.ended ?? Infinity) > call.at),
  )
  const again = arrived.filter((call, index) =>
    arrived.slice(0, index).some((other) => other.id === call.id && other.ended !== undefined),
  )
  const early = arrived.filter(({ at, waitsSince }) => waitsSince !== undefined && at - waitsSince > ROUND_MS)
  return [
    ...overlaps.map(({ id }) => `another call of its queue was running: ${id}`),
    ...again.map(({ id }) => `called after its answer: ${id}`),
    ...early.map(({ id }) => `called although it waits for an operator: ${id}`),
  ]
}

/**
 * The due asks of these kinds in the serving generation, without those that wait for an operator and those of parked keys.
 */
export const pendingAsks = (
  tables: Tables,
  domain: Domain,
  { kinds, now }: { readonly kinds: readonly string[]; readonly now: number },
): readonly Stored[] => {
  if (domain.asks === undefined) return []
  const { items } = tables.serving(domain).table
  const due = new Date(now).toISOString()
  const ledger = tables.of(LEDGER_TABLE, 1).items
  const serving = [...tables.of(CONTROL_TABLE, 1).items.values()].find(
    ({ PK, SK }) => PK === pk(domain.name) && SK === 'SERVING',
  )
  const from = (serving?.['from'] ?? {}) as Readonly<Record<string, number>>
  const isParked = (key: unknown) =>
    [...items.values()].some((item) => item.PK.startsWith('PARKED#') && item['key'] === key)
  return [...items.values()].filter((row) => {
    if (!row.PK.startsWith('ASK#') || row.SK > due || !kinds.includes(String(row['kind'])) || isParked(row['key']))
      return false
    const entry = [...ledger.values()].find(({ PK }) => PK === `SENT#${String(row['id'])}`)
    const isClaimed = entry?.['state'] === 'claimed' && Number(entry['until']) > now
    const isUnknown = row['once'] === true && entry?.['state'] === 'claimed' && !isClaimed
    // The answer was dropped, because it describes a person who was forgotten. So no event withdraws the ask.
    if (entry?.['state'] === 'sent' && entry['position'] === undefined) return false
    const isOld = row['changes'] === true && row._pos < (from[row.PK.split('#')[1] ?? ''] ?? 0)
    return !isUnknown && (isClaimed || !isOld || entry?.['state'] === 'sent')
  })
}
