import { refusing, type Refusals } from '../refusal.ts'

/** The code of every rule that can refuse an event of activities, by the kind of the refusal. */
export const activitiesRefusals = {
  missing: ['milestone-not-found', 'model-not-found'],
  conflict: [
    'account-deleted',
    'activities-erased',
    'already-connected',
    'athlete-owned',
    'model-exists',
    'not-connected',
    'too-many-active-milestones',
    'too-many-milestones',
  ],
  invalid: ['milestone-invalid', 'model-invalid', 'wrong-log-key', 'reference-invalid'],
} as const satisfies Refusals

export const refuse = refusing(activitiesRefusals)
