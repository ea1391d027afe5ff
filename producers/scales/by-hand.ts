import { ALERT_TYPES, ID, isAlertEntity, isId, isTap } from '../../projections/scales/keys.ts'
import { isZone } from '../../projections/zone.ts'
import { COMMON_INTERNAL, words, type ByHand, type FieldRule } from '../by-hand.ts'
import { kegTypePattern } from './params.ts'

const id: FieldRule = { is: isId, what: 'an id of 1 to 64 letters, digits, and _ . : -' }
const count: FieldRule = { from: 0, to: Number.MAX_SAFE_INTEGER }
const percent: FieldRule = { from: 0, to: 100 }
const weight: FieldRule = { from: 0, to: 1_000 }
const measured: FieldRule = { from: -5, to: 400 }
const gravity: FieldRule = { from: 0.5, to: 2 }
const calibration: FieldRule = { from: -1e9, to: 1e9 }

export const scalesByHand: ByHand = {
  internal: {
    ...COMMON_INTERNAL,
    GraceElapsed: 'A timer appends it.',
    SilenceDue: 'A timer appends it.',
    BeerKegWeightMeasured: 'Append TareRecorded: it causes this event.',
    DeviceClaimReleased: 'Append DeviceReleased: it causes this event.',
    DeviceRegistered: 'Append DeviceClaimed: it causes this event.',
    ReadingQuarantined: 'The edge appends it for a reading that it does not accept.',
  },
  past: ['at', 'device_ts', 'tapped_at', 'from'],
  key: ID,
  fields: {
    device_id: id, beer_id: id, loc_id: id, user_id: id, keg_id: id, new_keg_id: id,
    tap: { is: isTap, what: 'a tap of two digits, such as 07' },
    type: { is: (text) => ALERT_TYPES.some((each) => each === text), what: `one of ${ALERT_TYPES.join(', ')}` },
    entity: { is: isAlertEntity, what: 'TAP#nn or DEVICE#id' },
    name: words(200), style: words(100), reason: words(500), fw: { like: /^[ -~]{1,64}$/ },
    boot: { like: /^[ -~]{1,64}$/ }, tare_status: { like: /^[a-z][a-z_-]{0,31}$/ },
    keg_type: { like: new RegExp(kegTypePattern) },
    timezone: { is: isZone, what: 'an IANA time zone' },
    specific_gravity: gravity, sg: gravity, gallons: { from: 0.01, to: 200 },
    full_lbs: weight, empty_lbs: weight, value_lbs: measured, weight_lbs: measured, tare_empty_offset: measured, tare_full_lbs: measured,
    factor: calibration, offset: calibration,
    low_keg_pct: percent, low_battery_pct: percent, battery_pct: percent, battery_v: { from: 0, to: 20 }, level_pct: { from: -20, to: 130 },
    grace_period_secs: { from: 0, to: 604_800 }, silent_after_secs: { from: 60, to: 604_800 },
    pour_window_hours: { from: 1, to: 720 }, pour_min_gallons: { from: 0.001, to: 10 }, pour_settle_secs: { from: 1, to: 3_600 },
    epoch: count, seq: count, dropped: count, age_ms: count,
  },
}
