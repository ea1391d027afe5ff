import type { DeviceAssigned, DeviceUnassigned, TapRemoved } from '../../schemas/generated/scales.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import type { DeviceItem, DevicePointerItem, TapItem, TimelineItem } from '../../projections/scales/items.ts'
import { isTap, tapIdOf, taps, tapStates, timelines } from '../../projections/scales/keys.ts'
import { heardBefore, hearing } from '../access/heard.ts'
import { startWork, type Work } from '../access/work.ts'
import { isTime } from './fit.ts'
import { deviceHeld } from './held.ts'
import { leave } from './places.ts'
import { retell } from './retell.ts'
import { awaitReading } from './silence.ts'
import { finished, kegNow, placed } from './timeline.ts'

/** A tap is there as soon as something is said of it; one that was removed begins anew. */
export const openTap = (work: Work, { loc, tap, at }: { readonly loc: string; readonly tap: string; readonly at: number }): TimelineItem => {
  const item: TapItem = work.get(taps.key(loc, tap)) ?? {
    ...taps.key(loc, tap), loc_id: loc, tap_id: tapIdOf(loc, tap), beer_id: null, keg_id: null, keg_type: null, full_lbs: null, empty_lbs: null, sg: null,
  }
  const known = work.get(timelines.key(loc, tap)) ?? { ...timelines.key(loc, tap), kegs: [], since: 0 }
  const timeline = known.since === null ? { ...known, since: at } : known
  work.put(item)
  work.put(timeline)
  return timeline
}

/** A tap has one device and a device one tap: what was there before leaves. */
export const deviceAssigned = (event: DeviceAssigned, get: Get): Result => {
  const { data: { tap, device_id }, meta: { key: loc, occurredAt: at } } = event
  const work = startWork(get)
  const held = isTap(tap) && isTime(at) ? deviceHeld(work, loc, device_id) : undefined
  if (held === undefined || heardBefore(held.pointer._heard, event)) return NOTHING
  work.put({ ...held.pointer, _heard: hearing(held.pointer._heard, event) } satisfies DevicePointerItem)
  if (held.item.tap === tap) return work.result()
  openTap(work, { loc, tap, at })
  const other = work.get(taps.key(loc, tap))?.device_id
  const left = other === undefined ? at : vacate(work, { loc, device: other, at })
  const item = held.item.tap === null ? held.item : leave(work, held.item, left)
  stand(work, item, { tap, at: left })
  return work.result()
}

const stand = (work: Work, item: DeviceItem, { tap, at }: { readonly tap: string; readonly at: number }): void => {
  work.put({ ...item, _places: placed(item._places, tap, at), tap } satisfies DeviceItem)
  const config = work.get(taps.key(item.loc_id, tap))
  if (config !== undefined) work.put(withDevice(config, item.device_id))
  awaitReading(work, item.loc_id, item.device_id, at)
}

const withDevice = ({ _left, ...config }: TapItem, device_id: string): TapItem => ({ ...config, device_id })

/** When it left. */
const vacate = (work: Work, { loc, device, at }: { readonly loc: string; readonly device: string; readonly at: number }): number => {
  const other = deviceHeld(work, loc, device)?.item
  return other === undefined ? at : (leave(work, other, at)._places.at(-1)?.from ?? at)
}

export const deviceUnassigned = (event: DeviceUnassigned, get: Get): Result => {
  const { data: { tap, device_id }, meta } = event
  const work = startWork(get)
  const held = isTime(meta.occurredAt) ? deviceHeld(work, meta.key, device_id) : undefined
  if (held === undefined || heardBefore(held.pointer._heard, event)) return NOTHING
  work.put({ ...held.pointer, _heard: hearing(held.pointer._heard, event) } satisfies DevicePointerItem)
  if (held.item.tap === tap) leave(work, held.item, meta.occurredAt)
  return work.result()
}

/** Its timeline stays, so that what was measured before is still known for its keg's. */
export const tapRemoved = (event: TapRemoved, get: Get): Result => {
  const { data: { tap }, meta: { key: loc, occurredAt: at } } = event
  const timeline = isTap(tap) && isTime(at) ? get(timelines.key(loc, tap)) : undefined
  if (timeline === undefined || timeline.since === null || heardBefore(timeline._heard, event)) return NOTHING
  const work = startWork(get)
  const device = get(taps.key(loc, tap))?.device_id
  if (device !== undefined) vacate(work, { loc, device, at })
  const keg = kegNow(timeline)
  const after = keg === undefined ? timeline : finished(timeline, keg.keg_id, Math.max(at, keg.from))
  retell(work, { loc, tap, at, before: timeline, after: { ...timeline, ...after, since: null, _heard: hearing(timeline._heard, event) } })
  work.remove(taps.key(loc, tap))
  work.remove(tapStates.key(loc, tap))
  return work.result()
}
