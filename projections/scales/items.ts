import type { PatItem } from '../access/items.ts'
import type { Key } from '../item.ts'
import type { AlertType } from './keys.ts'
import type { KegSpan, TapAssignment } from './spans.ts'

/** In all items of scales, instants are ISO text with milliseconds, and absent numbers are null. */
export type TapItem = Key & {
  readonly loc_id: string
  readonly tap_id: string
  readonly beer_id: string | null
  readonly keg_id: string | null
  readonly keg_type: string | null
  readonly full_lbs: number | null
  readonly empty_lbs: number | null
  readonly sg: number | null
  /** The partition key of the index `device-index`. Absent if the tap has no device. */
  readonly device_id?: string
  /** The previous device. Present only while the tap has no device. */
  readonly _left?: string
}

/** The folded sequence numbers of one boot of a device, as ranges with both ends inclusive. `life`: a hash of the device and the boot. */
export type FoldedSequences = { readonly life: string; readonly ranges: readonly (readonly [number, number])[] }

/** The newest reading of a tap with its keg. Every reading writes this item, so it is kept small enough for one write unit of DynamoDB. */
export type TapStateItem = Key & {
  readonly level_pct: number | null
  readonly gallons: number | null
  readonly weight_lbs: number | null
  /** Null until the first reading. */
  readonly updated_at: string | null
  readonly tare_status: string | null
  /** The keg that was on the tap at the time of the reading. After a swap, it is the old keg until the first reading of the new keg. */
  readonly keg_id: string | null
  /** True if the level was measured on the keg that is on the tap now. Can be absent in the table of the series, which does not use it. */
  readonly level_measured?: boolean
  /** True while a pour is under way. */
  readonly pouring: boolean
  readonly _device?: string
  /** The level is computed from the weight, because the scale sends no level (S43). */
  readonly _weighed?: true
  /** `_heard`: the last readings with a hash of their values. `_seen`: all folded sequence numbers. Both reveal a repeated reading. */
  readonly _heard?: string
  readonly _seen?: readonly FoldedSequences[]
  /** The state of the pour detection. */
  readonly _pour?: {
    readonly at: number
    readonly base?: number
    readonly start?: number
    readonly low?: number
    readonly low_at?: number
    readonly high?: number
    readonly high_at?: number
    readonly highs?: number
  }
  /** The time of the newest telemetry message with a battery, in epoch milliseconds. Absent if a reading is as new. */
  readonly _battery_at?: number
  /** The sequence numbers of the telemetry messages with the time `_battery_at`. */
  readonly _battery_seen?: readonly FoldedSequences[]
  /** `_low`: a low-keg alert is open. `_off`: a discrepancy is open. */
  readonly _low?: true
  readonly _off?: true
}

export type TimelineItem = Key & {
  readonly kegs: readonly KegSpan[]
  /** The time since which the tap exists, in epoch milliseconds. 0: from the first event on. Null: the tap is removed. */
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
  /** The keg by which a correction replaced this keg. */
  readonly corrected_to?: string
  readonly full_lbs: number
  readonly empty_lbs: number
  readonly sg: number
  /** The times for which a person declared that nothing was poured from this keg. Pours that were detected in these times do not count. */
  readonly voids?: readonly Void[]
}

/** A time for which a person declared that nothing was poured. `from` and `to` are in epoch milliseconds, both inclusive. */
export type Void = { readonly from: number; readonly to: number; readonly reason: string | null }

export type TareItem = Key & {
  readonly loc_id: string
  readonly empty_offset: number | null
  readonly full_ref: number | null
  readonly tared_at: string
  /** `empty` or `full` if only this weight was measured, else `complete`. */
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
  /** The specific gravity with which the gallons were computed. */
  readonly sg: number
}

/** The settings that the location has set. The other settings have their defaults. */
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
  /** The location that owns the device. Null if the device was released. */
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
  /** The taps to which the device was assigned, with times in epoch milliseconds. A late reading is attributed by these times. */
  readonly _places: readonly TapAssignment[]
  /** `_silent`: a silence alert is open. `_low_battery`: a battery alert is open. */
  readonly _silent?: true
  readonly _low_battery?: true
  /** The end of the device's last silence, in epoch milliseconds. The next silence begins no earlier, even if events are late. */
  readonly _back?: number
}

export type TelemetryItem = Key & {
  readonly loc_id: string
  readonly battery_v: number | null
  /** Absent until the device sends a percentage. It is never null, because it is a key of an index. */
  readonly battery_pct?: number
  readonly updated_at: string
  readonly tare_empty_offset?: number
  readonly tare_full_lbs?: number
  readonly fw?: string
  readonly dropped?: number
  /** The partition key of the index `location-battery-index`. */
  readonly battery_loc_id?: string
  /** The times, in epoch milliseconds, at which the copies of the tares were measured and the number of lost events was sent. */
  readonly _empty_at?: number
  readonly _full_at?: number
  readonly _dropped_at?: number
  /** The time at which the battery was measured, in epoch milliseconds. */
  readonly _battery_at?: number
  /** The telemetry messages that were folded, by their sequence numbers. */
  readonly _told?: readonly FoldedSequences[]
  readonly _released?: true
}

/** The epoch (the number of the claim) of a device at this location, for the telemetry projection. */
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
  /**
   * The end of the grace period in epoch milliseconds. Present while the alert is pending, and after the timer made it active. Absent if a
   * value made it active.
   */
  readonly _fire_at?: number
  /** The time at which the timer of a pending alert is due, in epoch milliseconds. An earlier timer event is ignored: the timer was set again. */
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
  /** The person who defined the beer, and can change it if it is in the global library. */
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
  /** The full weight before any keg was weighed. */
  readonly _reference?: number
  /** The weighings of which `full_lbs` is the mean. */
  readonly _measured?: readonly { readonly keg_id: string; readonly full_lbs: number; readonly at: number }[]
  readonly _heard?: readonly string[]
}

export type LibraryItem = Key & {
  readonly beer_id: string
  readonly loc_id: string | null
  readonly name: string
  readonly style: string | null
}

export type OwnerItem = Key & {
  readonly user_id: string
  readonly opened_at: string
  readonly _heard?: readonly string[]
}

export type MemberItem = Key & { readonly user_id: string; readonly added_at: string; readonly added_by: string | null }

/** Remains of a membership that ended. `removed_at` is the latest removal of that user from the location. */
export type GoneMemberItem = Key & { readonly removed_at: string }

/** A token with the scope `device`. It works only while its claim lasts and its creator is a member of the location. */
export type DeviceTokenItem = PatItem & {
  /** The member who created the token. Null if the operator created it. */
  readonly createdBy: string | null
  /** The location that owned the device when the token was created. Null if no location owned it. */
  readonly loc_id: string | null
  /** The epoch of the claim to which the token belongs. */
  readonly claim_epoch: number
}

/** Stores the epoch that is in the partition key of a device's items. Has no `device_id`, because items with it are in `device-index` (S-d). */
export type DevicePointerItem = Key & {
  readonly epoch: number
  readonly released_at?: string
  readonly _heard?: readonly string[]
}

export type CalibrationItem = Key & {
  readonly loc_id: string
  readonly factor: number
  readonly offset: number
  readonly calibrated_at: string
  readonly calibrated_by: string | null
}

/** The level that the device sent and the level computed from its weight differ by more than two percentage points. */
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

export type QuarantineCountItem = Key & {
  readonly total: number
  readonly reasons: { readonly [reason: string]: number }
}
