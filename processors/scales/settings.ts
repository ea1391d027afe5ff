import type { LocationSettingsChanged } from '../../schemas/generated/scales.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import { bare, type Draft } from '../../projections/item.ts'
import type { Settings, SettingsItem } from '../../projections/scales/items.ts'
import { locationSettings } from '../../projections/scales/keys.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'

/** The lowest and the highest value of each setting, both inclusive. A value outside this range is ignored. */
const RANGES: Readonly<Record<Exclude<keyof Settings, 'timezone'>, readonly [number, number]>> = {
  grace_period_secs: [0, 604_800],
  pour_window_hours: [1, 720],
  low_keg_pct: [0, 100],
  low_battery_pct: [0, 100],
  silent_after_secs: [30, 2_592_000],
  pour_min_gallons: [0.001, 10],
  pour_settle_secs: [1, 3600],
}
const NAMES = Object.keys(RANGES) as (keyof typeof RANGES)[]
const ZONE = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/

/**
 * Changes the settings of a location. A setting that is null stays as it is. The event is never refused, because the series
 * fold it too, and they refuse nothing.
 */
export const locationSettingsChanged = (event: LocationSettingsChanged, get: Get): Result => {
  const { data, meta } = event
  const before = get(locationSettings.key(meta.key))
  if (hasApplied(before?._heard, event)) return NOTHING
  const after: Draft<SettingsItem> = {
    ...(before === undefined ? locationSettings.key(meta.key) : bare(before)),
    _heard: withApplied(before?._heard, event),
  }
  for (const name of NAMES) {
    const value = data[name]
    const [least, most] = RANGES[name]
    if (value !== null && value >= least && value <= most) after[name] = value
  }
  if (data.timezone !== null && ZONE.test(data.timezone)) after.timezone = data.timezone
  return { items: [after] }
}
