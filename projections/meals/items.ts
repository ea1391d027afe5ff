import type { Key } from '../item.ts'
import { KEY, type PersonalByKind, type PersonalOf } from '../personal.ts'
import { goneMeals, meals } from './keys.ts'

/** Amounts by nutrient, in decimal units. A name can be any text, so read it with `Object.hasOwn`. */
export type Amounts = { readonly [nutrient: string]: number }

/** The four nutrients of every meal. The registry defines the others. */
export const MACROS = ['calories', 'protein', 'carbs', 'fat'] as const

export type MacroAmounts = {
  readonly calories: number
  readonly protein: number
  readonly carbs: number
  readonly fat: number
}

export type MealItem = Key &
  MacroAmounts & {
    readonly mealId: string
    /** Null if the person was forgotten. */
    readonly mealSummary: string | null
    readonly emoji?: string
    readonly notes?: string
    readonly extendedNutrients: Amounts
    /** Nutrients that the registry did not define. They can be derived again later. */
    readonly droppedNutrients?: Amounts
    readonly userDate: string
    /** The day differs from the one that the instant implies, so a day pointer leads to this item. */
    readonly dayOverridden?: true
    /** Absent if a legacy item had no zone. */
    readonly tz?: string
    readonly utcOffsetMinutes?: number
    readonly createdAt: string
    readonly updatedAt?: string
    readonly revision: number
    readonly formatVersion: 4
    readonly importId?: string
    readonly rowHash?: string
    /** The last events that were applied, so that a repeated one is ignored. */
    readonly _heard?: readonly string[]
  }

/** Remains of a meal that left its first key. It does not expire. */
export type GoneMealItem = Key &
  (
    | { readonly state: 'moved'; readonly to: string }
    /** `meal` is null if the delete was folded before the create. */
    | {
        readonly state: 'deleted'
        readonly deletedAt: string
        readonly meal: MealItem | null
        readonly _heard?: readonly string[]
      }
  )

const mealPersonal = { mealSummary: KEY, emoji: `${KEY}?`, notes: `${KEY}?` } as const satisfies PersonalOf<MealItem>

/** The personal data in the items of a user. */
export const mealsPersonal: PersonalByKind = {
  [meals.prefix]: mealPersonal,
  [goneMeals.prefix]: { meal: mealPersonal } satisfies PersonalOf<Extract<GoneMealItem, { state: 'deleted' }>>,
}

/** Points from a day to a meal whose instant implies another day. `to` is the meal's sort key. */
export type DayPointerItem = Key & { readonly to: string }

export type DaySummaryItem = Key & {
  readonly type: 'DaySummary'
  readonly totalCalories: number
  readonly totalProtein: number
  readonly totalCarbs: number
  readonly totalFat: number
  /** Exact sums. A nutrient whose sum is 0 has no entry. */
  readonly extendedNutrients: Amounts
  readonly mealCount: number
  readonly updatedAt: string
}

type DisplayUnit = 'kcal' | 'kj'
export type NutrientDefinition = { readonly unit?: string; readonly goal?: number }
export type NutrientRegistry = { readonly [nutrient: string]: NutrientDefinition }

/** 0: the target is disabled. Absent: it was never set. */
type Targets = Partial<MacroAmounts> & {
  readonly displayUnit: DisplayUnit
  readonly nutrientRegistry: NutrientRegistry
  readonly version: number
  readonly updatedAt: string
}

export type TargetsItem = Key & Targets & { readonly effectiveFromDate: string; readonly _heard?: readonly string[] }

/** The targets that apply from this day until the next such item. */
export type TargetsAsOfItem = Key & Targets

export type ImportItem = Key & {
  readonly importId: string
  readonly count: number
  readonly source: string
  readonly importedAt: string
}

/** Records that an imported event was applied. It does not expire, because a file can be imported again at any time. */
export type ImportedEventItem = Key

export const FORMAT_VERSION = 4
