import { isId } from '../../projections/scales/keys.ts'
import { scalesQueries, type Device } from '../../projections/scales/queries.ts'
import type { Call } from '../http/route.ts'
import { noDevice } from './params.ts'
import { locOf } from './rights.ts'

export interface Held extends Device {
  readonly loc: string
  readonly device: string
  readonly epoch: number
}

/** A device that the location holds, told by its claim. Its own items follow the claim a moment later. */
export const heldDevice = async (call: Pick<Call, 'caller' | 'params'>, device: string): Promise<Held> => {
  if (!isId(device)) throw noDevice(device)
  const loc = locOf(call)
  const queries = scalesQueries(call.caller.reader)
  const claim = await queries.claim(device)
  if (claim?.loc_id !== loc) throw noDevice(device)
  const found = await queries.device(device, claim.epoch)
  if (found.meta?.status === 'released') throw noDevice(device)
  return { loc, device, epoch: claim.epoch, ...found }
}
