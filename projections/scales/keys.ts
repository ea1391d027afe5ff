import type { Item, Key } from '../item.ts'

/**
 * Every key of the scales table, spelled once, as the source document has them with the requirements' corrections. Ids of locations,
 * devices, beers and kegs hold no `#`; instants have a fixed width: two different things never share a key.
 */
export const LOCATIONS = 'LOCATION#'
export const locationPartition = (loc: string): string => `LOCATION#${loc}`
export const alertPartition = (loc: string): string => `ALERT#${loc}`

export const TAPS = 'TAP#'
/** `nn`: two digits. */
export const tapKey = (loc: string, tap: string): Key => ({ PK: locationPartition(loc), SK: `TAP#${tap}` })
export const tapStateKey = (loc: string, tap: string): Key => ({ PK: locationPartition(loc), SK: `TAP#${tap}#STATE` })
/** Which kegs and devices the tap had, and when: what a late reading is attributed by. */
export const tapTimelineKey = (loc: string, tap: string): Key => ({ PK: locationPartition(loc), SK: `TIMELINE#TAP#${tap}` })
export const settingsKey = (loc: string): Key => ({ PK: locationPartition(loc), SK: 'SETTINGS' })
export const MEMBERS = 'MEMBER#'
export const memberKey = (loc: string, user: string): Key => ({ PK: locationPartition(loc), SK: `MEMBER#${user}` })
/** Remains of a membership that ended. */
export const goneMemberKey = (loc: string, user: string): Key => ({ PK: locationPartition(loc), SK: `GONE#MEMBER#${user}` })
export const ownerKey = (loc: string): Key => ({ PK: locationPartition(loc), SK: 'OWNER' })
/** The devices of a location, to list them: where each one's items lie. */
export const DEVICE_POINTERS = 'DEVICE#'
export const devicePointerKey = (loc: string, device: string): Key => ({ PK: locationPartition(loc), SK: `DEVICE#${device}` })
export const deviceIn = ({ SK }: Key): string => SK.slice(DEVICE_POINTERS.length)
export const telemetryPointerKey = (loc: string, device: string): Key => ({ PK: locationPartition(loc), SK: `TELEMETRY#${device}` })
export const POURS = 'POUR#'
/** The pours of a location in the order of time. */
export const pourKey = (loc: string, start: string, tap: string): Key => ({ PK: locationPartition(loc), SK: `POUR#${start}#${tap}` })
export const DISCREPANCIES = 'DISCREPANCY#'
export const discrepancyKey = (loc: string, tap: string): Key => ({ PK: locationPartition(loc), SK: `DISCREPANCY#TAP#${tap}` })

/** `loc-001#TAP#07`: the tap's name outside its location. */
export const tapIdOf = (loc: string, tap: string): string => `${loc}#TAP#${tap}`

export const kegPartition = (keg: string): string => `KEG#${keg}`
export const kegKey = (keg: string): Key => ({ PK: kegPartition(keg), SK: 'META' })
export const tareKey = (keg: string): Key => ({ PK: kegPartition(keg), SK: 'TARE' })

/** A location's own beers carry its id. */
export const beerPartition = (loc: string | null, beer: string): string => (loc === null ? `BEER#${beer}` : `BEER#${loc}#${beer}`)
export const beerKey = (loc: string | null, beer: string): Key => ({ PK: beerPartition(loc, beer), SK: 'META' })
export const goneBeerKey = (loc: string | null, beer: string): Key => ({ PK: beerPartition(loc, beer), SK: 'GONE' })
export const BEER_KEGS = 'KEG#'
export const beerKegKey = (loc: string | null, beer: string, type: string): Key => ({ PK: beerPartition(loc, beer), SK: `KEG#${type}` })
/** Pointers by name, so that the library is searched without a scan; each is its beer's own. */
export const libraryPartition = (loc: string | null): string => (loc === null ? 'BEERLIB#GLOBAL' : `BEERLIB#${loc}`)
export const NAMES = 'NAME#'
/** From each word of a name on, so that it is found by any of them. */
export const WORDS = 'WORD#'
export const libraryWordKey = (loc: string | null, ending: string, beer: string): Key => ({ PK: libraryPartition(loc), SK: `WORD#${ending}#${beer}` })
export const libraryKey = (loc: string | null, name: string, beer: string): Key => ({ PK: libraryPartition(loc), SK: `NAME#${name}#${beer}` })

/** Who holds a device, by the device. */
export const claimKey = (device: string): Key => ({ PK: `CLAIM#${device}`, SK: 'DEVICE' })
/** A device that was claimed again has items of its own: those of the epoch before were another key's. */
export const devicePartition = (device: string, epoch: number): string => (epoch === 1 ? `DEVICE#${device}` : `DEVICE#${device}@${epoch}`)
/** Which device's partition it is, and of which epoch. */
export const deviceOf = (pk: string): { readonly device_id: string; readonly epoch: number } => {
  const [device_id = '', epoch = '1'] = pk.slice('DEVICE#'.length).split('@')
  return { device_id, epoch: Number(epoch) }
}
export const deviceKey = (device: string, epoch: number): Key => ({ PK: devicePartition(device, epoch), SK: 'META' })
export const telemetryKey = (device: string, epoch: number): Key => ({ PK: devicePartition(device, epoch), SK: 'TELEMETRY' })
export const calibrationKey = (device: string, epoch: number): Key => ({ PK: devicePartition(device, epoch), SK: 'CALIBRATION' })
export const CALIBRATIONS = 'CAL#'
export const calibrationAsOfKey = (device: string, epoch: number, at: { iso: string; event: string }): Key =>
  ({ PK: devicePartition(device, epoch), SK: `CAL#${at.iso}#${at.event}` })

export type AlertType = 'low_keg' | 'low_battery' | 'silent_device'
export const ALERT_TYPES: readonly AlertType[] = ['low_keg', 'low_battery', 'silent_device']
export const ACTIVE = 'ACTIVE#'
/** `entity` is `TAP#nn` or `DEVICE#id`. */
export const activeAlertKey = (loc: string, type: AlertType, entity: string): Key => ({ PK: alertPartition(loc), SK: `ACTIVE#${type}#${entity}` })
export const HISTORY = 'HIST#'
export const alertHistoryKey = (loc: string, iso: string, event: string): Key => ({ PK: alertPartition(loc), SK: `HIST#${iso}#${event}` })
/** The grace of a breach; of a tap `FIRING#loc-001#TAP#07`. */
export const graceKey = (loc: string, entity: string, type: AlertType): Key => ({ PK: `FIRING#${loc}#${entity}`, SK: type })

/** What was not believed, by the log key under which it was said: the location, or the device where nobody holds it. */
export const quarantinePartition = (key: string): string => `QUARANTINE#${key}`
export const quarantinedOf = (device: string): string => `DEVICE#${device}#AT#`
export const quarantinedKey = (key: string, device: string, at: { iso: string; name: string }): Key =>
  ({ PK: quarantinePartition(key), SK: `${quarantinedOf(device)}${at.iso}#${at.name}` })
export const quarantineCountKey = (key: string, device: string): Key => ({ PK: quarantinePartition(key), SK: `COUNT#DEVICE#${device}` })

export const ID = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/
/** Ids of locations, devices, beers and kegs: fit for a key, a topic and a path. */
export const isId = (id: string): boolean => ID.test(id)
export const isTap = (tap: string): boolean => /^\d\d$/.test(tap)
/** True for the entity of an alert: `TAP#nn` or `DEVICE#id`. */
export const isAlertEntity = (entity: string): boolean => (entity.startsWith('TAP#') ? isTap(entity.slice(4)) : entity.startsWith('DEVICE#') && isId(entity.slice(7)))

/** The log key of which an item is derived: told by the partition's name, or else by what the item says of its place. */
export const logKeyOf = (pk: string, item?: Item): string | undefined => {
  const [kind, name] = pk.split('#')
  if (name !== undefined && NAMED.some((known) => known === kind)) return name
  const [loc, beer] = [item?.['loc_id'], item?.['beer_id']]
  if (typeof loc === 'string') return loc
  return kind === 'BEERLIB' && typeof beer === 'string' ? beer : undefined
}

const NAMED = ['LOCATION', 'ALERT', 'FIRING', 'QUARANTINE', 'CLAIM', 'USER', 'BEER'] as const
