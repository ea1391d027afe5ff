import type { Reader } from '../table.ts'
import { MACROS, type TargetsAsOfItem } from './items.ts'
import { dayIn, dayTargets } from './keys.ts'

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

const goalsOf = (targets: Omit<TargetsAsOfItem, 'PK' | 'SK'>): Goals => {
  const macros = MACROS.filter((macro) => (targets[macro] ?? 0) > 0).map((macro) => [macro, targets[macro]])
  const registry = Object.entries(targets.nutrientRegistry).filter(([, { goal }]) => (goal ?? 0) > 0).map(([name, { goal }]) => [name, goal])
  return { ...Object.fromEntries(macros), extendedNutrients: Object.fromEntries(registry), version: targets.version }
}

/** For any day of a span: the goals of the targets that held then. */
export type GoalsByDay = (day: string) => Goals | undefined

export const goalsBetween = async (reader: Reader, user: string, span: { from: string; to: string }): Promise<GoalsByDay> => {
  const before = await dayTargets.page(reader, user, { from: '', to: span.from, reverse: true, limit: 1 })
  const within = await dayTargets.every(reader, user, { ...span, limit: 100 })
  const history = [...before.items, ...within]
  return (day) => {
    const held = history.findLast(({ SK }) => dayIn(SK, dayTargets) <= day)
    return held === undefined ? undefined : goalsOf(held)
  }
}
