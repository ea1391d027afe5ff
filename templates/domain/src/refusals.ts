import type { Refusals } from 'tributary/domain'

/** The refusal codes of this domain, by kind. The kind decides the HTTP status. */
export const refusals = { missing: ['entry-not-found'], invalid: ['entry-invalid'] } as const satisfies Refusals
