import type { Device } from '../../projections/scales/queries.ts'
import type { Call } from '../http/route.ts'
import { deviceOf, queriesOf } from './params.ts'
import { locOf } from './rights.ts'
import { claims } from '../../projections/scales/keys.ts'

export interface OwnedDevice extends Device {
  readonly loc: string
  readonly device: string
  readonly epoch: number
}

/** Returns a device that the location has claimed. Throws `device-not-found` otherwise. For a moment after the claim, `meta` is undefined. */
export const ownedDevice = async (call: Pick<Call, 'caller' | 'params'>, device: string): Promise<OwnedDevice> => {
  const loc = locOf(call)
  const queries = queriesOf(call)
  const claim = await claims.get(call.caller.reader, device)
  if (claim?.loc_id !== loc) throw deviceOf.missing(device)
  const found = await queries.device(device, claim.epoch)
  if (found.meta?.status === 'released') throw deviceOf.missing(device)
  return { loc, device, epoch: claim.epoch, ...found }
}
