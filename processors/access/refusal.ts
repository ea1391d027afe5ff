import type { Result } from '../../projections/projection.ts'

/** Every rule that can refuse what is said about tokens and usage. */
export type RefusalCode = 'token-not-found' | 'token-invalid' | 'usage-invalid'

export const refuse = (code: RefusalCode, detail: string): Result => ({ refusal: { code, detail } })
