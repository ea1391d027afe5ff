import type { Result } from '../../projections/projection.ts'

/** Every rule that can refuse a meals event. */
export type RefusalCode =
  | 'meal-id-invalid' | 'meal-key-taken' | 'meal-not-found' | 'meal-deleted' | 'meal-not-deleted' | 'revision-conflict'
  | 'eaten-at-out-of-range' | 'utc-offset-out-of-range' | 'user-date-invalid'
  | 'nutrient-out-of-range' | 'nutrient-name-invalid' | 'too-many-nutrients' | 'day-total-out-of-range' | 'nutrient-not-found'
  | 'targets-version-conflict' | 'effective-date-out-of-range'
  | 'import-id-invalid'

export const refuse = (code: RefusalCode, detail: string): Result => ({ refusal: { code, detail } })
