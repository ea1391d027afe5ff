import type { Key } from '../../../projections/item.ts'
import type { Domain } from '../../../projections/projection.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { Clock } from '../ports/clock.ts'
import { EVERY_PROJECTION } from '../ports/log.ts'
import type { Store } from '../ports/store.ts'
import { changeRow } from '../rows/change-row.ts'
import { parkedKey } from './keys.ts'
import type { StoredParked } from './parked-entry.ts'
import type { Verdicts } from './verdicts.ts'

export interface DiscardParts {
  readonly domain: Domain
  readonly control: {
    generations(domain: string): Promise<readonly { readonly generation: number; readonly state: string }[]>
  }
  readonly verdicts: Verdicts
  readonly serving: number
  readonly clock: Clock
  readonly store: (generation: number) => Promise<Pick<Store, 'load' | 'commit' | 'checkpoints'>>
}

export interface DiscardReason {
  readonly reason: string
  readonly by: string
}

/**
 * Discards the event at which a key is parked, and records this: no generation folds the event again, and the later events of the key are
 * folded. First marks the entry of the parked key in each generation, so that no process heals the key in the meantime. A discard that was
 * interrupted can be repeated. Faults: `rebuild-running`, `discard-applied`, `parked-busy`.
 */
export const discard = async (
  parts: DiscardParts,
  entry: StoredParked,
  { reason, by }: DiscardReason,
): Promise<void> => {
  const { domain, verdicts, clock } = parts
  const entries: DiscardedEntry[] = []
  for (const generation of await generationsToChange(parts)) {
    const found = await entryAtEvent(parts, generation, entry)
    if (found !== undefined) entries.push(found)
  }
  for (const each of entries) await change(each, { discarding: true })
  const { partition, offset, projection, key } = entry
  await verdicts.put(domain.name, {
    what: 'discarded',
    partition,
    offset,
    projection,
    key,
    reason,
    by,
    at: clock.now(),
  })
  for (const each of entries) await change(each, { discarding: false, retry: true })
  // Throws if a build began in the meantime, because this build may not have read the verdict.
  await generationsToChange(parts)
}

/**
 * Returns the generations that follow the log, the serving one last. The operator chose the event from the entry of the serving generation.
 * This entry is changed last, so an interrupted discard can be repeated with it. Throws `rebuild-running` if a generation is being built.
 */
const generationsToChange = async ({ domain, control, serving }: DiscardParts): Promise<readonly number[]> => {
  const generations = await control.generations(domain.name)
  const building = generations.find(({ state }) => state === 'building')
  if (building !== undefined) {
    throw new Fault(
      'rebuild-running',
      `Generation ${building.generation} of ${domain.name} is being built and may have folded the event already. Wait until it is built, or drop it; then discard the event.`,
    )
  }
  const others = generations.filter(({ state, generation }) => state === 'following' && generation !== serving)
  return [...others.map(({ generation }) => generation), serving]
}

interface DiscardedEntry {
  readonly store: Pick<Store, 'load' | 'commit'>
  readonly key: Key
  readonly offset: number
}

/**
 * Returns the entry by which the generation parks the key at this event. Undefined if the generation has not reached the event, or if the
 * key is parked at an earlier event. Throws `discard-applied` if the generation has folded the event, and `parked-busy` if the entry is
 * being retried.
 */
const entryAtEvent = async (
  { domain, store: open }: DiscardParts,
  generation: number,
  entry: StoredParked,
): Promise<DiscardedEntry | undefined> => {
  const { partition, offset, projection, key } = entry
  const store = await open(generation)
  const names =
    projection === EVERY_PROJECTION
      ? [EVERY_PROJECTION, ...domain.projections.map(({ name }) => name)]
      : [projection, EVERY_PROJECTION]
  const found = (await store.load(names.map((name) => parkedKey(partition, name, key ?? `@${offset}`)))) as readonly (
    StoredParked | undefined
  )[]
  const own = found.find((each) => each?.projection === projection && each.offset === offset)
  if (own !== undefined) {
    if (own.retry === true) throw busy(own, 'is being retried. Try again in a moment')
    return { store, key: { PK: own.PK, SK: own.SK }, offset }
  }
  const isParkedBefore = found.some((each) => each !== undefined && each.offset <= offset)
  const next = (await store.checkpoints()).get(partition) ?? 0
  if (isParkedBefore || next <= offset) return undefined
  throw new Fault(
    'discard-applied',
    `Generation ${generation} of ${domain.name} has folded the event at ${partition}:${offset} already. Flip to that generation (tributary flip ${domain.name} --to ${generation}), or drop it; then discard the event.`,
  )
}

/**
 * If the key is still parked at this event, changes the entry and resolves to true. Otherwise resolves to false. If a processor changes the
 * entry at the same time, because it skips events of the key, `changeRow` repeats the change.
 */
const change = async (
  { store, key, offset }: DiscardedEntry,
  to: Pick<StoredParked, 'retry' | 'discarding'>,
): Promise<boolean> => {
  const entry = await changeRow<StoredParked>(store, key, (was) => {
    if (was?.offset !== offset) return undefined
    if (to.discarding === true && was.retry === true) throw busy(was, 'is being retried. Try again in a moment')
    if (to.discarding === undefined && was.discarding === true)
      throw busy(was, 'has an unfinished discard. Discard the event again')
    return { ...was, ...to }
  })
  return entry?.offset === offset
}

/** Requests that the owner of the partition folds the key again. Resolves to false if the key is no longer parked at this event. */
export const requestRetry = (store: Pick<Store, 'load' | 'commit'>, entry: StoredParked): Promise<boolean> =>
  change({ store, key: entry, offset: entry.offset }, { retry: true })

const busy = ({ key, partition, offset }: StoredParked, what: string): Fault =>
  new Fault('parked-busy', `The key ${JSON.stringify(key)}, parked at ${partition}:${offset}, ${what}.`, {
    retriable: true,
  })
