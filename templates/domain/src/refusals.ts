import type { Refusals } from 'tributary/domain'

/** Every code with which this domain refuses, by kind. The kind decides the HTTP status. */
export const refusals = { missing: ['entry-not-found'], invalid: ['entry-invalid'] } as const satisfies Refusals
