import { refusing, type Refusals } from '../refusal.ts'

/** The code of every rule that can refuse a scales event, by the kind of the refusal. */
export const scalesRefusals = {
  missing: ['alert-not-found', 'beer-not-found', 'device-not-found', 'location-not-found', 'member-not-found'],
  conflict: ['beer-exists', 'device-taken', 'location-taken', 'owner-stays'],
  invalid: ['beer-invalid', 'calibration-invalid', 'member-invalid'],
  pointers: { 'beer-exists': '/beer_id', 'device-taken': '/device_id' },
} as const satisfies Refusals

export const refuse = refusing(scalesRefusals)
