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

/** Events as the edge would say them, with the least that a test must name. Each has an id of its own. */
export const NOW = Date.parse('2026-11-16T12:00:00.000Z')
export const LOC = 'loc-001'
export const SCALE = 'SCALE-0042'
export const MINUTE = 60_000

export const metaOf = (meta: Partial<EventMeta> = {}): EventMeta =>
  eventMeta({ key: LOC, actorId: 'ada', subjectId: null, ...meta })

type Said<E extends Event> = Partial<E['data']> & { meta?: Partial<EventMeta> }

/** A word of a kind of event: what is usual, unless it is said. */
const says =
  <E extends Event>(type: E['type'], usual: E['data'], meta: Partial<EventMeta> = {}) =>
  ({ meta: more, ...said }: Said<E> = {}): E =>
    ({ type, meta: metaOf({ ...meta, ...more }), data: { ...(usual as object), ...said }, personal: null }) as E

export const opened = says<LocationOpened>('LocationOpened', {})
export const memberAdded = says<MemberAdded>('MemberAdded', { user_id: 'bob' })
export const memberRemoved = says<MemberRemoved>('MemberRemoved', { user_id: 'bob' })
export const settings = says<LocationSettingsChanged>('LocationSettingsChanged', {
  grace_period_secs: null,
  pour_window_hours: null,
  low_keg_pct: null,
  low_battery_pct: null,
  silent_after_secs: null,
  timezone: null,
  pour_min_gallons: null,
  pour_settle_secs: null,
})

export const claimed = says<DeviceClaimed>('DeviceClaimed', { device_id: SCALE, loc_id: LOC }, { key: SCALE })
export const claimReleased = says<DeviceClaimReleased>(
  'DeviceClaimReleased',
  { device_id: SCALE, loc_id: LOC, epoch: 1 },
  { key: SCALE },
)
export const registered = says<DeviceRegistered>('DeviceRegistered', { device_id: SCALE, epoch: 1 })
export const released = says<DeviceReleased>('DeviceReleased', { device_id: SCALE })
export const status = says<DeviceStatusReported>('DeviceStatusReported', {
  device_id: SCALE,
  epoch: 1,
  online: true,
  boot: 'b1',
  fw: '1.2.0',
  dropped: 0,
  tare_empty_offset: null,
  tare_full_lbs: null,
})
export const assigned = says<DeviceAssigned>('DeviceAssigned', { tap: '07', device_id: SCALE })
export const unassigned = says<DeviceUnassigned>('DeviceUnassigned', { tap: '07', device_id: SCALE })
export const tapRemoved = says<TapRemoved>('TapRemoved', { tap: '07' })
export const calibrated = says<DeviceCalibrated>('DeviceCalibrated', {
  device_id: SCALE,
  factor: 1.02,
  offset: -0.4,
  at: NOW,
})

export const HALF_BARREL = { keg_type: 'half_barrel', full_lbs: 161.5, empty_lbs: 29 }
export const tapped = says<KegTapped>('KegTapped', {
  tap: '07',
  keg_id: 'keg-1',
  beer_id: 'guinness',
  ...HALF_BARREL,
  sg: 1.014,
  tapped_at: NOW,
})
export const finished = says<KegFinished>('KegFinished', { tap: '07', keg_id: 'keg-1', at: NOW + 60 * MINUTE })
export const corrected = says<KegAssignmentCorrected>('KegAssignmentCorrected', {
  tap: '07',
  keg_id: 'keg-1',
  from: NOW,
  new_keg_id: 'keg-9',
  beer_id: 'modelo',
  ...HALF_BARREL,
  sg: 1.01,
})
export const voided = says<PourVoided>('PourVoided', {
  keg_id: 'keg-1',
  from: NOW,
  to: NOW + 60 * MINUTE,
  reason: 'line cleaning',
})
export const tared = says<TareRecorded>('TareRecorded', {
  kind: 'empty',
  tap: '07',
  device_id: SCALE,
  value_lbs: 29.3,
  at: NOW,
})

export const quarantined = says<ReadingQuarantined>('ReadingQuarantined', {
  device_id: SCALE,
  boot: 'b1',
  seq: 1,
  at: NOW,
  reason: 'range',
  detail: 'weight_lbs is from -5 to 400.',
  reading: '{"weight_lbs":4000}',
})
export const telemetry = says<TelemetryReported>('TelemetryReported', {
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

const reported = says<ReadingReported>('ReadingReported', {
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
/** The next reading of a boot; its event has the time at which it was measured. */
export const reading = ({ at = NOW + MINUTE, meta, ...said }: Said<ReadingReported> = {}): ReadingReported =>
  reported({ at, seq: ++seq, ...said, meta: { occurredAt: at, ...meta } })

export const silence = says<SilenceDue>('SilenceDue', { device_id: SCALE })
export const grace = says<GraceElapsed>('GraceElapsed', { type: 'low_keg', entity: 'TAP#07', started_at: NOW + MINUTE })
export const acknowledged = says<AlertAcknowledged>('AlertAcknowledged', { type: 'low_keg', entity: 'TAP#07' })

export const beerDefined = says<BeerDefined>(
  'BeerDefined',
  { beer_id: 'guinness', loc_id: null, name: 'Guinness Draught', style: 'stout', specific_gravity: 1.014 },
  { key: 'guinness' },
)
export const beerChanged = says<BeerChanged>(
  'BeerChanged',
  { beer_id: 'guinness', loc_id: null, name: null, style: null, specific_gravity: null },
  { key: 'guinness' },
)
export const beerRemoved = says<BeerRemoved>('BeerRemoved', { beer_id: 'guinness', loc_id: null }, { key: 'guinness' })
export const weightsSet = says<BeerKegWeightsSet>(
  'BeerKegWeightsSet',
  { beer_id: 'guinness', loc_id: null, keg_type: 'sixth_barrel', gallons: 5.17, full_lbs: 60.2, empty_lbs: 16.1 },
  { key: 'guinness' },
)
export const measured = says<BeerKegWeightMeasured>(
  'BeerKegWeightMeasured',
  { beer_id: 'guinness', loc_id: null, keg_type: 'half_barrel', keg_id: 'keg-1', full_lbs: 160, at: NOW },
  { key: 'guinness' },
)

/** A registered scale under tap 07 with a keg on it. */
export const bar: readonly Event[] = [registered(), assigned(), tapped()]

export const TAP = 'LOCATION#loc-001 / TAP#07'
export const STATE = 'LOCATION#loc-001 / TAP#07#STATE'
export const TIMELINE = 'LOCATION#loc-001 / TIMELINE#TAP#07'
export const DEVICE = 'DEVICE#SCALE-0042 / META'
export const TELEMETRY = 'DEVICE#SCALE-0042 / TELEMETRY'
export const KEG = 'KEG#keg-1 / META'
