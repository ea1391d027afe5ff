import { ALERT_TYPES, ID, isAlertEntity, isId, isTap } from '../../projections/scales/keys.ts'
import { isZone } from '../../projections/zone.ts'
import { COMMON_INTERNAL, within, words, type AppendRules, type FieldRule } from '../append-rules.ts'
import { BOOT, FIRMWARE, LIMITS, TARE_STATUS } from './limits.ts'
import { kegTypePattern } from './params.ts'

const id: FieldRule = { is: isId, what: 'an id of 1 to 64 letters, digits, and _ . : -' }
const count: FieldRule = { from: 0, to: Number.MAX_SAFE_INTEGER }
const [percent, weight, measured, gravity, calibration] = [
  within(LIMITS.percent),
  within(LIMITS.kegLbs),
  within(LIMITS.lbs),
  within(LIMITS.gravity),
  within(LIMITS.calibration),
]

export const scalesAppendRules: AppendRules = {
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
    device_id: id,
    beer_id: id,
    loc_id: id,
    user_id: id,
    keg_id: id,
    new_keg_id: id,
    tap: { is: isTap, what: 'a tap of two digits, such as 07' },
    type: { is: (text) => ALERT_TYPES.some((each) => each === text), what: `one of ${ALERT_TYPES.join(', ')}` },
    entity: { is: isAlertEntity, what: 'TAP#nn or DEVICE#id' },
    name: words(LIMITS.beerName),
    style: words(LIMITS.beerStyle),
    reason: words(LIMITS.voidReason),
    fw: { like: FIRMWARE },
    boot: { like: BOOT },
    tare_status: { like: TARE_STATUS },
    keg_type: { like: new RegExp(kegTypePattern) },
    timezone: { is: isZone, what: 'an IANA time zone' },
    specific_gravity: gravity,
    sg: gravity,
    gallons: within(LIMITS.kegGallons),
    full_lbs: weight,
    empty_lbs: weight,
    value_lbs: measured,
    weight_lbs: measured,
    tare_empty_offset: measured,
    tare_full_lbs: measured,
    factor: calibration,
    offset: calibration,
    low_keg_pct: percent,
    low_battery_pct: percent,
    battery_pct: percent,
    battery_v: within(LIMITS.volts),
    level_pct: within(LIMITS.level),
    grace_period_secs: within(LIMITS.gracePeriodSecs),
    silent_after_secs: within(LIMITS.silentAfterSecs),
    pour_window_hours: within(LIMITS.pourWindowHours),
    pour_min_gallons: within(LIMITS.pourMinGallons),
    pour_settle_secs: within(LIMITS.pourSettleSecs),
    epoch: count,
    seq: count,
    dropped: count,
    age_ms: count,
  },
}
