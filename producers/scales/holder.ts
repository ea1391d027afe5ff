import { claims } from '../../projections/scales/keys.ts'
import type { Reader } from '../../projections/table.ts'

/** Who holds a device, by its claim. */
export interface Holder {
  readonly loc: string
  readonly epoch: number
}

export const readHolder = async (reader: Reader, device: string): Promise<Holder | undefined> => {
  const claim = await claims.get(reader, device)
  return claim === undefined || claim.loc_id === null ? undefined : { loc: claim.loc_id, epoch: claim.epoch }
}
