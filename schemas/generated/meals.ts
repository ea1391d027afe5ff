// Generated from schemas/meals.avdl by `npm run codegen`. Do not edit.
import type { Event } from '../event.ts'

/** The unit in which energy is shown. Amounts are always stored in kilocalories. */
export type DisplayUnit = 'kcal' | 'kj'

/** The texts of a meal before version 4. */
export interface LegacyMealAdoptedPersonal {
  /** The description of the meal, as the user wrote it. */
  readonly mealSummary: string
  readonly emoji: string | null
  readonly notes: string | null
}

/** The changed texts of a meal. Null: unchanged. */
export interface MealCorrectedPersonal {
  readonly mealSummary: string | null
  readonly emoji: string | null
  readonly notes: string | null
  /** Why it was corrected. */
  readonly reason: string | null
}

/** The texts of a meal. */
export interface MealLoggedPersonal {
  /** The description of the meal, as the user wrote it. */
  readonly mealSummary: string
  readonly emoji: string | null
  readonly notes: string | null
}

/** An amount of a nutrient besides the main four. Events contain lists of them and no maps, so that no name becomes a property. */
export interface NutrientAmount {
  /** The name of the nutrient in the registry. */
  readonly name: string
  /** In thousandths of the registry's unit: 1500 is 1.5. */
  readonly amount: number
}

/** A meal of a version before 4, converted once: spelling, integers and missing fields. */
export interface LegacyMealAdoptedData {
  /** The original instant and the uid, <YYYYMMDDTHHMMSSmmmZ>-<uid>: it stays when the meal moves. */
  readonly mealId: string
  /** The sort key of the old item. */
  readonly legacySk: string
  /** The format version of the old item. */
  readonly formatVersion: number
  readonly eatenAt: number
  /** Null if the old item had none. */
  readonly userDate: string | null
  readonly createdAt: number | null
  /** Kilocalories. In thousandths: 1500 is 1.5. */
  readonly calories: number
  /** Grams. In thousandths: 1500 is 1.5. */
  readonly protein: number
  /** Grams. In thousandths: 1500 is 1.5. */
  readonly carbs: number
  /** Grams. In thousandths: 1500 is 1.5. */
  readonly fat: number
  /** Nutrients besides the main four that the registry contained. */
  readonly extended: readonly NutrientAmount[]
  /** The id of the import that appended the event. */
  readonly importId: string | null
  /** Hash of the imported row. */
  readonly rowHash: string | null
}

/** A meal of a version before 4, converted once: spelling, integers and missing fields. */
export type LegacyMealAdopted = Event<'LegacyMealAdopted', LegacyMealAdoptedData, LegacyMealAdoptedPersonal>

/** A meal was corrected. Null: unchanged. */
export interface MealCorrectedData {
  /** The original instant and the uid, <YYYYMMDDTHHMMSSmmmZ>-<uid>: it stays when the meal moves. */
  readonly mealId: string
  /** The fold refuses the event if the meal has another revision. Null: no check. */
  readonly expectedRevision: number | null
  /** A new instant moves the meal; its id stays. */
  readonly eatenAt: number | null
  readonly tz: string | null
  readonly utcOffsetMinutes: number | null
  readonly userDate: string | null
  readonly dayOverridden: boolean | null
  /** The day rule by which userDate was computed. */
  readonly dayRuleVersion: number
  /** Kilocalories. In thousandths: 1500 is 1.5. */
  readonly calories: number | null
  /** Grams. In thousandths: 1500 is 1.5. */
  readonly protein: number | null
  /** Grams. In thousandths: 1500 is 1.5. */
  readonly carbs: number | null
  /** Grams. In thousandths: 1500 is 1.5. */
  readonly fat: number | null
  /** Replaces the whole list. */
  readonly extended: readonly NutrientAmount[] | null
  readonly dropped: readonly NutrientAmount[] | null
  /** Version of the registry snapshot that the edge filtered by; null when the fold filters. */
  readonly registryVersion: number | null
}

/** A meal was corrected. Null: unchanged. */
export type MealCorrected = Event<'MealCorrected', MealCorrectedData, MealCorrectedPersonal>

/** The user moved a meal to another logical day. */
export interface MealDayReassignedData {
  /** The original instant and the uid, <YYYYMMDDTHHMMSSmmmZ>-<uid>: it stays when the meal moves. */
  readonly mealId: string
  /** The new userDate, YYYY-MM-DD. */
  readonly to: string
  readonly dayRuleVersion: number
  /** The fold refuses the event if the meal has another revision. Null: no check. */
  readonly expectedRevision: number | null
}

export type MealDayReassignedPersonal = never

/** The user moved a meal to another logical day. */
export type MealDayReassigned = Event<'MealDayReassigned', MealDayReassignedData, MealDayReassignedPersonal>

/** A meal was deleted. It can be restored. */
export interface MealDeletedData {
  /** The original instant and the uid, <YYYYMMDDTHHMMSSmmmZ>-<uid>: it stays when the meal moves. */
  readonly mealId: string
}

export type MealDeletedPersonal = never

/** A meal was deleted. It can be restored. */
export type MealDeleted = Event<'MealDeleted', MealDeletedData, MealDeletedPersonal>

/** A meal was eaten. */
export interface MealLoggedData {
  /** The original instant and the uid, <YYYYMMDDTHHMMSSmmmZ>-<uid>: it stays when the meal moves. */
  readonly mealId: string
  /** The instant it was eaten. */
  readonly eatenAt: number
  /** IANA time zone in which it was eaten. */
  readonly tz: string
  /** Offset of the wall clock in tz at eatenAt, so that a fold needs no zone tables. */
  readonly utcOffsetMinutes: number
  /** The logical day, YYYY-MM-DD: a label, never an instant. */
  readonly userDate: string
  /** The user chose another day than the rule gives. */
  readonly dayOverridden: boolean
  /** The day rule by which userDate was computed. */
  readonly dayRuleVersion: number
  /** Kilocalories. In thousandths: 1500 is 1.5. */
  readonly calories: number
  /** Grams. In thousandths: 1500 is 1.5. */
  readonly protein: number
  /** Grams. In thousandths: 1500 is 1.5. */
  readonly carbs: number
  /** Grams. In thousandths: 1500 is 1.5. */
  readonly fat: number
  /** Nutrients besides the main four that the registry contained. */
  readonly extended: readonly NutrientAmount[]
  /** Nutrients that the registry of the snapshot did not contain. They are stored for a later re-derivation and do not count. */
  readonly dropped: readonly NutrientAmount[]
  /** Version of the registry snapshot that the edge filtered by; null when the fold filters. */
  readonly registryVersion: number | null
  /** The id of the import that appended the event. */
  readonly importId: string | null
  /** Hash of the imported row. A repeated import of the row has the same hash. */
  readonly rowHash: string | null
}

/** A meal was eaten. */
export type MealLogged = Event<'MealLogged', MealLoggedData, MealLoggedPersonal>

/** A deleted meal was restored under its previous key. */
export interface MealRestoredData {
  /** The original instant and the uid, <YYYYMMDDTHHMMSSmmmZ>-<uid>: it stays when the meal moves. */
  readonly mealId: string
}

export type MealRestoredPersonal = never

/** A deleted meal was restored under its previous key. */
export type MealRestored = Event<'MealRestored', MealRestoredData, MealRestoredPersonal>

/** An import ended. Each meal is its own event and carries the importId. */
export interface MealsImportedData {
  readonly importId: string
  /** Meals the import appended. */
  readonly count: number
  /** Name of the format or the program the rows came from. */
  readonly source: string
}

export type MealsImportedPersonal = never

/** An import ended. Each meal is its own event and carries the importId. */
export type MealsImported = Event<'MealsImported', MealsImportedData, MealsImportedPersonal>

/** A nutrient was defined, redefined or removed. */
export interface NutrientRegistryChangedData {
  readonly name: string
  /** null is unchanged. */
  readonly unit: string | null
  /** Daily goal in thousandths of the unit; null is unchanged, 0 clears it. */
  readonly goal: number | null
  readonly removed: boolean
  /** The fold refuses the event if the registry has another version. Null: no check. */
  readonly expectedVersion: number | null
}

export type NutrientRegistryChangedPersonal = never

/** A nutrient was defined, redefined or removed. */
export type NutrientRegistryChanged = Event<'NutrientRegistryChanged', NutrientRegistryChangedData, NutrientRegistryChangedPersonal>

/** Daily targets were changed: null is unchanged, 0 clears a target. */
export interface TargetsChangedData {
  /** The fold refuses the event if the targets have another version. Null: no check. */
  readonly expectedVersion: number | null
  /** Kilocalories. In thousandths: 1500 is 1.5. */
  readonly calories: number | null
  /** Grams. In thousandths: 1500 is 1.5. */
  readonly protein: number | null
  /** Grams. In thousandths: 1500 is 1.5. */
  readonly carbs: number | null
  /** Grams. In thousandths: 1500 is 1.5. */
  readonly fat: number | null
  readonly displayUnit: DisplayUnit | null
  /** The first logical day to which the targets apply, YYYY-MM-DD. */
  readonly effectiveFromDate: string
}

export type TargetsChangedPersonal = never

/** Daily targets were changed: null is unchanged, 0 clears a target. */
export type TargetsChanged = Event<'TargetsChanged', TargetsChangedData, TargetsChangedPersonal>

/** The events that schemas/meals.avdl declares. */
export type MealsEvent =
  | LegacyMealAdopted
  | MealCorrected
  | MealDayReassigned
  | MealDeleted
  | MealLogged
  | MealRestored
  | MealsImported
  | NutrientRegistryChanged
  | TargetsChanged
