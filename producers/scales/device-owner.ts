import { claims } from '../../projections/scales/keys.ts'
import type { Reader } from '../../projections/table.ts'
import type { DeviceOwner } from '../mqtt/spec.ts'

/** Returns the location that has claimed the device. Undefined if the device is not claimed. */
export const readDeviceOwner = async (reader: Reader, device: string): Promise<DeviceOwner | undefined> => {
  const claim = await claims.get(reader, device)
  return claim === undefined || claim.loc_id === null ? undefined : { id: claim.loc_id, epoch: claim.epoch }
}
