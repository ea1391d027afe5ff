import type { Result } from '../../projections/projection.ts'

/** Every rule that can refuse a scales event. */
export type RefusalCode =
  | 'alert-not-found' | 'beer-exists' | 'beer-invalid' | 'beer-not-found' | 'device-not-found' | 'device-taken' | 'calibration-invalid'
  | 'location-taken' | 'location-not-found' | 'member-invalid' | 'member-not-found' | 'owner-stays'

export const refuse = (code: RefusalCode, detail: string): Result => ({ refusal: { code, detail } })
