import type { Settings, SettingsItem } from './items.ts'

/** The settings of a location that has not set any setting. */
const DEFAULT_SETTINGS: Settings = {
  grace_period_secs: 300,
  pour_window_hours: 6,
  low_keg_pct: 15,
  low_battery_pct: 20,
  silent_after_secs: 600,
  timezone: 'UTC',
  pour_min_gallons: 0.05,
  pour_settle_secs: 30,
}

export const settingsOf = (item: SettingsItem | undefined): Settings =>
  item === undefined ? DEFAULT_SETTINGS : withDefaults(item)

const withDefaults = (item: SettingsItem): Settings => ({
  grace_period_secs: item.grace_period_secs ?? DEFAULT_SETTINGS.grace_period_secs,
  pour_window_hours: item.pour_window_hours ?? DEFAULT_SETTINGS.pour_window_hours,
  low_keg_pct: item.low_keg_pct ?? DEFAULT_SETTINGS.low_keg_pct,
  low_battery_pct: item.low_battery_pct ?? DEFAULT_SETTINGS.low_battery_pct,
  silent_after_secs: item.silent_after_secs ?? DEFAULT_SETTINGS.silent_after_secs,
  timezone: item.timezone ?? DEFAULT_SETTINGS.timezone,
  pour_min_gallons: item.pour_min_gallons ?? DEFAULT_SETTINGS.pour_min_gallons,
  pour_settle_secs: item.pour_settle_secs ?? DEFAULT_SETTINGS.pour_settle_secs,
})
