import { getAll, oncePerReader, pageOf, type Paging } from '../entity.ts'
import { isoOf } from '../instant.ts'
import type { Item } from '../item.ts'
import type { Page, Reader } from '../table.ts'
import type {
  BeerItem,
  CalibrationItem,
  ClaimItem,
  DeviceItem,
  DeviceTokenItem,
  GoneMemberItem,
  LibraryItem,
  MemberItem,
  OwnerItem,
  TapItem,
  TapStateItem,
  TelemetryItem,
} from './items.ts'
import {
  beers,
  calibrations,
  claims,
  deviceIn,
  deviceOf,
  devicePointers,
  devices,
  goneMembers,
  libraryNames,
  libraryPartition,
  libraryWords,
  locationPartition,
  locationSettings,
  members,
  owners,
  taps,
  tapStates,
  telemetry,
} from './keys.ts'
import { endingsOf, normalName } from './names.ts'
import { poursOf, type Pour } from './pours.ts'
import { settingsOf } from './settings.ts'
import { BATTERY_INDEX, DEVICE_INDEX } from './table.ts'

/** A range of time in epoch milliseconds. Both ends are inclusive. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** A tap with its newest reading. */
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

/** The queries of the scales table that read an index, or more than one item or entity. */
export const scalesQueries = oncePerReader((reader) => ({
  ...placeQueries(reader),
  ...tapQueries(reader),
  ...deviceQueries(reader),
  ...beerQueries(reader),
}))

export type ScalesQueries = ReturnType<typeof scalesQueries>

const placeQueries = (reader: Reader) => ({
  /** The owner of a location, and the user's membership in it. */
  rightsOf: async (
    loc: string,
    user: string,
  ): Promise<{ readonly owner: OwnerItem | undefined; readonly member: MemberItem | undefined }> => {
    const [owner, member] = await getAll(reader, [owners.key(loc), members.key(loc, user)])
    return { owner, member }
  },
  /** Reads the items that decide if a device's token still works. Without a location or a creator, only the claim and the device are read. */
  tokenLinks: async (
    device: string,
    { loc_id, claim_epoch, createdBy }: Pick<DeviceTokenItem, 'loc_id' | 'claim_epoch' | 'createdBy'>,
  ): Promise<TokenLinks> => {
    const claimKeys = [claims.key(device), devices.key(device, claim_epoch)] as const
    if (loc_id === null || createdBy === null) {
      const [claim, meta] = await getAll(reader, claimKeys)
      return { claim, meta, owner: undefined, member: undefined, gone: undefined }
    }
    const [claim, meta, owner, member, gone] = await getAll(reader, [
      ...claimKeys,
      owners.key(loc_id),
      members.key(loc_id, createdBy),
      goneMembers.key(loc_id, createdBy),
    ])
    return { claim, meta, owner, member, gone }
  },
  settings: async (loc: string) => settingsOf(await locationSettings.get(reader, loc)),
})

const tapQueries = (reader: Reader) => ({
  /** All taps of a location (S20). They are at most 100, because their names have two digits. */
  taps: async (loc: string): Promise<readonly Tap[]> => {
    const items = await taps.every(reader, loc, { limit: 200 })
    const states = new Map(
      items.filter(({ SK }) => SK.endsWith('#STATE')).map((item) => [item.SK, item as Item as TapStateItem]),
    )
    return items
      .filter(({ SK }) => !SK.endsWith('#STATE'))
      .map((config) => ({ config, state: states.get(`${config.SK}#STATE`) }))
  },
  tap: async (loc: string, tap: string): Promise<Tap | undefined> => {
    const [config, state] = await getAll(reader, [taps.key(loc, tap), tapStates.key(loc, tap)])
    return config && { config, state }
  },
  /** The pours of a location in a range of time, the newest first. */
  pours: (loc: string, { from, to }: Span, paging: Paging): Promise<Page<Pour>> =>
    poursOf(reader, loc, { from: isoOf(from), to: `${isoOf(to)}#99`, reverse: true, ...paging }),
  /** The tap of a device (S36). Reads an index, so the result can be out of date. */
  tapOfDevice: async (device: string): Promise<TapItem | undefined> => {
    const {
      items: [tap],
    } = await pageOf<TapItem>(reader, { index: DEVICE_INDEX, pk: device, prefix: locationPartition(''), limit: 1 })
    return tap
  },
})

const deviceQueries = (reader: Reader) => ({
  /** The devices that the location owns. Released devices are left out, so a page can have fewer items than its limit. */
  devices: async (
    loc: string,
    paging: Paging,
  ): Promise<Page<{ readonly device_id: string; readonly epoch: number }>> => {
    const { items, ...rest } = await devicePointers.page(reader, loc, paging)
    return {
      items: items
        .filter(({ released_at }) => released_at === undefined)
        .map((pointer) => ({ device_id: deviceIn(pointer), epoch: pointer.epoch })),
      ...rest,
    }
  },
  /** The devices with a charge below `below` percent (S37), the lowest charge first. Reads an index, so the result can be out of date. */
  lowBatteries: async (
    loc: string,
    below: number,
    paging: Paging,
  ): Promise<Page<{ readonly device_id: string; readonly epoch: number }>> => {
    const { items, ...rest } = await reader.query({ index: BATTERY_INDEX, pk: loc, to: below, ...paging })
    return {
      items: items.filter(({ battery_pct }) => Number(battery_pct) < below).map(({ PK }) => deviceOf(PK)),
      ...rest,
    }
  },
  device: async (device: string, epoch: number): Promise<Device> => {
    const [meta, battery, calibration] = await getAll(reader, [
      devices.key(device, epoch),
      telemetry.key(device, epoch),
      calibrations.key(device, epoch),
    ])
    return { meta, telemetry: battery, calibration }
  },
})

const beerQueries = (reader: Reader) => ({
  /** The location's own beer with this id, or else the global beer with this id. Undefined if there is neither. */
  beerFor: async (loc: string, beer: string): Promise<BeerItem | undefined> => {
    const [own, global] = await getAll(reader, [beers.key(loc, beer), beers.key(null, beer)])
    return own ?? global
  },
  /**
   * The beers of one library whose names contain the search at the beginning of a word (S-p). A beer that is found by several words is
   * returned once, so a page can have fewer items than its limit.
   */
  beersNamed: async (loc: string | null, search: string, paging: Paging): Promise<Page<LibraryItem>> => {
    const sought = normalName(search)
    if (sought === '') return libraryNames.page(reader, loc, paging)
    const page = await pageOf<LibraryItem>(reader, {
      pk: libraryPartition(loc),
      prefix: libraryWords.prefix + sought,
      ...paging,
    })
    return { ...page, items: page.items.filter((item) => isFirst(item, sought)) }
  },
})

const isFirst = ({ SK, name, beer_id, loc_id }: LibraryItem, sought: string): boolean => {
  const first = endingsOf(name).find((ending) => ending.startsWith(sought))
  return first !== undefined && SK === libraryWords.key(loc_id, first, beer_id).SK
}
