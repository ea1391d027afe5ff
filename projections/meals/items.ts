import type { Key } from '../item.ts'
import { KEY, type PersonalByKind, type PersonalOf } from '../personal.ts'
import { goneMeals, meals } from './keys.ts'

/** By name, in decimal units. A name may be any text, so read it by `Object.hasOwn`. */
export type Amounts = { readonly [nutrient: string]: number }

/** The four every meal has; the others are the registry's. */
export const MACROS = ['calories', 'protein', 'carbs', 'fat'] as const

export type MacroAmounts = {
  readonly calories: number
  readonly protein: number
  readonly carbs: number
  readonly fat: number
}

export type MealItem = Key & MacroAmounts & {
  readonly mealId: string
  /** null when its person was forgotten. */
  readonly mealSummary: string | null
  readonly emoji?: string
  readonly notes?: string
  readonly extendedNutrients: Amounts
  /** What the registry did not know, kept for a later re-derivation. */
  readonly droppedNutrients?: Amounts
  readonly userDate: string
  /** The day is another than the instant implies, so a day pointer leads here. */
  readonly dayOverridden?: true
  /** Absent where a legacy item never had a zone. */
  readonly tz?: string
  readonly utcOffsetMinutes?: number
  readonly createdAt: string
  readonly updatedAt?: string
  readonly revision: number
  readonly formatVersion: 4
  readonly importId?: string
  readonly rowHash?: string
  /** The corrections that lie in it, so that one that comes again is known. */
  readonly _heard?: readonly string[]
}

/** What stays, without expiry, of a meal that left its first key. */
export type GoneMealItem = Key & (
  | { readonly state: 'moved'; readonly to: string }
  /** `meal` is null when the delete came before the create. */
  | { readonly state: 'deleted'; readonly deletedAt: string; readonly meal: MealItem | null; readonly _heard?: readonly string[] }
)

const mealPersonal = { mealSummary: KEY, emoji: `${KEY}?`, notes: `${KEY}?` } as const satisfies PersonalOf<MealItem>

/** The words in the items of a user. */
export const mealsPersonal: PersonalByKind = { [meals.prefix]: mealPersonal, [goneMeals.prefix]: { meal: mealPersonal } satisfies PersonalOf<Extract<GoneMealItem, { state: 'deleted' }>> }

/** Leads from a day to a meal that the instant alone would not place there. `to` is its sort key. */
export type DayPointerItem = Key & { readonly to: string }

export type DaySummaryItem = Key & {
  readonly type: 'DaySummary'
  readonly totalCalories: number
  readonly totalProtein: number
  readonly totalCarbs: number
  readonly totalFat: number
  /** Exact sums; a nutrient of which nothing was eaten has no entry. */
  readonly extendedNutrients: Amounts
  readonly mealCount: number
  readonly updatedAt: string
}

type DisplayUnit = 'kcal' | 'kj'
export type NutrientDefinition = { readonly unit?: string; readonly goal?: number }
export type NutrientRegistry = { readonly [nutrient: string]: NutrientDefinition }

/** 0 is a disabled target; an absent one was never set. */
type Targets = Partial<MacroAmounts> & {
  readonly displayUnit: DisplayUnit
  readonly nutrientRegistry: NutrientRegistry
  readonly version: number
  readonly updatedAt: string
}

export type TargetsItem = Key & Targets & { readonly effectiveFromDate: string; readonly _heard?: readonly string[] }

/** The targets that hold from this day on, until the next such item. */
export type TargetsAsOfItem = Key & Targets

export type ImportItem = Key & {
  readonly importId: string
  readonly count: number
  readonly source: string
  readonly importedAt: string
}

/** That an imported event was applied; without expiry, since a file can be imported again at any time. */
export type SeenItem = Key

export const FORMAT_VERSION = 4
