import { scalesQueries } from '../../projections/scales/queries.ts'
import type { Reader } from '../../projections/table.ts'

/** Who holds a device, by its claim. */
export interface Holder {
  readonly loc: string
  readonly epoch: number
}

export const readHolder = async (reader: Reader, device: string): Promise<Holder | undefined> => {
  const claim = await scalesQueries(reader).claim(device)
  return claim === undefined || claim.loc_id === null ? undefined : { loc: claim.loc_id, epoch: claim.epoch }
}
