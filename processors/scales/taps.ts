import type { DeviceAssigned, DeviceUnassigned, TapRemoved } from '../../schemas/generated/scales.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import type { DeviceItem, DevicePointerItem, TapItem, TimelineItem } from '../../projections/scales/items.ts'
import { isTap, tapIdOf, taps, tapStates, timelines } from '../../projections/scales/keys.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { startWork, type Work } from '../folding/work.ts'
import { isTime } from './fit.ts'
import { ownedDevice } from './owned-devices.ts'
import { unassignDevice } from './unassign.ts'
import { updateTimeline } from './timeline-update.ts'
import { armSilenceTimer } from './silence.ts'
import { withFinishedKeg, kegNow, withAssignment } from './timeline.ts'

/** Returns the timeline of a tap, and creates the tap if it does not exist. A removed tap is opened again, with `at` as its start. */
export const openTap = (
  work: Work,
  { loc, tap, at }: { readonly loc: string; readonly tap: string; readonly at: number },
): TimelineItem => {
  const item: TapItem = work.get(taps.key(loc, tap)) ?? {
    ...taps.key(loc, tap),
    loc_id: loc,
    tap_id: tapIdOf(loc, tap),
    beer_id: null,
    keg_id: null,
    keg_type: null,
    full_lbs: null,
    empty_lbs: null,
    sg: null,
  }
  const known = work.get(timelines.key(loc, tap)) ?? { ...timelines.key(loc, tap), kegs: [], since: 0 }
  const timeline = known.since === null ? { ...known, since: at } : known
  work.put(item)
  work.put(timeline)
  return timeline
}

/** Assigns a device to a tap. A tap has one device and a device has one tap: the previous assignments of both end. */
export const deviceAssigned = (event: DeviceAssigned, get: Get): Result => {
  const {
    data: { tap, device_id },
    meta: { key: loc, occurredAt: at },
  } = event
  const work = startWork(get)
  const owned = isTap(tap) && isTime(at) ? ownedDevice(work, loc, device_id) : undefined
  if (owned === undefined || hasApplied(owned.pointer._heard, event)) return NOTHING
  work.put({ ...owned.pointer, _heard: withApplied(owned.pointer._heard, event) } satisfies DevicePointerItem)
  if (owned.item.tap === tap) return work.result()
  openTap(work, { loc, tap, at })
  const previous = work.get(taps.key(loc, tap))?.device_id
  const from = previous === undefined ? at : unassignOwnedDevice(work, { loc, device: previous, at })
  const item = owned.item.tap === null ? owned.item : unassignDevice(work, owned.item, from)
  assignDevice(work, item, { tap, at: from })
  return work.result()
}

const assignDevice = (
  work: Work,
  item: DeviceItem,
  { tap, at }: { readonly tap: string; readonly at: number },
): void => {
  work.put({ ...item, _places: withAssignment(item._places, tap, at), tap } satisfies DeviceItem)
  const config = work.get(taps.key(item.loc_id, tap))
  if (config !== undefined) work.put(withDevice(config, item.device_id))
  armSilenceTimer(work, item.loc_id, item.device_id, at)
}

const withDevice = ({ _left, ...config }: TapItem, device_id: string): TapItem => ({ ...config, device_id })

/** Ends the assignment of a device. Returns the instant at which it ended. */
const unassignOwnedDevice = (
  work: Work,
  { loc, device, at }: { readonly loc: string; readonly device: string; readonly at: number },
): number => {
  const item = ownedDevice(work, loc, device)?.item
  return item === undefined ? at : (unassignDevice(work, item, at)._places.at(-1)?.from ?? at)
}

export const deviceUnassigned = (event: DeviceUnassigned, get: Get): Result => {
  const {
    data: { tap, device_id },
    meta,
  } = event
  const work = startWork(get)
  const owned = isTime(meta.occurredAt) ? ownedDevice(work, meta.key, device_id) : undefined
  if (owned === undefined || hasApplied(owned.pointer._heard, event)) return NOTHING
  work.put({ ...owned.pointer, _heard: withApplied(owned.pointer._heard, event) } satisfies DevicePointerItem)
  if (owned.item.tap === tap) unassignDevice(work, owned.item, meta.occurredAt)
  return work.result()
}

/** Removes a tap. Its timeline stays, so that late readings still find their keg. */
export const tapRemoved = (event: TapRemoved, get: Get): Result => {
  const {
    data: { tap },
    meta: { key: loc, occurredAt: at },
  } = event
  const timeline = isTap(tap) && isTime(at) ? get(timelines.key(loc, tap)) : undefined
  if (timeline === undefined || timeline.since === null || hasApplied(timeline._heard, event)) return NOTHING
  const work = startWork(get)
  const device = get(taps.key(loc, tap))?.device_id
  if (device !== undefined) unassignOwnedDevice(work, { loc, device, at })
  const keg = kegNow(timeline)
  const after = keg === undefined ? timeline : withFinishedKeg(timeline, keg.keg_id, Math.max(at, keg.from))
  updateTimeline(work, {
    loc,
    tap,
    at,
    before: timeline,
    after: { ...timeline, ...after, since: null, _heard: withApplied(timeline._heard, event) },
  })
  work.remove(taps.key(loc, tap))
  work.remove(tapStates.key(loc, tap))
  return work.result()
}
