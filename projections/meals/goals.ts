import type { Item } from '../item.ts'
import { everyItem, type Reader } from '../table.ts'
import { MACROS, type TargetsAsOfItem } from './items.ts'
import { dayIn, TARGETS_AS_OF } from './keys.ts'
import { userPartition } from '../access/keys.ts'

/** What a day is measured against. A target of 0 is disabled, so it is no goal. */
export interface Goals {
  readonly calories?: number
  readonly protein?: number
  readonly carbs?: number
  readonly fat?: number
  readonly extendedNutrients: { readonly [nutrient: string]: number }
  /** Of the targets they came from. */
  readonly version: number
}

export const goalsOf = (targets: Omit<TargetsAsOfItem, 'PK' | 'SK'>): Goals => {
  const macros = MACROS.filter((macro) => (targets[macro] ?? 0) > 0).map((macro) => [macro, targets[macro]])
  const registry = Object.entries(targets.nutrientRegistry).filter(([, { goal }]) => (goal ?? 0) > 0).map(([name, { goal }]) => [name, goal])
  return { ...Object.fromEntries(macros), extendedNutrients: Object.fromEntries(registry), version: targets.version }
}

/** For any day of a span: the goals of the targets that held then. */
export type GoalsByDay = (day: string) => Goals | undefined

export const goalsBetween = async (reader: Reader, user: string, span: { from: string; to: string }): Promise<GoalsByDay> => {
  const pk = userPartition(user)
  const before = await reader.query({ pk, from: TARGETS_AS_OF, to: TARGETS_AS_OF + span.from, reverse: true, limit: 1 })
  const within = await everyItem(reader, { pk, from: TARGETS_AS_OF + span.from, to: TARGETS_AS_OF + span.to, limit: 100 })
  const history: readonly Item[] = [...before.items, ...within]
  return (day) => {
    const held = history.findLast(({ SK }) => dayIn(SK, TARGETS_AS_OF) <= day)
    return held === undefined ? undefined : goalsOf(held as TargetsAsOfItem)
  }
}
