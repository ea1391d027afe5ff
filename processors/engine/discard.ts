import type { Key } from '../../projections/item.ts'
import type { Domain } from '../../projections/projection.ts'
import { Fault } from '../../schemas/fault.ts'
import { changeRow } from './change-row.ts'
import type { Clock } from './clock.ts'
import type { Control } from './control.ts'
import { parkedKey } from './keys.ts'
import type { Marks } from './marks.ts'
import type { StoredParked } from './parking.ts'
import { EVERY } from './sort.ts'
import type { Store } from './store.ts'

export interface DiscardParts {
  readonly domain: Domain
  readonly control: Pick<Control, 'generations'>
  readonly marks: Marks
  readonly serving: number
  readonly clock: Clock
  readonly store: (generation: number) => Promise<Pick<Store, 'load' | 'commit' | 'checkpoints'>>
}

export interface Why {
  readonly reason: string
  readonly by: string
}

/**
 * Discards the event at which a key is parked, and records it: no generation folds the event again, and the key heals past it.
 * The entries are held first, so that nothing heals the event meanwhile. A discard that was interrupted can be repeated.
 */
export const discard = async (parts: DiscardParts, entry: StoredParked, { reason, by }: Why): Promise<void> => {
  const { domain, marks, clock } = parts
  const held: Held[] = []
  for (const generation of await following(parts)) {
    const found = await standingIn(parts, generation, entry)
    if (found !== undefined) held.push(found)
  }
  for (const each of held) await change(each, { discarding: true })
  const { partition, offset, projection, key } = entry
  await marks.put(domain.name, { what: 'discarded', partition, offset, projection, key, reason, by, at: clock.now() })
  for (const each of held) await change(each, { discarding: false, retry: true })
  // One that began before the record was there may not have seen it.
  await following(parts)
}

/** The serving one last: while its entry is held, a discard that was cut can be repeated. */
const following = async ({ domain, control, serving }: DiscardParts): Promise<readonly number[]> => {
  const generations = await control.generations(domain.name)
  const building = generations.find(({ state }) => state === 'building')
  if (building !== undefined) {
    throw new Fault('rebuild-running', `Generation ${building.generation} of ${domain.name} is being built, and may have folded the event already. Wait for it, or drop it; then discard.`)
  }
  const others = generations.filter(({ state, generation }) => state === 'following' && generation !== serving)
  return [...others.map(({ generation }) => generation), serving]
}

interface Held {
  readonly store: Pick<Store, 'load' | 'commit'>
  readonly key: Key
  readonly offset: number
}

/** The generation's own entry, if it stands at this very event; undefined where it has not come there, or stands before it. */
const standingIn = async ({ domain, store: open }: DiscardParts, generation: number, entry: StoredParked): Promise<Held | undefined> => {
  const { partition, offset, projection, key } = entry
  const store = await open(generation)
  const names = projection === EVERY ? [EVERY, ...domain.projections.map(({ name }) => name)] : [projection, EVERY]
  const found = (await store.load(names.map((name) => parkedKey(partition, name, key ?? `@${offset}`)))) as readonly (StoredParked | undefined)[]
  const own = found.find((one) => one?.projection === projection && one.offset === offset)
  if (own !== undefined) {
    if (own.retry === true) throw busy(own, 'is being retried. Try again in a moment')
    return { store, key: { PK: own.PK, SK: own.SK }, offset }
  }
  const isBefore = found.some((one) => one !== undefined && one.offset <= offset)
  const next = (await store.checkpoints()).get(partition) ?? 0
  if (isBefore || next <= offset) return undefined
  throw new Fault('discard-applied', `Generation ${generation} of ${domain.name} has folded the event at ${partition}:${offset} already. Let it serve (tributary flip ${domain.name} --to ${generation}), or drop it; then discard.`)
}

/** Resolves to true if the key is still parked at this event. The processor changes the entry too, when it skips events of the key. */
const change = async ({ store, key, offset }: Held, to: Pick<StoredParked, 'retry' | 'discarding'>): Promise<boolean> => {
  const entry = await changeRow<StoredParked>(store, key, (was) => {
    if (was?.offset !== offset) return undefined
    if (to.discarding === true && was.retry === true) throw busy(was, 'is being retried. Try again in a moment')
    if (to.discarding === undefined && was.discarding === true) throw busy(was, 'was being discarded, and that was not finished. Discard it again')
    return { ...was, ...to }
  })
  return entry?.offset === offset
}

/** Requests that the owner of the partition folds the key again. Resolves to false if the key is no longer parked at this event. */
export const askRetry = (store: Pick<Store, 'load' | 'commit'>, entry: StoredParked): Promise<boolean> => change({ store, key: entry, offset: entry.offset }, { retry: true })

const busy = ({ key, partition, offset }: StoredParked, what: string): Fault =>
  new Fault('parked-busy', `The key ${JSON.stringify(key)}, parked at ${partition}:${offset}, ${what}.`, { retriable: true })
