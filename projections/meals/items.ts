import type { Key } from '../item.ts'
import { KEY, type PersonalByKind, type PersonalOf } from '../personal.ts'
import { goneMeals, meals } from './keys.ts'

/** Amounts by nutrient, as decimal numbers. A nutrient can have any name, so check it with `Object.hasOwn` before you read its amount. */
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
    /** Nutrients that the registry did not define. No sum contains them. They are stored, so that they can be used later. */
    readonly droppedNutrients?: Amounts
    readonly userDate: string
    /** Set if the meal's day is not the day that its instant implies. Then a day pointer leads from the day to this item. */
    readonly dayOverridden?: true
    /** The IANA time zone. Absent if the meal comes from an older table that has no zones. */
    readonly tz?: string
    readonly utcOffsetMinutes?: number
    readonly createdAt: string
    readonly updatedAt?: string
    readonly revision: number
    readonly formatVersion: 4
    readonly importId?: string
    readonly rowHash?: string
    /** Short forms of the ids of the last applied events, so that a repeated event is ignored. */
    readonly _heard?: readonly string[]
  }

/** Is stored for a meal that was moved away from its first key, or that was deleted. This item does not expire. */
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

/** For each kind of item, the attributes that contain personal data. */
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

/** A target of 0 is disabled. A target that was never set is absent. */
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
