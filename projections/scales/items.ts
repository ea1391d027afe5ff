import type { PatItem } from '../access/items.ts'
import type { Key } from '../item.ts'
import type { AlertType } from './keys.ts'
import type { KegSpan, Place } from './spans.ts'

/** Instants are ISO text with milliseconds; absent numbers are null. */
export type TapItem = Key & {
  readonly loc_id: string
  readonly tap_id: string
  readonly beer_id: string | null
  readonly keg_id: string | null
  readonly keg_type: string | null
  readonly full_lbs: number | null
  readonly empty_lbs: number | null
  readonly sg: number | null
  /** In `device-index`; absent where the tap has none. */
  readonly device_id?: string
  /** The one that stood there last, where none does. */
  readonly _left?: string
}

/** Of one life of a device, what of it was heard: the sequences, as ranges with both ends inside. */
export type Seen = { readonly life: string; readonly ranges: readonly (readonly [number, number])[] }

/** The newest reading, as it was attributed. Written by every reading, so it is kept small: one write unit. */
export type TapStateItem = Key & {
  readonly level_pct: number | null
  readonly gallons: number | null
  readonly weight_lbs: number | null
  /** null until the first reading. */
  readonly updated_at: string | null
  readonly tare_status: string | null
  /** The keg that was on the tap when it was read: another than the tap's until the first reading of a new one. */
  readonly keg_id: string | null
  /** The level was measured on the keg that is on the tap now. The series do not use it, and their states may lack it. */
  readonly level_measured?: boolean
  /** A pour goes on. */
  readonly pouring: boolean
  readonly _device?: string
  /** The level is the weight's: the scale tells none (S43). */
  readonly _weighed?: true
  /** The readings last heard with what they said, and all by their sequences, so that one that comes again is known. */
  readonly _heard?: string
  readonly _seen?: readonly Seen[]
  /** What the pour detector knows. */
  readonly _pour?: { readonly at: number; readonly base?: number; readonly start?: number; readonly low?: number; readonly low_at?: number; readonly high?: number; readonly high_at?: number; readonly highs?: number }
  /** Time of the newest telemetry message with a battery, if no reading is as new. */
  readonly _battery_at?: number
  /** The telemetry messages of that time. */
  readonly _battery_seen?: readonly Seen[]
  /** There is a low-keg alert; a discrepancy. */
  readonly _low?: true
  readonly _off?: true
}

export type TimelineItem = Key & {
  readonly kegs: readonly KegSpan[]
  /** Since when there is such a tap, in epoch milliseconds: 0 from the first, null while it is removed. */
  readonly since: number | null
  readonly _heard?: readonly string[]
}

export type KegItem = Key & {
  readonly loc_id: string
  readonly tap: string
  readonly beer_id: string
  readonly keg_type: string
  readonly tapped_at: string
  readonly finished_at?: string
  /** The keg that it was corrected to be. */
  readonly corrected_to?: string
  readonly full_lbs: number
  readonly empty_lbs: number
  readonly sg: number
  /** Times in which nothing was poured from this keg, whatever was detected. */
  readonly voids?: readonly Void[]
}

/** In epoch milliseconds, both inclusive. */
export type Void = {
  readonly from: number
  readonly to: number
  readonly reason: string | null
}

export type TareItem = Key & {
  readonly loc_id: string
  readonly empty_offset: number | null
  readonly full_ref: number | null
  readonly tared_at: string
  /** `empty` or `full` where only that was measured, else `complete`. */
  readonly tare_status: string
  readonly _empty_at?: string
  readonly _full_at?: string
}

export type PourItem = Key & {
  readonly keg_id: string | null
  readonly tap: string
  readonly start: string
  readonly end: string
  readonly gallons: number
  /** The gravity that the gallons were reckoned by. */
  readonly sg: number
}

/** What was said of the settings; the rest is as by default. */
export type SettingsItem = Key & Partial<Settings> & { readonly _heard?: readonly string[] }

export type Settings = {
  readonly grace_period_secs: number
  readonly pour_window_hours: number
  readonly low_keg_pct: number
  readonly low_battery_pct: number
  readonly silent_after_secs: number
  readonly timezone: string
  readonly pour_min_gallons: number
  readonly pour_settle_secs: number
}

export type ClaimItem = Key & {
  /** null when it was released. */
  readonly loc_id: string | null
  readonly epoch: number
  readonly claimed_at: string
  readonly _heard?: readonly string[]
}

export type DeviceItem = Key & {
  readonly device_id: string
  readonly loc_id: string
  readonly epoch: number
  readonly status: 'registered' | 'online' | 'offline' | 'released'
  readonly tap: string | null
  readonly registered_at: string
  readonly status_at: string
  readonly boot?: string
  readonly fw?: string
  readonly dropped?: number
  /** Under which tap it stood, and when, in epoch milliseconds: what a late reading is attributed by. */
  readonly _places: readonly Place[]
  /** There is an alert of its silence; of its battery. */
  readonly _silent?: true
  readonly _low_battery?: true
  /** When its last silence ended, in epoch milliseconds: the next one begins no earlier, whatever is said late. */
  readonly _back?: number
}

export type TelemetryItem = Key & {
  readonly loc_id: string
  readonly battery_v: number | null
  /** Absent until it was told: a key of an index is never null. */
  readonly battery_pct?: number
  readonly updated_at: string
  readonly tare_empty_offset?: number
  readonly tare_full_lbs?: number
  readonly fw?: string
  readonly dropped?: number
  /** In `location-battery-index`. */
  readonly battery_loc_id?: string
  /** When the copy of each tare was measured, and what was dropped was told, in epoch milliseconds. */
  readonly _empty_at?: number
  readonly _full_at?: number
  readonly _dropped_at?: number
  /** When the battery was measured, in epoch milliseconds. */
  readonly _battery_at?: number
  /** The telemetry messages that were folded, by their sequence numbers. */
  readonly _told?: readonly Seen[]
  readonly _released?: true
}

/** The device's epoch at this location, as the telemetry knows it. */
export type TelemetryPointerItem = Key & { readonly epoch: number; readonly _heard?: readonly string[] }

type AlertState = 'pending' | 'active' | 'acknowledged' | 'resolved'

export type AlertItem = Key & {
  readonly type: AlertType
  readonly entity: string
  readonly state: AlertState
  readonly value: number | null
  readonly threshold: number | null
  readonly started_at: string
  readonly fired_at?: string
  readonly acknowledged_at?: string
  readonly acknowledged_by?: string
  readonly resolved_at?: string
  /** End of the grace in epoch milliseconds. Present while the alert is pending, and after the timer fired it; absent after a value fired it. */
  readonly _fire_at?: number
  /** When the timer of a pending alert is due, in epoch milliseconds. An earlier timer event is from before the timer was armed again. */
  readonly _due_at?: number
}

export type GraceItem = Key & {
  readonly loc_id: string
  readonly started_at: string
  readonly fire_at: string
  readonly ttl: number
}

export type BeerItem = Key & {
  readonly beer_id: string
  readonly loc_id: string | null
  readonly name: string
  readonly style: string | null
  readonly specific_gravity: number
  /** Who may change it in the global library. */
  readonly defined_by: string | null
  readonly _heard?: readonly string[]
}

export type GoneBeerItem = Key & { readonly removed_at: string; readonly _heard: readonly string[] }

export type BeerKegItem = Key & {
  readonly keg_type: string
  readonly gallons: number
  readonly full_lbs: number
  readonly empty_lbs: number
  readonly measured_at?: string
  readonly measured_count?: number
  /** The full weight before any was measured. */
  readonly _reference?: number
  /** What lies in the mean. */
  readonly _measured?: readonly { readonly keg_id: string; readonly full_lbs: number; readonly at: number }[]
  readonly _heard?: readonly string[]
}

export type LibraryItem = Key & { readonly beer_id: string; readonly loc_id: string | null; readonly name: string; readonly style: string | null }

export type OwnerItem = Key & { readonly user_id: string; readonly opened_at: string; readonly _heard?: readonly string[] }

export type MemberItem = Key & { readonly user_id: string; readonly added_at: string; readonly added_by: string | null }

/** Remains of a membership that ended. `removed_at` is the latest removal of that user from the location. */
export type GoneMemberItem = Key & { readonly removed_at: string }

/** A token with the scope `device`. It works only while its claim lasts and its creator is a member of the location. */
export type DeviceTokenItem = PatItem & {
  /** The member who created it; null if the operator did. */
  readonly createdBy: string | null
  /** The location that held the device at that time; null if none did. */
  readonly loc_id: string | null
  /** The epoch of the claim to which the token belongs. */
  readonly claim_epoch: number
}

/** Where a device's items lie. Its id is in the key alone: in an attribute it would be in `device-index` (S-d). */
export type DevicePointerItem = Key & { readonly epoch: number; readonly released_at?: string; readonly _heard?: readonly string[] }

export type CalibrationItem = Key & {
  readonly loc_id: string
  readonly factor: number
  readonly offset: number
  readonly calibrated_at: string
  readonly calibrated_by: string | null
}

/** The device's level and the one its weight gives differ by more than two points. */
export type DiscrepancyItem = Key & {
  readonly since: string
  readonly device_level_pct: number
  readonly weight_level_pct: number
}

export type QuarantinedItem = Key & {
  readonly boot: string | null
  readonly seq: number | null
  readonly at: string
  readonly reason: string
  readonly detail: string
  readonly reading: string
  readonly ttl: number
}

export type QuarantineCountItem = Key & { readonly total: number; readonly reasons: { readonly [reason: string]: number } }
