import type { DeviceRegistered, DeviceReleased, DeviceStatusReported } from '../../schemas/generated/scales.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { DeviceItem, DevicePointerItem } from '../../projections/scales/items.ts'
import { devices, isId } from '../../projections/scales/keys.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { startWork } from '../folding/work.ts'
import { isTime } from './fit.ts'
import { ownedDevice, findOrRegisterDevice, registerDevice } from './owned-devices.ts'
import { unassignDevice } from './unassign.ts'

export const deviceRegistered = ({ data, meta }: DeviceRegistered, get: Get): Result => {
  if (!isId(data.device_id) || !isTime(meta.occurredAt)) return NOTHING
  const work = startWork(get)
  if (get(devices.key(data.device_id, data.epoch)) === undefined)
    registerDevice(work, { loc: meta.key, device: data.device_id, epoch: data.epoch, at: meta.occurredAt })
  return work.result()
}

/** Releases a device. Its items stay. The next claim of the device has another number (epoch), and so new items. */
export const deviceReleased = (event: DeviceReleased, get: Get): Result => {
  const { data, meta } = event
  const work = startWork(get)
  const owned = ownedDevice(work, meta.key, data.device_id)
  if (owned === undefined || !isTime(meta.occurredAt) || hasApplied(owned.pointer._heard, event)) return NOTHING
  const at = isoOf(meta.occurredAt)
  const item = unassignDevice(work, owned.item, meta.occurredAt)
  work.put({ ...item, status: 'released', status_at: at })
  work.put({
    ...owned.pointer,
    released_at: at,
    _heard: withApplied(owned.pointer._heard, event),
  } satisfies DevicePointerItem)
  const { epoch } = owned.item
  work.derive({
    purpose: `claim-released:${epoch}`,
    event: {
      type: 'DeviceClaimReleased',
      key: data.device_id,
      data: { device_id: data.device_id, loc_id: meta.key, epoch },
    },
  })
  return work.result()
}

/** Stores the status from a device's birth or last-will message (MQTT). A message that is older than the stored status changes nothing. */
export const deviceStatusReported = ({ data, meta }: DeviceStatusReported, get: Get): Result => {
  if (!isId(data.device_id) || !isTime(meta.occurredAt)) return NOTHING
  const work = startWork(get)
  const item = findOrRegisterDevice(work, {
    loc: meta.key,
    device: data.device_id,
    epoch: data.epoch,
    at: meta.occurredAt,
  })
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
