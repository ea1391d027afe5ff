import type { DeviceClaimed, DeviceClaimReleased } from '../../schemas/generated/scales.ts'
import { DUPLICATE, NOTHING, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import { bare } from '../../projections/item.ts'
import type { ClaimItem } from '../../projections/scales/items.ts'
import { claims, isId } from '../../projections/scales/keys.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { refuse } from '../../projections/scales/refusals.ts'

/**
 * Claims a device for a location. The log key is the device, so the first claim in the log wins until the location
 * releases the device.
 */
export const deviceClaimed = (event: DeviceClaimed, get: Get): Result => {
  const {
    data: { device_id, loc_id },
    meta,
  } = event
  if (device_id !== meta.key || !isId(device_id) || !isId(loc_id))
    return refuse('device-not-found', `${device_id} is not a valid device id, or ${loc_id} is not a valid location id.`)
  const claim = get(claims.key(device_id))
  if (hasApplied(claim?._heard, event) || claim?.loc_id === loc_id) return DUPLICATE
  if (claim !== undefined && claim.loc_id !== null)
    return refuse('device-taken', `Device ${device_id} belongs to another location, which must release it first.`)
  const epoch = (claim?.epoch ?? 0) + 1
  const item: ClaimItem = {
    ...claims.key(device_id),
    loc_id,
    epoch,
    claimed_at: isoOf(meta.occurredAt),
    _heard: withApplied(claim?._heard, event),
  }
  return {
    items: [item],
    derived: [
      { purpose: `registered:${epoch}`, event: { type: 'DeviceRegistered', key: loc_id, data: { device_id, epoch } } },
    ],
  }
}

export const deviceClaimReleased = (
  { data: { device_id, loc_id, epoch }, meta }: DeviceClaimReleased,
  get: Get,
): Result => {
  const claim = device_id === meta.key ? get(claims.key(device_id)) : undefined
  if (claim === undefined || claim.loc_id !== loc_id || claim.epoch !== epoch) return NOTHING
  return { items: [{ ...bare(claim), loc_id: null } satisfies ClaimItem] }
}
