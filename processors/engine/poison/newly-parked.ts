import { Fault } from '../../../schemas/fault.ts'
import { EVERY_PROJECTION } from '../ports/log.ts'
import type { Store } from '../ports/store.ts'
import { parkedId, parkedIn, type StoredParked } from './parked-entry.ts'

export interface FlipTarget {
  readonly domain: string
  readonly generation: number
  readonly store: Pick<Store, 'reader'>
  /** The store of the serving generation. */
  readonly served: Pick<Store, 'reader'>
  readonly partitions: readonly number[]
}

/** Throws `flip-would-park` if the target parks a key that the serving generation does not park. A flip alone must not stop the folding of a key. */
export const refuseNewlyParked = async ({
  domain,
  generation,
  store,
  served,
  partitions,
}: FlipTarget): Promise<void> => {
  const before = await parkedIn(served, partitions)
  const found = (await parkedIn(store, partitions)).filter((entry) => !before.some((other) => covers(other, entry)))
  if (found.length === 0) return
  const named = found
    .slice(0, SHOWN)
    .map(
      (entry) => `${domain}:${parkedId(entry)} at ${entry.partition}:${entry.offset} (${entry.code}: ${entry.reason})`,
    )
  const more = found.length > SHOWN ? `, and ${found.length - SHOWN} more` : ''
  const keys = found.length === 1 ? 'a key that is' : `${found.length} keys that are`
  throw new Fault(
    'flip-would-park',
    `Generation ${generation} of ${domain} parks ${keys} not parked in the serving generation: ${named.join('; ')}${more}. Nothing was flipped. See: tributary parked ${domain} --generation ${generation}. Fix the folds and build again, or accept that these keys stop: tributary flip ${domain} --to ${generation} --accept-parked.`,
  )
}

const SHOWN = 5

/** True if `other` also parks the key of `entry`, at the same event or before it. */
const covers = (other: StoredParked, entry: StoredParked): boolean =>
  other.partition === entry.partition &&
  other.key === entry.key &&
  (other.projection === EVERY_PROJECTION || other.projection === entry.projection) &&
  (entry.key === null ? other.offset === entry.offset : other.offset <= entry.offset)
