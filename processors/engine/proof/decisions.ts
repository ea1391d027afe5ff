import { isExpired, isTombstone, keyOf, type Item, type Key, type Stored } from '../../../projections/item.ts'
import type { TableSpec } from '../../../projections/table.ts'
import type { Clock } from '../ports/clock.ts'
import { isOutcome, OUTCOME } from '../fold/keys.ts'
import type { Position } from '../ports/log.ts'
import type { Positions } from '../generations/positions.ts'
import { isParkedEntry } from '../poison/keys.ts'

/** An event that two generations decide differently, or whose key only one of them parks. */
export interface DecisionChange extends Position {
  /** The decision: `applied`, `refused <code>`, `duplicate` or `parked <code>`. */
  readonly before: string
  readonly after: string
}

export interface DecisionParts {
  readonly table: TableSpec
  /** True if the store of the serving generation removes expired rows. */
  readonly removesExpired: boolean
  readonly clock: Clock
}

/** True for rows that record a decision: outcome rows and parked entries. */
export const isDecision = (item: Item): boolean => isOutcome(item) || isParkedEntry(item)

/**
 * Compares the decisions of two generations. An event without an outcome row was applied. A build writes the rows of all events, but the
 * store of the serving generation can have removed the rows of events that are older than a day: then the decision about such an event is
 * unknown. Compares only events that both generations had folded before their rows were read.
 */
export const createDecisions = ({ table, removesExpired, clock }: DecisionParts, positions: readonly Positions[]) => {
  const sides = { before: new Map<string, Decided>(), after: new Map<string, Decided>() }
  const isPassed = ({ partition, offset }: Decided) => positions.every((each) => offset < (each.get(partition) ?? 0))
  return {
    add: (side: keyof typeof sides, item: Stored): void => {
      if (isTombstone(item)) return
      const decided = isOutcome(item) ? decidedIn(item) : parkedIn(item)
      if (isPassed(decided)) sides[side].set(isOutcome(item) ? item.PK : `${keyOf(item)}@${decided.offset}`, decided)
    },
    compared: (): { readonly changes: readonly DecisionChange[]; readonly unknown: number } => {
      const changes: DecisionChange[] = []
      let unknown = 0
      for (const [id, decided] of new Map([...sides.before, ...sides.after])) {
        const [before, after] = [sides.before.get(id), sides.after.get(id)]
        if (before?.outcome === after?.outcome) continue
        if (before === undefined && removesExpired && isExpired(decided.item, table.ttl, clock.now())) unknown += 1
        else
          changes.push({
            partition: decided.partition,
            offset: decided.offset,
            before: before?.outcome ?? 'applied',
            after: after?.outcome ?? 'applied',
          })
      }
      return { changes: changes.sort((a, b) => a.partition - b.partition || a.offset - b.offset), unknown }
    },
  }
}

interface Decided extends Position {
  readonly outcome: string
  readonly item: Stored
}

/** The position of the event, from the key of its outcome row. */
const positionOf = ({ PK }: Key): Position => {
  const [partition, offset] = PK.slice(OUTCOME.length).split('#').map(Number) as [number, number]
  return { partition, offset }
}

const decidedIn = (item: Stored): Decided => ({
  ...positionOf(item),
  item,
  outcome: item['kind'] === 'refused' ? `refused ${String(item['code'])}` : String(item['kind']),
})

const parkedIn = (item: Stored): Decided => ({
  partition: item['partition'] as number,
  offset: item['offset'] as number,
  item,
  outcome: `parked ${String(item['code'])}`,
})
