import { refusing, type Refusals } from '../refusal.ts'

/** The code of every rule that can refuse a meals event, by the kind of the refusal. */
export const mealsRefusals = {
  missing: ['meal-not-found', 'nutrient-not-found'],
  conflict: [
    'meal-key-taken',
    'meal-deleted',
    'meal-not-deleted',
    'revision-conflict',
    'targets-version-conflict',
    'too-many-nutrients',
    'day-total-out-of-range',
  ],
  invalid: [
    'meal-id-invalid',
    'eaten-at-out-of-range',
    'utc-offset-out-of-range',
    'user-date-invalid',
    'nutrient-out-of-range',
    'nutrient-name-invalid',
    'effective-date-out-of-range',
    'import-id-invalid',
  ],
  pointers: {
    'eaten-at-out-of-range': '/eatenAt',
    'utc-offset-out-of-range': '/tz',
    'user-date-invalid': '/userDate',
    'revision-conflict': '/revision',
    'targets-version-conflict': '/version',
    'effective-date-out-of-range': '/effectiveFromDate',
  },
} as const satisfies Refusals

export const refuse = refusing(mealsRefusals)
