// Generated from schemas/scales.avdl by `npm run codegen`. Do not edit.
import type { Event } from '../event.ts'

/** Which keg was on the scale when the tare was measured. */
export type TareKind = 'empty' | 'full'

/** A person acknowledged an alert. */
export interface AlertAcknowledgedData {
  readonly type: string
  /** TAP#nn or DEVICE#id. */
  readonly entity: string
}

export type AlertAcknowledgedPersonal = never

/** A person acknowledged an alert. */
export type AlertAcknowledged = Event<'AlertAcknowledged', AlertAcknowledgedData, AlertAcknowledgedPersonal>

/** A beer was changed. A field that is null stays as it is. */
export interface BeerChangedData {
  readonly beer_id: string
  readonly loc_id: string | null
  readonly name: string | null
  readonly style: string | null
  readonly specific_gravity: number | null
}

export type BeerChangedPersonal = never

/** A beer was changed. A field that is null stays as it is. */
export type BeerChanged = Event<'BeerChanged', BeerChangedData, BeerChangedPersonal>

/** A beer of the global library (keyed by the beer) or of one location (keyed by it). */
export interface BeerDefinedData {
  readonly beer_id: string
  readonly loc_id: string | null
  readonly name: string
  readonly style: string | null
  readonly specific_gravity: number
}

export type BeerDefinedPersonal = never

/** A beer of the global library (keyed by the beer) or of one location (keyed by it). */
export type BeerDefined = Event<'BeerDefined', BeerDefinedData, BeerDefinedPersonal>

/** A full keg of a beer was weighed. Derived from TareRecorded. */
export interface BeerKegWeightMeasuredData {
  readonly beer_id: string
  readonly loc_id: string | null
  readonly keg_type: string
  readonly keg_id: string
  readonly full_lbs: number
  readonly at: number
}

export type BeerKegWeightMeasuredPersonal = never

/** A full keg of a beer was weighed. Derived from TareRecorded. */
export type BeerKegWeightMeasured = Event<'BeerKegWeightMeasured', BeerKegWeightMeasuredData, BeerKegWeightMeasuredPersonal>

/** Reference weights of a beer in a type of keg. */
export interface BeerKegWeightsSetData {
  readonly beer_id: string
  readonly loc_id: string | null
  readonly keg_type: string
  readonly gallons: number
  readonly full_lbs: number
  readonly empty_lbs: number
}

export type BeerKegWeightsSetPersonal = never

/** Reference weights of a beer in a type of keg. */
export type BeerKegWeightsSet = Event<'BeerKegWeightsSet', BeerKegWeightsSetData, BeerKegWeightsSetPersonal>

/** A beer was removed from its library. Kegs keep the gravity and the weights that they took from it. */
export interface BeerRemovedData {
  readonly beer_id: string
  readonly loc_id: string | null
}

export type BeerRemovedPersonal = never

/** A beer was removed from its library. Kegs keep the gravity and the weights that they took from it. */
export type BeerRemoved = Event<'BeerRemoved', BeerRemovedData, BeerRemovedPersonal>

/** A device was assigned to a tap. A tap has one device and a device has one tap: earlier assignments of both end. */
export interface DeviceAssignedData {
  /** Two digits. */
  readonly tap: string
  readonly device_id: string
}

export type DeviceAssignedPersonal = never

/** A device was assigned to a tap. A tap has one device and a device has one tap: earlier assignments of both end. */
export type DeviceAssigned = Event<'DeviceAssigned', DeviceAssignedData, DeviceAssignedPersonal>

/** A scale was calibrated. */
export interface DeviceCalibratedData {
  readonly device_id: string
  readonly factor: number
  readonly offset: number
  readonly at: number
}

export type DeviceCalibratedPersonal = never

/** A scale was calibrated. */
export type DeviceCalibrated = Event<'DeviceCalibrated', DeviceCalibratedData, DeviceCalibratedPersonal>

/** The claim of a device ended, and another location can claim it. Keyed by the device. Derived from DeviceReleased. */
export interface DeviceClaimReleasedData {
  readonly device_id: string
  readonly loc_id: string
  readonly epoch: number
}

export type DeviceClaimReleasedPersonal = never

/** The claim of a device ended, and another location can claim it. Keyed by the device. Derived from DeviceReleased. */
export type DeviceClaimReleased = Event<'DeviceClaimReleased', DeviceClaimReleasedData, DeviceClaimReleasedPersonal>

/** A location claimed a device. Keyed by the device: the first claim in the log wins. */
export interface DeviceClaimedData {
  readonly device_id: string
  readonly loc_id: string
}

export type DeviceClaimedPersonal = never

/** A location claimed a device. Keyed by the device: the first claim in the log wins. */
export type DeviceClaimed = Event<'DeviceClaimed', DeviceClaimedData, DeviceClaimedPersonal>

/** The claim succeeded: the device belongs to the location. Derived from DeviceClaimed. */
export interface DeviceRegisteredData {
  readonly device_id: string
  /** The number of claims of the device, with this one. Each claim starts with new items. */
  readonly epoch: number
}

export type DeviceRegisteredPersonal = never

/** The claim succeeded: the device belongs to the location. Derived from DeviceClaimed. */
export type DeviceRegistered = Event<'DeviceRegistered', DeviceRegisteredData, DeviceRegisteredPersonal>

/** A location released a device. */
export interface DeviceReleasedData {
  readonly device_id: string
}

export type DeviceReleasedPersonal = never

/** A location released a device. */
export type DeviceReleased = Event<'DeviceReleased', DeviceReleasedData, DeviceReleasedPersonal>

/** A device connected (birth message), or its connection broke (last will). */
export interface DeviceStatusReportedData {
  readonly device_id: string
  readonly epoch: number
  readonly online: boolean
  readonly boot: string | null
  readonly fw: string | null
  /** Events that the device lost because its buffer was full, since it booted. */
  readonly dropped: number | null
  readonly tare_empty_offset: number | null
  readonly tare_full_lbs: number | null
}

export type DeviceStatusReportedPersonal = never

/** A device connected (birth message), or its connection broke (last will). */
export type DeviceStatusReported = Event<'DeviceStatusReported', DeviceStatusReportedData, DeviceStatusReportedPersonal>

/** A tap has no device any more. */
export interface DeviceUnassignedData {
  readonly tap: string
  readonly device_id: string
}

export type DeviceUnassignedPersonal = never

/** A tap has no device any more. */
export type DeviceUnassigned = Event<'DeviceUnassigned', DeviceUnassignedData, DeviceUnassignedPersonal>

/** The grace period of a breach ended. Appended by a timer. */
export interface GraceElapsedData {
  readonly type: string
  readonly entity: string
  readonly started_at: number
}

export type GraceElapsedPersonal = never

/** The grace period of a breach ended. Appended by a timer. */
export type GraceElapsed = Event<'GraceElapsed', GraceElapsedData, GraceElapsedPersonal>

/** The keg on a tap was recorded wrongly. From this instant on, everything that was attributed to the recorded keg belongs to the right one. */
export interface KegAssignmentCorrectedData {
  readonly tap: string
  /** The keg that was recorded. */
  readonly keg_id: string
  readonly from: number
  readonly new_keg_id: string
  readonly beer_id: string
  readonly keg_type: string
  readonly full_lbs: number
  readonly empty_lbs: number
  readonly sg: number
}

export type KegAssignmentCorrectedPersonal = never

/** The keg on a tap was recorded wrongly. From this instant on, everything that was attributed to the recorded keg belongs to the right one. */
export type KegAssignmentCorrected = Event<'KegAssignmentCorrected', KegAssignmentCorrectedData, KegAssignmentCorrectedPersonal>

/** A keg was taken off its tap. */
export interface KegFinishedData {
  readonly tap: string
  readonly keg_id: string
  readonly at: number
}

export type KegFinishedPersonal = never

/** A keg was taken off its tap. */
export type KegFinished = Event<'KegFinished', KegFinishedData, KegFinishedPersonal>

/** A keg was put on a tap. The previous keg of the tap ends here. A keg has one tap. */
export interface KegTappedData {
  readonly tap: string
  /** Created by the edge. */
  readonly keg_id: string
  readonly beer_id: string
  readonly keg_type: string
  readonly full_lbs: number
  readonly empty_lbs: number
  readonly sg: number
  readonly tapped_at: number
}

export type KegTappedPersonal = never

/** A keg was put on a tap. The previous keg of the tap ends here. A keg has one tap. */
export type KegTapped = Event<'KegTapped', KegTappedData, KegTappedPersonal>

/** The first command about a location arrived. Its actor owns the location. */
export interface LocationOpenedData {
}

export type LocationOpenedPersonal = never

/** The first command about a location arrived. Its actor owns the location. */
export type LocationOpened = Event<'LocationOpened', LocationOpenedData, LocationOpenedPersonal>

/** Settings of a location were changed. A setting that is null stays as it is. */
export interface LocationSettingsChangedData {
  /** How long a breach must last before its alert fires. */
  readonly grace_period_secs: number | null
  /** The window over which the pour rate is taken. */
  readonly pour_window_hours: number | null
  readonly low_keg_pct: number | null
  readonly low_battery_pct: number | null
  /** A device that sends nothing for this long is silent. */
  readonly silent_after_secs: number | null
  /** A time zone of the IANA database. */
  readonly timezone: string | null
  /** A smaller fall of the weight is noise and not a pour. */
  readonly pour_min_gallons: number | null
  /** A pour has ended when the weight has not fallen for this long. */
  readonly pour_settle_secs: number | null
}

export type LocationSettingsChangedPersonal = never

/** Settings of a location were changed. A setting that is null stays as it is. */
export type LocationSettingsChanged = Event<'LocationSettingsChanged', LocationSettingsChangedData, LocationSettingsChangedPersonal>

/** A person became a member of a location, and may read and run it. */
export interface MemberAddedData {
  readonly user_id: string
}

export type MemberAddedPersonal = never

/** A person became a member of a location, and may read and run it. */
export type MemberAdded = Event<'MemberAdded', MemberAddedData, MemberAddedPersonal>

/** A person is no longer a member of a location. */
export interface MemberRemovedData {
  readonly user_id: string
}

export type MemberRemovedPersonal = never

/** A person is no longer a member of a location. */
export type MemberRemoved = Event<'MemberRemoved', MemberRemovedData, MemberRemovedPersonal>

/** Voids the pours that were detected for a keg in this span of time. */
export interface PourVoidedData {
  readonly keg_id: string
  readonly from: number
  readonly to: number
  readonly reason: string | null
}

export type PourVoidedPersonal = never

/** Voids the pours that were detected for a keg in this span of time. */
export type PourVoided = Event<'PourVoided', PourVoidedData, PourVoidedPersonal>

/** A reading that was quarantined, with the reason. It changes no state and no series. */
export interface ReadingQuarantinedData {
  readonly device_id: string
  readonly boot: string | null
  readonly seq: number | null
  readonly at: number
  /** range, future, unknown-device, malformed … */
  readonly reason: string
  readonly detail: string
  /** The reading as JSON, cut to 2,000 characters. */
  readonly reading: string
}

export type ReadingQuarantinedPersonal = never

/** A reading that was quarantined, with the reason. It changes no state and no series. */
export type ReadingQuarantined = Event<'ReadingQuarantined', ReadingQuarantinedData, ReadingQuarantinedPersonal>

/** A scale was read. The edge appends this event only for readings of a registered device that are in range. It quarantines the others. */
export interface ReadingReportedData {
  readonly device_id: string
  readonly epoch: number
  /** Changes whenever the device starts; with seq the natural key of the reading. */
  readonly boot: string
  readonly seq: number
  /** When it was measured: the time of receipt minus the age of the reading, or the device's clock if it has one. Never later than the time of receipt. */
  readonly at: number
  /** The time of the device's own clock. */
  readonly device_ts: number | null
  readonly age_ms: number | null
  /** True if the device's clock was ahead, so that `at` is the time of receipt. */
  readonly clamped: boolean
  readonly weight_lbs: number | null
  /** As the scale computes it; not clamped. */
  readonly level_pct: number | null
  readonly battery_v: number | null
  readonly battery_pct: number | null
  readonly tare_status: string | null
  readonly fw: string | null
  readonly dropped: number | null
}

export type ReadingReportedPersonal = never

/** A scale was read. The edge appends this event only for readings of a registered device that are in range. It quarantines the others. */
export type ReadingReported = Event<'ReadingReported', ReadingReportedData, ReadingReportedPersonal>

/** The time after which a device counts as silent is over. Appended by a timer; the fold decides whether the device is silent. */
export interface SilenceDueData {
  readonly device_id: string
}

export type SilenceDuePersonal = never

/** The time after which a device counts as silent is over. Appended by a timer; the fold decides whether the device is silent. */
export type SilenceDue = Event<'SilenceDue', SilenceDueData, SilenceDuePersonal>

/** A tap was removed. Its keg ends, and its device is free. */
export interface TapRemovedData {
  readonly tap: string
}

export type TapRemovedPersonal = never

/** A tap was removed. Its keg ends, and its device is free. */
export type TapRemoved = Event<'TapRemoved', TapRemovedData, TapRemovedPersonal>

/** A tare was measured with an empty or a full keg. */
export interface TareRecordedData {
  readonly kind: TareKind
  readonly tap: string | null
  readonly device_id: string | null
  readonly value_lbs: number
  readonly at: number
}

export type TareRecordedPersonal = never

/** A tare was measured with an empty or a full keg. */
export type TareRecorded = Event<'TareRecorded', TareRecordedData, TareRecordedPersonal>

/** Telemetry of a device. */
export interface TelemetryReportedData {
  readonly device_id: string
  readonly epoch: number
  readonly boot: string
  readonly seq: number
  readonly at: number
  readonly battery_v: number | null
  readonly battery_pct: number | null
  /** The value that the scale stores. */
  readonly tare_empty_offset: number | null
  /** The value that the scale stores. */
  readonly tare_full_lbs: number | null
  readonly fw: string | null
  readonly dropped: number | null
}

export type TelemetryReportedPersonal = never

/** Telemetry of a device. */
export type TelemetryReported = Event<'TelemetryReported', TelemetryReportedData, TelemetryReportedPersonal>

/** The events that schemas/scales.avdl declares. */
export type ScalesEvent =
  | AlertAcknowledged
  | BeerChanged
  | BeerDefined
  | BeerKegWeightMeasured
  | BeerKegWeightsSet
  | BeerRemoved
  | DeviceAssigned
  | DeviceCalibrated
  | DeviceClaimReleased
  | DeviceClaimed
  | DeviceRegistered
  | DeviceReleased
  | DeviceStatusReported
  | DeviceUnassigned
  | GraceElapsed
  | KegAssignmentCorrected
  | KegFinished
  | KegTapped
  | LocationOpened
  | LocationSettingsChanged
  | MemberAdded
  | MemberRemoved
  | PourVoided
  | ReadingQuarantined
  | ReadingReported
  | SilenceDue
  | TapRemoved
  | TareRecorded
  | TelemetryReported
