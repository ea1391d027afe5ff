import { isExpired, isTrace, keyOf, type Item, type Stored } from '../../projections/item.ts'
import type { TableSpec } from '../../projections/table.ts'
import type { Clock } from './clock.ts'

/** An event whose sender would have heard something else, or whose key would stand still. */
export interface DecisionChange {
  readonly partition: number
  readonly offset: number
  /** `applied`, or `refused <code>`, `duplicate`, `parked <code>`. */
  readonly before: string
  readonly after: string
}

export interface DecisionParts {
  readonly table: TableSpec
  /** Whether the store of the serving generation removes for good what has expired. */
  readonly collects: boolean
  readonly clock: Clock
}

const OUTCOME = 'OUTCOME#'
const PARKED = 'PARKED#'

/** Items that say what was decided, rather than what is. */
export const isDecision = ({ PK }: Item): boolean => PK.startsWith(OUTCOME) || PK.startsWith(PARKED)

type Reached = ReadonlyMap<number, number>

/**
 * Markers tell what was refused, by position; an event without one was applied. A build makes them all anew, while those of the serving
 * generation are collected a day after their event where the store does that: what it decided of older events is then not known,
 * unless its marker is still there. Only events that both had folded before their markers were read are compared.
 */
export const createDecisions = ({ table, collects, clock }: DecisionParts, reached: readonly Reached[]) => {
  const sides = { before: new Map<string, Decided>(), after: new Map<string, Decided>() }
  const isPassed = ({ partition, offset }: Decided) => reached.every((positions) => offset < (positions.get(partition) ?? 0))
  return {
    add: (side: keyof typeof sides, item: Stored): void => {
      if (isTrace(item)) return
      const decided = item.PK.startsWith(OUTCOME) ? markerOf(item) : parkedOf(item)
      if (isPassed(decided)) sides[side].set(item.PK.startsWith(OUTCOME) ? item.PK : `${keyOf(item)}@${decided.offset}`, decided)
    },
    compared: (): { readonly changes: readonly DecisionChange[]; readonly unknown: number } => {
      const changes: DecisionChange[] = []
      let unknown = 0
      for (const [id, decided] of new Map([...sides.before, ...sides.after])) {
        const [before, after] = [sides.before.get(id), sides.after.get(id)]
        if (before?.outcome === after?.outcome) continue
        if (before === undefined && collects && isExpired(decided.item, table.ttl, clock.now())) unknown += 1
        else changes.push({ partition: decided.partition, offset: decided.offset, before: before?.outcome ?? 'applied', after: after?.outcome ?? 'applied' })
      }
      return { changes: changes.sort((a, b) => a.partition - b.partition || a.offset - b.offset), unknown }
    },
  }
}

interface Decided {
  readonly partition: number
  readonly offset: number
  readonly outcome: string
  readonly item: Stored
}

const markerOf = (item: Stored): Decided => {
  const [partition, offset] = item.PK.slice(OUTCOME.length).split('#').map(Number) as [number, number]
  return { partition, offset, item, outcome: item['kind'] === 'refused' ? `refused ${String(item['code'])}` : String(item['kind']) }
}

const parkedOf = (item: Stored): Decided => ({
  partition: item['partition'] as number,
  offset: item['offset'] as number,
  item,
  outcome: `parked ${String(item['code'])}`,
})
