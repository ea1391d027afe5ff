import type { Event, EventMeta } from '../../../schemas/event.ts'
import type {
  AlertAcknowledged,
  BeerChanged,
  BeerDefined,
  BeerKegWeightMeasured,
  BeerKegWeightsSet,
  BeerRemoved,
  DeviceAssigned,
  DeviceCalibrated,
  DeviceClaimed,
  DeviceClaimReleased,
  DeviceRegistered,
  DeviceReleased,
  DeviceStatusReported,
  DeviceUnassigned,
  GraceElapsed,
  KegAssignmentCorrected,
  KegFinished,
  KegTapped,
  LocationOpened,
  LocationSettingsChanged,
  MemberAdded,
  MemberRemoved,
  PourVoided,
  ReadingQuarantined,
  ReadingReported,
  SilenceDue,
  TapRemoved,
  TareRecorded,
  TelemetryReported,
} from '../../../schemas/generated/scales.ts'
import { metaOf as eventMeta } from '../../../testing/event.ts'

// The functions of this file make events as the edge appends them, with defaults for all fields. Each event has its own id.

export const NOW = Date.parse('2026-11-16T12:00:00.000Z')
export const LOC = 'loc-001'
export const SCALE = 'SCALE-0042'
export const MINUTE = 60_000

export const metaOf = (meta: Partial<EventMeta> = {}): EventMeta =>
  eventMeta({ key: LOC, actorId: 'ada', subjectId: null, ...meta })

type Fields<E extends Event> = Partial<E['data']> & { meta?: Partial<EventMeta> }

/** Returns a function that makes events of one type. The default of each field is its value in `usual`. */
const maker =
  <E extends Event>(type: E['type'], usual: E['data'], meta: Partial<EventMeta> = {}) =>
  ({ meta: more, ...fields }: Fields<E> = {}): E =>
    ({ type, meta: metaOf({ ...meta, ...more }), data: { ...(usual as object), ...fields }, personal: null }) as E

export const opened = maker<LocationOpened>('LocationOpened', {})
export const memberAdded = maker<MemberAdded>('MemberAdded', { user_id: 'bob' })
export const memberRemoved = maker<MemberRemoved>('MemberRemoved', { user_id: 'bob' })
export const settings = maker<LocationSettingsChanged>('LocationSettingsChanged', {
  grace_period_secs: null,
  pour_window_hours: null,
  low_keg_pct: null,
  low_battery_pct: null,
  silent_after_secs: null,
  timezone: null,
  pour_min_gallons: null,
  pour_settle_secs: null,
})

export const claimed = maker<DeviceClaimed>('DeviceClaimed', { device_id: SCALE, loc_id: LOC }, { key: SCALE })
export const claimReleased = maker<DeviceClaimReleased>(
  'DeviceClaimReleased',
  { device_id: SCALE, loc_id: LOC, epoch: 1 },
  { key: SCALE },
)
export const registered = maker<DeviceRegistered>('DeviceRegistered', { device_id: SCALE, epoch: 1 })
export const released = maker<DeviceReleased>('DeviceReleased', { device_id: SCALE })
export const status = maker<DeviceStatusReported>('DeviceStatusReported', {
  device_id: SCALE,
  epoch: 1,
  online: true,
  boot: 'b1',
  fw: '1.2.0',
  dropped: 0,
  tare_empty_offset: null,
  tare_full_lbs: null,
})
export const assigned = maker<DeviceAssigned>('DeviceAssigned', { tap: '07', device_id: SCALE })
export const unassigned = maker<DeviceUnassigned>('DeviceUnassigned', { tap: '07', device_id: SCALE })
export const tapRemoved = maker<TapRemoved>('TapRemoved', { tap: '07' })
export const calibrated = maker<DeviceCalibrated>('DeviceCalibrated', {
  device_id: SCALE,
  factor: 1.02,
  offset: -0.4,
  at: NOW,
})

export const HALF_BARREL = { keg_type: 'half_barrel', full_lbs: 161.5, empty_lbs: 29 }
export const tapped = maker<KegTapped>('KegTapped', {
  tap: '07',
  keg_id: 'keg-1',
  beer_id: 'guinness',
  ...HALF_BARREL,
  sg: 1.014,
  tapped_at: NOW,
})
export const finished = maker<KegFinished>('KegFinished', { tap: '07', keg_id: 'keg-1', at: NOW + 60 * MINUTE })
export const corrected = maker<KegAssignmentCorrected>('KegAssignmentCorrected', {
  tap: '07',
  keg_id: 'keg-1',
  from: NOW,
  new_keg_id: 'keg-9',
  beer_id: 'modelo',
  ...HALF_BARREL,
  sg: 1.01,
})
export const voided = maker<PourVoided>('PourVoided', {
  keg_id: 'keg-1',
  from: NOW,
  to: NOW + 60 * MINUTE,
  reason: 'line cleaning',
})
export const tared = maker<TareRecorded>('TareRecorded', {
  kind: 'empty',
  tap: '07',
  device_id: SCALE,
  value_lbs: 29.3,
  at: NOW,
})

export const quarantined = maker<ReadingQuarantined>('ReadingQuarantined', {
  device_id: SCALE,
  boot: 'b1',
  seq: 1,
  at: NOW,
  reason: 'range',
  detail: 'weight_lbs is from -5 to 400.',
  reading: '{"weight_lbs":4000}',
})
export const telemetry = maker<TelemetryReported>('TelemetryReported', {
  device_id: SCALE,
  epoch: 1,
  boot: 'b1',
  seq: 1000,
  at: NOW,
  battery_v: 3.9,
  battery_pct: 80,
  tare_empty_offset: null,
  tare_full_lbs: null,
  fw: '1.2.0',
  dropped: 0,
})

const reported = maker<ReadingReported>('ReadingReported', {
  device_id: SCALE,
  epoch: 1,
  boot: 'b1',
  seq: 0,
  at: NOW,
  device_ts: null,
  age_ms: 0,
  clamped: false,
  weight_lbs: 95.25,
  level_pct: 50,
  battery_v: 3.9,
  battery_pct: 80,
  tare_status: null,
  fw: null,
  dropped: null,
})
let seq = 0
/** Makes a reading with the next sequence number. The time of the event (`occurredAt`) is the time of the measurement. */
export const reading = ({ at = NOW + MINUTE, meta, ...fields }: Fields<ReadingReported> = {}): ReadingReported =>
  reported({ at, seq: ++seq, ...fields, meta: { occurredAt: at, ...meta } })

export const silence = maker<SilenceDue>('SilenceDue', { device_id: SCALE })
export const grace = maker<GraceElapsed>('GraceElapsed', {
  type: 'low_keg',
  entity: 'TAP#07',
  started_at: NOW + MINUTE,
})
export const acknowledged = maker<AlertAcknowledged>('AlertAcknowledged', { type: 'low_keg', entity: 'TAP#07' })

export const beerDefined = maker<BeerDefined>(
  'BeerDefined',
  { beer_id: 'guinness', loc_id: null, name: 'Guinness Draught', style: 'stout', specific_gravity: 1.014 },
  { key: 'guinness' },
)
export const beerChanged = maker<BeerChanged>(
  'BeerChanged',
  { beer_id: 'guinness', loc_id: null, name: null, style: null, specific_gravity: null },
  { key: 'guinness' },
)
export const beerRemoved = maker<BeerRemoved>('BeerRemoved', { beer_id: 'guinness', loc_id: null }, { key: 'guinness' })
export const weightsSet = maker<BeerKegWeightsSet>(
  'BeerKegWeightsSet',
  { beer_id: 'guinness', loc_id: null, keg_type: 'sixth_barrel', gallons: 5.17, full_lbs: 60.2, empty_lbs: 16.1 },
  { key: 'guinness' },
)
export const measured = maker<BeerKegWeightMeasured>(
  'BeerKegWeightMeasured',
  { beer_id: 'guinness', loc_id: null, keg_type: 'half_barrel', keg_id: 'keg-1', full_lbs: 160, at: NOW },
  { key: 'guinness' },
)

/** Events that register a scale, assign it to tap 07, and put a keg on the tap. */
export const bar: readonly Event[] = [registered(), assigned(), tapped()]

export const TAP = 'LOCATION#loc-001 / TAP#07'
export const STATE = 'LOCATION#loc-001 / TAP#07#STATE'
export const TIMELINE = 'LOCATION#loc-001 / TIMELINE#TAP#07'
export const DEVICE = 'DEVICE#SCALE-0042 / META'
export const TELEMETRY = 'DEVICE#SCALE-0042 / TELEMETRY'
export const KEG = 'KEG#keg-1 / META'
