import { canonical, keyOf, sameItem, type Stored } from '../projections/item.ts'
import type { Versioned } from '../processors/engine/ports/series.ts'
import type { BatchResult } from '../processors/engine/run/tally.ts'
import type { TableSpec } from '../projections/table.ts'
import type { Codec } from '../schemas/codec.ts'
import { positionName, type Topic } from './log-model.ts'
import type { Expected } from './reference.ts'
import { pointName, type SeriesTable } from './series-model.ts'
import type { Table } from './store-model.ts'

/** A broken rule: the checker that found it, and a detail for the person who debugs it. docs/reliability.md describes the checkers. */
export interface Violation {
  readonly checker:
    | 'C1'
    | 'C2'
    | 'C3'
    | 'C4'
    | 'C7'
    | 'C8'
    | 'outcomes'
    | 'derived'
    | 'timers'
    | 'asks'
    | 'tokens'
    | 'secrets'
    | 'points'
    | 'domain'
  readonly detail: string
}

/** For each sent event, by id: the acknowledged positions, and the number of attempts with an unknown outcome. */
export type History = Map<string, { readonly acked: string[]; unknown: number }>

/** True for outbox rows, ledger rows, parked rows and tombstones. They depend on timing, so the fold of the log does not determine them. */
const isTransient = (item: Stored) =>
  item.PK.startsWith('OUTBOX#') ||
  item.PK.startsWith('DERIVED#') ||
  item.PK.startsWith('PARKED#') ||
  item['_removed'] === true

/** Checker C1. Checks that the items equal the fold of the log: no item is missing, different or unexpected. */
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

/** Checks that the points equal the fold of the log: each has its newest values, and no point is missing or unexpected. */
export const checkPoints = (
  { points, disputed }: Pick<SeriesTable, 'points' | 'disputed'>,
  expected: Expected,
): readonly Violation[] => {
  const wrong = (detail: string): Violation => ({ checker: 'points', detail })
  const describe = (point: Versioned | undefined) =>
    point === undefined ? 'missing' : JSON.stringify([point.version, Object.entries(point.values).sort()])
  return [
    ...[...points.keys()].filter((name) => !expected.points.has(name)).map((name) => wrong(`extra point ${name}`)),
    ...[...expected.points]
      .filter(([name, wanted]) => describe(points.get(name)) !== describe(wanted))
      .map(([name, wanted]) => wrong(`${name} is ${describe(points.get(name))}, not ${describe(wanted)}`)),
    ...disputed.map((point) => wrong(`written again with the same version and other values: ${pointName(point)}`)),
  ]
}

/** Checker C1. Checks that each index key is absent or has the declared type, because DynamoDB rejects an item with another type at every retry. */
export const checkIndexed = ({ indexes }: TableSpec, { items }: Expected): readonly Violation[] => {
  const violations: Violation[] = []
  for (const item of items.values()) {
    for (const { name, pk, sk, number = false } of indexes) {
      for (const [key, type] of [
        [pk, 'string'],
        [sk, number ? 'number' : 'string'],
      ] as const) {
        if (item[key] !== undefined && typeof item[key] !== type)
          violations.push({ checker: 'C1', detail: `${canonical(item)} has a key that the index ${name} cannot store` })
      }
    }
  }
  return violations
}

/**
 * Checker C2. Checks that the log contains each acknowledged event at its acknowledged position. Also checks that an event has at most one record
 * per attempt that was acknowledged or whose outcome is unknown.
 */
export const checkAppends = (topic: Topic, codec: Codec, history: History): readonly Violation[] => {
  const positions = new Map<string, string[]>()
  for (const record of topic.partitions.flat()) {
    const id = idOf(codec, record.value)
    if (id !== undefined && !topic.copies.has(positionName(record)))
      positions.set(id, [...(positions.get(id) ?? []), positionName(record)])
  }
  const violations: Violation[] = []
  for (const [id, { acked, unknown }] of history) {
    const found = positions.get(id) ?? []
    const lost = acked.filter((position) => !found.includes(position))
    if (lost.length > 0)
      violations.push({ checker: 'C2', detail: `${id} was acknowledged at ${lost.join(', ')} and is not there` })
    if (found.length > acked.length + unknown)
      violations.push({
        checker: 'C2',
        detail: `${id} is in the log ${found.length} times, sent ${acked.length + unknown} times`,
      })
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

/** Checker C3. Checks that every record of a partition has an outcome and is before the checkpoint, and that the expected keys are parked. */
export const checkCheckpoints = (topic: Topic, table: Table, expected: Expected): readonly Violation[] => {
  const violations: Violation[] = []
  for (const [partition, records] of topic.partitions.entries()) {
    const settled = records.filter((record) => expected.outcomes.has(positionName(record))).length
    const checkpoint = table.checkpoints.get(partition) ?? 0
    if (settled !== records.length || checkpoint !== records.length) {
      violations.push({
        checker: 'C3',
        detail: `partition ${partition} has ${records.length} records, and its checkpoint is ${checkpoint}`,
      })
    }
  }
  const parked = [...table.items.values()].filter(({ PK }) => PK.startsWith('PARKED#'))
  for (const { SK, offset } of parked) {
    if (expected.parked.get(SK) !== offset)
      violations.push({
        checker: 'C3',
        detail: `${SK} is parked at ${String(offset)}, not at ${String(expected.parked.get(SK))}`,
      })
  }
  for (const name of expected.parked.keys()) {
    if (!parked.some(({ SK }) => SK === name))
      violations.push({ checker: 'C3', detail: `${name} is not parked, and must be` })
  }
  return violations
}

/**
 * Checks that every outcome other than `applied` that a node reported equals the expected outcome. The outcome `parked` is not compared, because
 * the key can have been healed since.
 */
export const checkOutcomes = (reported: readonly BatchResult[], expected: Expected): readonly Violation[] => {
  const violations: Violation[] = []
  for (const { partition, exceptions } of reported) {
    for (const [offset, outcome] of exceptions) {
      const expectedKind = expected.outcomes.get(positionName({ partition, offset }))
      if (outcome === undefined || outcome.kind === 'parked' || outcome.kind === expectedKind) continue
      violations.push({
        checker: 'outcomes',
        detail: `${partition}:${offset} was reported as ${outcome.kind}, and is ${String(expectedKind)}`,
      })
    }
  }
  return violations
}
