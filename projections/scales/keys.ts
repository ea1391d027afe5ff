import { partition } from '../entity.ts'
import type { Item, Key } from '../item.ts'
import type {
  AlertItem,
  BeerItem,
  BeerKegItem,
  CalibrationItem,
  ClaimItem,
  DeviceItem,
  DevicePointerItem,
  DiscrepancyItem,
  GoneBeerItem,
  GoneMemberItem,
  GraceItem,
  KegItem,
  LibraryItem,
  MemberItem,
  OwnerItem,
  PourItem,
  QuarantineCountItem,
  QuarantinedItem,
  SettingsItem,
  TapItem,
  TapStateItem,
  TareItem,
  TelemetryItem,
  TelemetryPointerItem,
  TimelineItem,
} from './items.ts'

/**
 * This file declares the entities of the scales table. Ids of locations, devices, beers and kegs contain no `#`, and instants have a
 * fixed width, so two different items never have the same key.
 */

export const locationPartition = (loc: string): string => `LOCATION#${loc}`
const atLocation = partition('LOCATION#', locationPartition)

/** The newest reading of a tap. The name of a tap is two digits. */
export const tapStates = atLocation<TapStateItem, [tap: string]>('tap state', 'TAP#', '#STATE')
export const taps = atLocation<TapItem, [tap: string]>('tap', 'TAP#')
/** The kegs of a tap with their times. A late reading is attributed to a keg by these times. */
export const timelines = atLocation<TimelineItem, [tap: string]>('timeline', 'TIMELINE#TAP#')
export const locationSettings = atLocation<SettingsItem>('settings', 'SETTINGS')
export const members = atLocation<MemberItem, [user: string]>('member', 'MEMBER#')
/** Remains of a membership that ended. */
export const goneMembers = atLocation<GoneMemberItem, [user: string]>('ended membership', 'GONE#MEMBER#')
export const owners = atLocation<OwnerItem>('owner', 'OWNER')
/** The list of a location's devices. Each pointer contains the epoch, which is part of the partition key of the device's items. */
export const devicePointers = atLocation<DevicePointerItem, [device: string]>('device pointer', 'DEVICE#')
export const deviceIn = ({ SK }: Key): string => SK.slice(devicePointers.prefix.length)
export const telemetryPointers = atLocation<TelemetryPointerItem, [device: string]>('telemetry pointer', 'TELEMETRY#')
/** The pours of a location in the order of time. */
export const pours = atLocation<PourItem, [start: string, tap: string]>('pour', 'POUR#')
export const discrepancies = atLocation<DiscrepancyItem, [tap: string]>('discrepancy', 'DISCREPANCY#TAP#')

/** The name of a tap outside its location, such as `loc-001#TAP#07`. */
export const tapIdOf = (loc: string, tap: string): string => `${loc}#TAP#${tap}`

const ofKeg = partition('KEG#', (keg: string) => `KEG#${keg}`)
export const kegIn = ({ PK }: Key): string => PK.slice('KEG#'.length)
export const kegs = ofKeg<KegItem>('keg', 'META')
export const tares = ofKeg<TareItem>('tare', 'TARE')

/** The partition of a location's own beer contains the location's id. */
const ofBeer = partition('BEER#', (loc: string | null, beer: string) =>
  loc === null ? `BEER#${beer}` : `BEER#${loc}#${beer}`,
)
export const beers = ofBeer<BeerItem>('beer', 'META')
export const goneBeers = ofBeer<GoneBeerItem>('removed beer', 'GONE')
export const beerKegs = ofBeer<BeerKegItem, [type: string]>('beer keg weights', 'KEG#')
/** The partition of a library of beers. It contains pointers by name, so that no search scans all beers. Null: the global library. */
export const libraryPartition = (loc: string | null): string => (loc === null ? 'BEERLIB#GLOBAL' : `BEERLIB#${loc}`)
const inLibrary = partition('BEERLIB#', libraryPartition)
export const libraryNames = inLibrary<LibraryItem, [name: string, beer: string]>('beer in the library', 'NAME#')
/** One pointer per word of a beer's name. Its sort key contains the word and the rest of the name after the word. */
export const libraryWords = inLibrary<LibraryItem, [ending: string, beer: string]>(
  'beer in the library by a word',
  'WORD#',
)

/** The location that owns a device. The partition key is the id of the device. */
export const claims = partition('CLAIM#', (device: string) => `CLAIM#${device}`)<ClaimItem>('claim', 'DEVICE')
/** Each claim of a device (epoch) has its own items, because the items of an earlier claim can belong to another location and log key. */
const ofDevice = partition('DEVICE#', (device: string, epoch: number) =>
  epoch === 1 ? `DEVICE#${device}` : `DEVICE#${device}@${epoch}`,
)
/** The device and the epoch of a partition. */
export const deviceOf = (pk: string): { readonly device_id: string; readonly epoch: number } => {
  const [device_id = '', epoch = '1'] = pk.slice('DEVICE#'.length).split('@')
  return { device_id, epoch: Number(epoch) }
}
export const devices = ofDevice<DeviceItem>('device', 'META')
export const telemetry = ofDevice<TelemetryItem>('telemetry', 'TELEMETRY')
export const calibrations = ofDevice<CalibrationItem>('calibration', 'CALIBRATION')
export const pastCalibrations = ofDevice<CalibrationItem, [iso: string, event: string]>('past calibration', 'CAL#')

export type AlertType = 'low_keg' | 'low_battery' | 'silent_device'
export const ALERT_TYPES: readonly AlertType[] = ['low_keg', 'low_battery', 'silent_device']
export const alertPartition = (loc: string): string => `ALERT#${loc}`
const ofAlerts = partition('ALERT#', alertPartition)
/** `entity` is `TAP#nn` or `DEVICE#id`. */
export const activeAlerts = ofAlerts<AlertItem, [type: AlertType, entity: string]>('active alert', 'ACTIVE#')
export const pastAlerts = ofAlerts<AlertItem, [iso: string, event: string]>('alert history', 'HIST#')
/** The grace period of a pending alert. For tap 07 of a location, the partition is `FIRING#loc-001#TAP#07`. */
export const graces = partition('FIRING#', (loc: string, entity: string) => `FIRING#${loc}#${entity}`)<
  GraceItem,
  [type: AlertType]
>('grace', '')

/** Quarantined readings, by the log key of their events: the location, or the device while no location owns it. */
const inQuarantine = partition('QUARANTINE#', (key: string) => `QUARANTINE#${key}`)
export const quarantined = inQuarantine<QuarantinedItem, [at: string, iso: string, name: string]>(
  'quarantined',
  'DEVICE#',
)
/** The first id in the sort key of a device's quarantined readings. */
export const quarantinedAt = (device: string): string => `${device}#AT`
export const quarantineCounts = inQuarantine<QuarantineCountItem, [device: string]>('quarantine count', 'COUNT#DEVICE#')

export const ID = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/
/** True for ids of locations, devices, beers and kegs. They can be part of a key, a topic and a path. */
export const isId = (id: string): boolean => ID.test(id)
export const isTap = (tap: string): boolean => /^\d\d$/.test(tap)
/** True for the entity of an alert: `TAP#nn` or `DEVICE#id`. */
export const isAlertEntity = (entity: string): boolean =>
  entity.startsWith('TAP#') ? isTap(entity.slice(4)) : entity.startsWith('DEVICE#') && isId(entity.slice(7))

/** The log key whose events produce an item. It is in the partition key, else in `loc_id` or `beer_id` of the item. Undefined if not found. */
export const logKeyOf = (pk: string, item?: Item): string | undefined => {
  const [kind, name] = pk.split('#')
  if (name !== undefined && NAMED.some((known) => known === kind)) return name
  const [loc, beer] = [item?.['loc_id'], item?.['beer_id']]
  if (typeof loc === 'string') return loc
  return kind === 'BEERLIB' && typeof beer === 'string' ? beer : undefined
}

const NAMED = ['LOCATION', 'ALERT', 'FIRING', 'QUARANTINE', 'CLAIM', 'USER', 'BEER'] as const
