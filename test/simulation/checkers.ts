import { canonical, keyOf, sameItem, type Stored } from '../../projections/item.ts'
import type { Versioned } from '../../processors/engine/series.ts'
import type { Passed } from '../../processors/engine/tally.ts'
import type { TableSpec } from '../../projections/table.ts'
import type { Codec } from '../../schemas/codec.ts'
import { positionName, type Topic } from './log-model.ts'
import type { Expected } from './reference.ts'
import { pointName, type SeriesTable } from './series-model.ts'
import type { Table } from './store-model.ts'

/** A promise that was not kept: which, and the first place where it shows. */
export interface Violation {
  readonly checker: 'C1' | 'C2' | 'C3' | 'C4' | 'C7' | 'C8' | 'outcomes' | 'derived' | 'timers' | 'tokens' | 'points' | 'scales' | 'expenses'
  readonly detail: string
}

/** What senders know of each event they sent: answers by position, and how often no answer came. */
export type History = Map<string, { readonly acked: string[]; unknown: number }>

/** What comes and goes by what was sent, healed or removed: no function of the log alone. */
const isTransient = (item: Stored) => item.PK.startsWith('OUTBOX#') || item.PK.startsWith('DERIVED#') || item.PK.startsWith('PARKED#') || item['_removed'] === true

/** C1: the items are the fold of the log, byte for byte, none missing and none too many. */
export const checkItems = (found: Iterable<Stored>, expected: Expected): readonly Violation[] => {
  const violations: Violation[] = []
  const wrong = (detail: string) => violations.push({ checker: 'C1', detail })
  const seen = new Set<string>()
  for (const item of found) {
    if (isTransient(item)) continue
    const name = keyOf(item)
    seen.add(name)
    const wanted = expected.items.get(name)
    if (wanted === undefined) wrong(`extra item ${canonical(item)}`)
    else if (!sameItem(item, wanted)) wrong(`item ${canonical(item)}\n    is not ${canonical(wanted)}`)
  }
  for (const [name, wanted] of expected.items) if (!seen.has(name)) wrong(`missing item ${canonical(wanted)}`)
  return violations
}

/** The points are those that the log folds to: none missing, none too many, each as it was said last. */
export const checkPoints = ({ points, disputed }: Pick<SeriesTable, 'points' | 'disputed'>, expected: Expected): readonly Violation[] => {
  const wrong = (detail: string): Violation => ({ checker: 'points', detail })
  const said = (point: Versioned | undefined) => (point === undefined ? 'missing' : JSON.stringify([point.version, Object.entries(point.values).sort()]))
  return [
    ...[...points.keys()].filter((name) => !expected.points.has(name)).map((name) => wrong(`extra point ${name}`)),
    ...[...expected.points].filter(([name, wanted]) => said(points.get(name)) !== said(wanted)).map(([name, wanted]) => wrong(`${name} is ${said(points.get(name))}, not ${said(wanted)}`)),
    ...disputed.map((point) => wrong(`said otherwise with the same version: ${pointName(point)}`)),
  ]
}

/** C1: a key of an index is text, or a number where it was said so, or absent: DynamoDB refuses anything else, for ever. */
export const checkIndexed = ({ indexes }: TableSpec, { items }: Expected): readonly Violation[] => {
  const violations: Violation[] = []
  for (const item of items.values()) {
    for (const { name, pk, sk, number = false } of indexes) {
      for (const [key, type] of [[pk, 'string'], [sk, number ? 'number' : 'string']] as const) {
        if (item[key] !== undefined && typeof item[key] !== type) violations.push({ checker: 'C1', detail: `${canonical(item)} cannot be in ${name}` })
      }
    }
  }
  return violations
}

/** C2: what was acknowledged is in the log where the answer said, once; what was not answered is there at most once each try. */
export const checkAppends = (topic: Topic, codec: Codec, history: History): readonly Violation[] => {
  const places = new Map<string, string[]>()
  for (const record of topic.partitions.flat()) {
    const id = idOf(codec, record.value)
    if (id !== undefined && !topic.copies.has(positionName(record))) places.set(id, [...(places.get(id) ?? []), positionName(record)])
  }
  const violations: Violation[] = []
  for (const [id, { acked, unknown }] of history) {
    const found = places.get(id) ?? []
    const lost = acked.filter((position) => !found.includes(position))
    if (lost.length > 0) violations.push({ checker: 'C2', detail: `${id} was acknowledged at ${lost.join(', ')} and is not there` })
    if (found.length > acked.length + unknown) violations.push({ checker: 'C2', detail: `${id} is in the log ${found.length} times, sent ${acked.length + unknown} times` })
  }
  return violations
}

const idOf = (codec: Codec, value: Uint8Array): string | undefined => {
  try {
    return codec.decode(value).meta.eventId
  } catch {
    return undefined
  }
}

/** C3: every record of a partition was applied, skipped or parked, and what is parked is said so. */
export const checkPassed = (topic: Topic, table: Table, expected: Expected): readonly Violation[] => {
  const violations: Violation[] = []
  for (const [partition, records] of topic.partitions.entries()) {
    const told = records.filter((record) => expected.outcomes.has(positionName(record))).length
    const passed = table.checkpoints.get(partition) ?? 0
    if (told !== records.length || passed !== records.length) {
      violations.push({ checker: 'C3', detail: `partition ${partition} holds ${records.length}, passed ${passed}` })
    }
  }
  const parked = [...table.items.values()].filter(({ PK }) => PK.startsWith('PARKED#'))
  for (const { SK, offset } of parked) {
    if (expected.parked.get(SK) !== offset) violations.push({ checker: 'C3', detail: `${SK} is parked at ${String(offset)}, not at ${String(expected.parked.get(SK))}` })
  }
  for (const name of expected.parked.keys()) {
    if (!parked.some(({ SK }) => SK === name)) violations.push({ checker: 'C3', detail: `${name} should be parked and is not` })
  }
  return violations
}

/** What a sender heard is what became of its event, whoever of several nodes told it. A parked event may have been healed since. */
export const checkOutcomes = (heard: readonly Passed[], expected: Expected): readonly Violation[] => {
  const violations: Violation[] = []
  for (const { partition, exceptions } of heard) {
    for (const [offset, outcome] of exceptions) {
      const became = expected.outcomes.get(positionName({ partition, offset }))
      if (outcome === undefined || outcome.kind === 'parked' || outcome.kind === became) continue
      violations.push({ checker: 'outcomes', detail: `${partition}:${offset} was told ${outcome.kind} and became ${String(became)}` })
    }
  }
  return violations
}
