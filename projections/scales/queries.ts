import { accessQueries } from '../access/queries.ts'
import { isoOf } from '../instant.ts'
import type { Item, Key } from '../item.ts'
import type { Page, Query, Reader } from '../table.ts'
import { everyItem } from '../table.ts'
import type {
  AlertItem, BeerItem, BeerKegItem, CalibrationItem, ClaimItem, DeviceItem, DevicePointerItem, DeviceTokenItem, DiscrepancyItem, GoneBeerItem, GoneMemberItem, GraceItem, KegItem, LibraryItem, MemberItem, OwnerItem,
  QuarantineCountItem, QuarantinedItem, SettingsItem, TapItem, TapStateItem, TareItem, TelemetryItem, TimelineItem,
} from './items.ts'
import {
  ACTIVE, activeAlertKey, alertPartition, beerKegKey, beerKey, beerPartition, BEER_KEGS, calibrationKey, CALIBRATIONS, claimKey, deviceIn, deviceKey, deviceOf, devicePartition, devicePointerKey,
  DEVICE_POINTERS, discrepancyKey, goneBeerKey, goneMemberKey, graceKey, HISTORY, kegKey, libraryPartition, libraryWordKey, locationPartition, memberKey, MEMBERS, NAMES, ownerKey, POURS, quarantineCountKey, quarantinedOf,
  quarantinePartition, settingsKey, tapKey, TAPS, tapStateKey, tapTimelineKey, tareKey, telemetryKey, WORDS, type AlertType,
} from './keys.ts'
import { endingsOf, normalName } from './names.ts'
import { poursOf, type Pour } from './pours.ts'
import { settingsOf } from './settings.ts'
import { BATTERY_INDEX, DEVICE_INDEX } from './table.ts'

export type Paging = Pick<Query, 'limit' | 'cursor'>

/** Epoch milliseconds, both inclusive. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** A tap with what is known of it. */
export interface Tap {
  readonly config: TapItem
  readonly state: TapStateItem | undefined
}

export interface Device {
  readonly meta: DeviceItem | undefined
  readonly telemetry: TelemetryItem | undefined
  readonly calibration: CalibrationItem | undefined
}

export interface TokenLinks {
  readonly claim: ClaimItem | undefined
  /** The device under the token's claim. */
  readonly meta: DeviceItem | undefined
  readonly owner: OwnerItem | undefined
  readonly member: MemberItem | undefined
  readonly gone: GoneMemberItem | undefined
}

/** The access patterns of the scales table, each named as its question. */
export const scalesQueries = (reader: Reader) => ({
  ...placeQueries(reader),
  ...tapQueries(reader),
  ...deviceQueries(reader),
  ...alertQueries(reader),
  ...beerQueries(reader),
  ...accessQueries(reader),
})

export type ScalesQueries = ReturnType<typeof scalesQueries>

const placeQueries = (reader: Reader) => ({
  owner: (loc: string) => find<OwnerItem>(reader, ownerKey(loc)),
  /** Who may read and run a location: its owner, and this member. */
  rightsOf: async (loc: string, user: string): Promise<{ readonly owner: OwnerItem | undefined; readonly member: MemberItem | undefined }> => {
    const [owner, member] = await reader.getMany([ownerKey(loc), memberKey(loc, user)])
    return { owner: owner as OwnerItem | undefined, member: member as MemberItem | undefined }
  },
  /** The items that decide whether a device's token still works: one consistent read each. */
  tokenLinks: async (device: string, { loc_id, claim_epoch, createdBy }: Pick<DeviceTokenItem, 'loc_id' | 'claim_epoch' | 'createdBy'>): Promise<TokenLinks> => {
    const rights = loc_id === null || createdBy === null ? [] : [ownerKey(loc_id), memberKey(loc_id, createdBy), goneMemberKey(loc_id, createdBy)]
    const [claim, meta, owner, member, gone] = await reader.getMany([claimKey(device), deviceKey(device, claim_epoch), ...rights])
    return { claim, meta, owner, member, gone } as TokenLinks
  },
  members: (loc: string, paging: Paging) => list<MemberItem>(reader, { pk: locationPartition(loc), prefix: MEMBERS, ...paging }),
  settings: async (loc: string) => settingsOf(await find<SettingsItem>(reader, settingsKey(loc))),
})

const tapQueries = (reader: Reader) => ({
  /** All taps of a location (S20): their names have two digits, so they are few. */
  taps: async (loc: string): Promise<readonly Tap[]> => {
    const items = await everyItem(reader, { pk: locationPartition(loc), prefix: TAPS, limit: 200 })
    const states = new Map(items.filter(({ SK }) => SK.endsWith('#STATE')).map((item) => [item.SK, item as TapStateItem]))
    return items.filter(({ SK }) => !SK.endsWith('#STATE')).map((config) => ({ config: config as TapItem, state: states.get(`${config.SK}#STATE`) }))
  },
  tap: async (loc: string, tap: string): Promise<Tap | undefined> => {
    const [config, state] = await reader.getMany([tapKey(loc, tap), tapStateKey(loc, tap)])
    return config && { config: config as TapItem, state: state as TapStateItem | undefined }
  },
  /** The kegs it had, also when it is removed; undefined where there never was such a tap. */
  timeline: (loc: string, tap: string) => find<TimelineItem>(reader, tapTimelineKey(loc, tap)),
  discrepancy: (loc: string, tap: string) => find<DiscrepancyItem>(reader, discrepancyKey(loc, tap)),
  keg: (keg: string) => find<KegItem>(reader, kegKey(keg)),
  tare: (keg: string) => find<TareItem>(reader, tareKey(keg)),
  /** The newest first. */
  pours: (loc: string, { from, to }: Span, paging: Paging): Promise<Page<Pour>> =>
    poursOf(reader, loc, { pk: locationPartition(loc), from: POURS + isoOf(from), to: `${POURS}${isoOf(to)}#99`, reverse: true, ...paging }),
  /** Which tap a device stands under (S36); by an index, which may be late. */
  tapOfDevice: async (device: string): Promise<TapItem | undefined> => {
    const { items: [tap] } = await reader.query({ index: DEVICE_INDEX, pk: device, prefix: locationPartition(''), limit: 1 })
    return tap as TapItem | undefined
  },
})

const deviceQueries = (reader: Reader) => ({
  claim: (device: string) => find<ClaimItem>(reader, claimKey(device)),
  /** Those that it holds; one that it gave up leaves a gap in its page. */
  devices: async (loc: string, paging: Paging): Promise<Page<{ readonly device_id: string; readonly epoch: number }>> => {
    const { items, ...rest } = await list<DevicePointerItem>(reader, { pk: locationPartition(loc), prefix: DEVICE_POINTERS, ...paging })
    return { items: items.filter(({ released_at }) => released_at === undefined).map((pointer) => ({ device_id: deviceIn(pointer), epoch: pointer.epoch })), ...rest }
  },
  /** Those with less than so much charge (S37), the lowest first; by an index, which may be late. */
  lowBatteries: async (loc: string, below: number, paging: Paging): Promise<Page<{ readonly device_id: string; readonly epoch: number }>> => {
    const { items, ...rest } = await reader.query({ index: BATTERY_INDEX, pk: loc, to: below, ...paging })
    return { items: items.filter(({ battery_pct }) => Number(battery_pct) < below).map(({ PK }) => deviceOf(PK)), ...rest }
  },
  devicePointer: (loc: string, device: string) => find<DevicePointerItem>(reader, devicePointerKey(loc, device)),
  device: async (device: string, epoch: number): Promise<Device> => {
    const [meta, telemetry, calibration] = await reader.getMany([deviceKey(device, epoch), telemetryKey(device, epoch), calibrationKey(device, epoch)])
    return { meta: meta as DeviceItem | undefined, telemetry: telemetry as TelemetryItem | undefined, calibration: calibration as CalibrationItem | undefined }
  },
  /** The newest first. */
  calibrations: (device: string, epoch: number, paging: Paging) => list<CalibrationItem>(reader, { pk: devicePartition(device, epoch), prefix: CALIBRATIONS, reverse: true, ...paging }),
  /** What was not believed, the newest first; `key` is the location, or the device for the time when nobody held it. */
  quarantined: (key: string, device: string, paging: Paging) =>
    list<QuarantinedItem>(reader, { pk: quarantinePartition(key), prefix: quarantinedOf(device), reverse: true, ...paging }),
  quarantineCount: (key: string, device: string) => find<QuarantineCountItem>(reader, quarantineCountKey(key, device)),
})

const alertQueries = (reader: Reader) => ({
  activeAlerts: (loc: string, paging: Paging) => list<AlertItem>(reader, { pk: alertPartition(loc), prefix: ACTIVE, ...paging }),
  activeAlert: (loc: string, type: AlertType, entity: string) => find<AlertItem>(reader, activeAlertKey(loc, type, entity)),
  /** Whether a breach has its grace (S33), and until when. */
  grace: (loc: string, type: AlertType, entity: string) => find<GraceItem>(reader, graceKey(loc, entity, type)),
  /** The newest first. */
  alertHistory: (loc: string, paging: Paging) => list<AlertItem>(reader, { pk: alertPartition(loc), prefix: HISTORY, reverse: true, ...paging }),
})

const beerQueries = (reader: Reader) => ({
  beer: (loc: string | null, beer: string) => find<BeerItem>(reader, beerKey(loc, beer)),
  /** Left by a beer that was removed. */
  goneBeer: (loc: string | null, beer: string) => find<GoneBeerItem>(reader, goneBeerKey(loc, beer)),
  /** The location's own beer of that id, or else the global one. */
  beerFor: async (loc: string, beer: string): Promise<BeerItem | undefined> => {
    const [own, global] = await reader.getMany([beerKey(loc, beer), beerKey(null, beer)])
    return (own ?? global) as BeerItem | undefined
  },
  beerKegs: (loc: string | null, beer: string, paging: Paging) => list<BeerKegItem>(reader, { pk: beerPartition(loc, beer), prefix: BEER_KEGS, ...paging }),
  beerKeg: (loc: string | null, beer: string, type: string) => find<BeerKegItem>(reader, beerKegKey(loc, beer, type)),
  /** Beers of one library with a word, or words, that begin so (S-p); one that is found by several leaves gaps in its pages. */
  beersNamed: async (loc: string | null, search: string, paging: Paging): Promise<Page<LibraryItem>> => {
    const sought = normalName(search)
    const page = await list<LibraryItem>(reader, { pk: libraryPartition(loc), prefix: sought === '' ? NAMES : WORDS + sought, ...paging })
    return sought === '' ? page : { ...page, items: page.items.filter((item) => isFirst(item, sought)) }
  },
})

const isFirst = ({ SK, name, beer_id, loc_id }: LibraryItem, sought: string): boolean => {
  const first = endingsOf(name).find((ending) => ending.startsWith(sought))
  return first !== undefined && SK === libraryWordKey(loc_id, first, beer_id).SK
}

const find = async <I extends Item>(reader: Reader, key: Key): Promise<I | undefined> => (await reader.get(key)) as I | undefined

const list = async <I extends Item>(reader: Reader, query: Query): Promise<Page<I>> => (await reader.query(query)) as Page<I>
