import { isoOf } from '../../projections/instant.ts'
import type { DeviceItem, DevicePointerItem } from '../../projections/scales/items.ts'
import { devicePointers, devices, isId } from '../../projections/scales/keys.ts'
import type { Work } from '../folding/work.ts'

/** A device of a location under one claim. */
export interface ClaimedDevice {
  readonly loc: string
  readonly device: string
  readonly epoch: number
  readonly at: number
}

/**
 * Returns the item of a device. If the derived event DeviceRegistered is not folded yet, creates the item. Undefined if
 * the location did not own the device at that time.
 */
export const findOrRegisterDevice = (work: Work, { loc, device, epoch, at }: ClaimedDevice): DeviceItem | undefined => {
  const known = work.get(devices.key(device, epoch))
  if (known !== undefined)
    return known.loc_id === loc && (known.status !== 'released' || isoOf(at) < known.status_at) ? known : undefined
  return registerDevice(work, { loc, device, epoch, at })
}

export const registerDevice = (work: Work, { loc, device, epoch, at }: ClaimedDevice): DeviceItem | undefined => {
  const pointer = work.get(devicePointers.key(loc, device))
  if (!Number.isInteger(epoch) || epoch < 1 || (pointer?.epoch ?? 0) >= epoch) return undefined
  const item: DeviceItem = {
    ...devices.key(device, epoch),
    device_id: device,
    loc_id: loc,
    epoch,
    status: 'registered',
    tap: null,
    registered_at: isoOf(at),
    status_at: isoOf(at),
    _places: [],
  }
  work.put(item)
  work.put({
    ...devicePointers.key(loc, device),
    epoch,
    ...(pointer?._heard && { _heard: pointer._heard }),
  } satisfies DevicePointerItem)
  return item
}

/**
 * Returns the device under the location's current claim. Undefined if the location does not own the device. For events
 * that a person caused: they do not contain the number of the claim (epoch).
 */
export const ownedDevice = (
  work: Work,
  loc: string,
  device: string,
): { readonly pointer: DevicePointerItem; readonly item: DeviceItem } | undefined => {
  const pointer = isId(device) ? work.get(devicePointers.key(loc, device)) : undefined
  const item = pointer && work.get(devices.key(device, pointer.epoch))
  return pointer === undefined || item === undefined || item.status === 'released' ? undefined : { pointer, item }
}
