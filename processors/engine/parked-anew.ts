import { Fault } from '../../schemas/fault.ts'
import { parkedId, parkedIn, type StoredParked } from './parking.ts'
import { EVERY } from './sort.ts'
import type { Store } from './store.ts'

export interface Successor {
  readonly domain: string
  readonly generation: number
  readonly store: Pick<Store, 'reader'>
  /** The serving generation's. */
  readonly served: Pick<Store, 'reader'>
  readonly partitions: readonly number[]
}

/** A key that goes on in the serving generation must not stand still by a flip alone. */
export const refuseParkedAnew = async ({ domain, generation, store, served, partitions }: Successor): Promise<void> => {
  const before = await parkedIn(served, partitions)
  const found = (await parkedIn(store, partitions)).filter((entry) => !before.some((other) => covers(other, entry)))
  if (found.length === 0) return
  const named = found.slice(0, SHOWN).map((entry) => `${domain}:${parkedId(entry)} at ${entry.partition}:${entry.offset} (${entry.code}: ${entry.reason})`)
  const more = found.length > SHOWN ? `, and ${found.length - SHOWN} more` : ''
  throw new Fault('flip-would-park',
    `Generation ${generation} of ${domain} parks ${found.length === 1 ? 'a key that goes' : `${found.length} keys that go`} on in the serving one: ${named.join('; ')}${more}. Nothing was flipped. See: tributary parked ${domain} --generation ${generation}. Mend the folds and build again, or accept that these keys stop: tributary flip ${domain} --to ${generation} --accept-parked.`)
}

const SHOWN = 5

/** It stands still at that event, or did before it. */
const covers = (other: StoredParked, entry: StoredParked): boolean =>
  other.partition === entry.partition && other.key === entry.key && (other.projection === EVERY || other.projection === entry.projection) && (entry.key === null ? other.offset === entry.offset : other.offset <= entry.offset)
