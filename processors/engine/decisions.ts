import { isExpired, isTrace, keyOf, type Item, type Stored } from '../../projections/item.ts'
import type { TableSpec } from '../../projections/table.ts'
import type { Clock } from './clock.ts'
import { isOutcome, isParking, positionOf } from './keys.ts'
import type { Position } from './log.ts'
import type { Positions } from './positions.ts'

/** An event whose sender would have heard something else, or whose key would stand still. */
export interface DecisionChange extends Position {
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

/** Items that say what was decided, rather than what is. */
export const isDecision = (item: Item): boolean => isOutcome(item) || isParking(item)

/**
 * Markers tell what was refused, by position; an event without one was applied. A build makes them all anew, while those of the serving
 * generation are collected a day after their event where the store does that: what it decided of older events is then not known,
 * unless its marker is still there. Only events that both had folded before their markers were read are compared.
 */
export const createDecisions = ({ table, collects, clock }: DecisionParts, reached: readonly Positions[]) => {
  const sides = { before: new Map<string, Decided>(), after: new Map<string, Decided>() }
  const isPassed = ({ partition, offset }: Decided) => reached.every((positions) => offset < (positions.get(partition) ?? 0))
  return {
    add: (side: keyof typeof sides, item: Stored): void => {
      if (isTrace(item)) return
      const decided = isOutcome(item) ? markerOf(item) : parkedOf(item)
      if (isPassed(decided)) sides[side].set(isOutcome(item) ? item.PK : `${keyOf(item)}@${decided.offset}`, decided)
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

interface Decided extends Position {
  readonly outcome: string
  readonly item: Stored
}

const markerOf = (item: Stored): Decided => ({ ...positionOf(item), item, outcome: item['kind'] === 'refused' ? `refused ${String(item['code'])}` : String(item['kind']) })

const parkedOf = (item: Stored): Decided => ({
  partition: item['partition'] as number,
  offset: item['offset'] as number,
  item,
  outcome: `parked ${String(item['code'])}`,
})
