import type { Get, Result } from '../../projections/projection.ts'
import type { NutrientAmount } from '../../schemas/generated/meals.ts'
import type { Amounts, MacroAmounts, NutrientRegistry } from '../../projections/meals/items.ts'
import { targets } from '../../projections/meals/keys.ts'
import { fromMilli, isAmount, isNutrientName, MAX_EXTENDED } from '../../projections/meals/nutrients.ts'
import { refuse } from '../../projections/meals/refusals.ts'

interface Extended {
  readonly extended: readonly NutrientAmount[]
  readonly dropped: readonly NutrientAmount[]
  /** The version of the registry with which the edge filtered `extended`. Null: the edge did not filter it, so the fold does. */
  readonly registryVersion: number | null
}

export interface Admitted {
  readonly extendedNutrients: Amounts
  readonly droppedNutrients: Amounts
}

export const NO_AMOUNTS: Amounts = Object.freeze({})

/**
 * Refuses invalid amounts, invalid names and lists that are too long. Returns undefined if everything is valid. The edge
 * checks the same with a more precise message, but events can also come from imports and devices.
 */
export const wrongAmounts = (
  macros: MacroAmounts,
  extended: readonly NutrientAmount[],
  dropped: readonly NutrientAmount[],
): Result | undefined => {
  const { calories, protein, carbs, fat } = macros
  if (!isAmount(calories) || !isAmount(protein) || !isAmount(carbs) || !isAmount(fat)) {
    return refuse('nutrient-out-of-range', 'Calories, protein, carbs and fat are from 0 to 10,000,000.')
  }
  return wrongList(extended) ?? wrongList(dropped)
}

const wrongList = (list: readonly NutrientAmount[]): Result | undefined => {
  if (list.length > MAX_EXTENDED)
    return refuse('too-many-nutrients', `A meal has at most ${MAX_EXTENDED} nutrients besides the main four.`)
  for (const { name, amount } of list) {
    if (!isNutrientName(name)) return refuse('nutrient-name-invalid', 'A nutrient has a name of 1 to 64 characters.')
    if (!isAmount(amount)) return refuse('nutrient-out-of-range', `The amount of ${name} is from 0 to 10,000,000.`)
  }
  return undefined
}

/**
 * Decides which nutrients are added to the sums of the day, and which are only stored with the meal (dropped). If
 * `registryVersion` is set, the edge has filtered the lists already, and both stay as they are. Otherwise drops the
 * nutrients that the current registry does not define.
 */
export const admit = (user: string, { extended, dropped, registryVersion }: Extended, get: Get): Admitted => {
  const already = amounts(dropped)
  if (extended.length === 0) return { extendedNutrients: NO_AMOUNTS, droppedNutrients: already }
  if (registryVersion !== null) return { extendedNutrients: amounts(extended), droppedNutrients: already }
  const registry: NutrientRegistry = get(targets.key(user))?.nutrientRegistry ?? {}
  const known = extended.filter(({ name }) => Object.hasOwn(registry, name))
  const unknown = extended.filter(({ name }) => !Object.hasOwn(registry, name))
  return { extendedNutrients: amounts(known), droppedNutrients: amounts([...dropped, ...unknown]) }
}

export const amounts = (list: readonly NutrientAmount[]): Amounts => {
  if (list.length === 0) return NO_AMOUNTS
  const map: { [name: string]: number } = {}
  for (const { name, amount } of list) map[name] = fromMilli(amount)
  return map
}
