import type { Poison } from '../fold/sort.ts'
import { parkKey } from '../poison/parking.ts'
import type { PartitionWork } from './processor-parts.ts'

/** Parks the keys of the poison events. The later events of these keys up to `through` are skipped. */
export const park = async (work: PartitionWork, found: readonly Poison[], through: number) => {
  for (const poison of found) {
    const made = await parkKey({ store: work.parts.store, checkpoint: work.state.checkpoint() }, poison, through)
    if (made === undefined) continue
    work.state.park(made)
    work.parts.parked?.(made)
  }
}
