import { refusing, type Refusals } from '../refusal.ts'

/** Every rule that can refuse an event about tokens and usage. */
export const accessRefusals = {
  missing: ['token-not-found'],
  invalid: ['token-invalid', 'usage-invalid'],
} as const satisfies Refusals

export const refuse = refusing(accessRefusals)
