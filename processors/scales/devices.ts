import type { DeviceRegistered, DeviceReleased, DeviceStatusReported } from '../../schemas/generated/scales.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { DeviceItem, DevicePointerItem } from '../../projections/scales/items.ts'
import { devices, isId } from '../../projections/scales/keys.ts'
import { heardBefore, hearing } from '../access/heard.ts'
import { startWork } from '../access/work.ts'
import { isTime } from './fit.ts'
import { deviceHeld, deviceSeen, register } from './held.ts'
import { leave } from './places.ts'

export const deviceRegistered = ({ data, meta }: DeviceRegistered, get: Get): Result => {
  if (!isId(data.device_id) || !isTime(meta.occurredAt)) return NOTHING
  const work = startWork(get)
  if (get(devices.key(data.device_id, data.epoch)) === undefined) register(work, { loc: meta.key, device: data.device_id, epoch: data.epoch, at: meta.occurredAt })
  return work.result()
}

/** Its items stay as they are; whoever claims it next begins with items of a new epoch. */
export const deviceReleased = (event: DeviceReleased, get: Get): Result => {
  const { data, meta } = event
  const work = startWork(get)
  const held = deviceHeld(work, meta.key, data.device_id)
  if (held === undefined || !isTime(meta.occurredAt) || heardBefore(held.pointer._heard, event)) return NOTHING
  const at = isoOf(meta.occurredAt)
  const item = leave(work, held.item, meta.occurredAt)
  work.put({ ...item, status: 'released', status_at: at })
  work.put({ ...held.pointer, released_at: at, _heard: hearing(held.pointer._heard, event) } satisfies DevicePointerItem)
  const { epoch } = held.item
  work.derive({
    purpose: `claim-released:${epoch}`,
    event: { type: 'DeviceClaimReleased', key: data.device_id, data: { device_id: data.device_id, loc_id: meta.key, epoch } },
  })
  return work.result()
}

/** Birth and last will, by the time they were said: an older one changes nothing. */
export const deviceStatusReported = ({ data, meta }: DeviceStatusReported, get: Get): Result => {
  if (!isId(data.device_id) || !isTime(meta.occurredAt)) return NOTHING
  const work = startWork(get)
  const item = deviceSeen(work, { loc: meta.key, device: data.device_id, epoch: data.epoch, at: meta.occurredAt })
  const at = isoOf(meta.occurredAt)
  if (item !== undefined && (item.status === 'registered' ? item.status_at <= at : item.status_at < at)) {
    work.put({
      ...item,
      status: data.online ? 'online' : 'offline',
      status_at: at,
      ...(data.boot !== null && { boot: data.boot }),
      ...(data.fw !== null && { fw: data.fw }),
      ...(data.dropped !== null && { dropped: data.dropped }),
    } satisfies DeviceItem)
  }
  return work.result()
}
