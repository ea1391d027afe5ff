import { refusing, type Refusals } from '../refusal.ts'

/** The code of every rule that can refuse an event about tokens and usage, by the kind of the refusal. */
export const accessRefusals = {
  missing: ['token-not-found'],
  invalid: ['token-invalid', 'usage-invalid'],
} as const satisfies Refusals

export const refuse = refusing(accessRefusals)
