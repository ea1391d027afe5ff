import type { Reader } from '../table.ts'
import { MACROS, type TargetsAsOfItem } from './items.ts'
import { dayIn, dayTargets } from './keys.ts'

/** The goals of a day. A target of 0 is disabled, so it is not a goal. */
export interface Goals {
  readonly calories?: number
  readonly protein?: number
  readonly carbs?: number
  readonly fat?: number
  readonly extendedNutrients: { readonly [nutrient: string]: number }
  /** The version of the targets. */
  readonly version: number
}

const goalsOf = (targets: Omit<TargetsAsOfItem, 'PK' | 'SK'>): Goals => {
  const macros = MACROS.filter((macro) => (targets[macro] ?? 0) > 0).map((macro) => [macro, targets[macro]])
  const registry = Object.entries(targets.nutrientRegistry)
    .filter(([, { goal }]) => (goal ?? 0) > 0)
    .map(([name, { goal }]) => [name, goal])
  return { ...Object.fromEntries(macros), extendedNutrients: Object.fromEntries(registry), version: targets.version }
}

/** Returns the goals that applied on a day of the span. Undefined if there were no targets yet. */
export type GoalsByDay = (day: string) => Goals | undefined

export const goalsBetween = async (
  reader: Reader,
  user: string,
  span: { from: string; to: string },
): Promise<GoalsByDay> => {
  const before = await dayTargets.page(reader, user, { from: '', to: span.from, reverse: true, limit: 1 })
  const within = await dayTargets.every(reader, user, { ...span, limit: 100 })
  const history = [...before.items, ...within]
  return (day) => {
    const targets = history.findLast(({ SK }) => dayIn(SK, dayTargets) <= day)
    return targets === undefined ? undefined : goalsOf(targets)
  }
}
