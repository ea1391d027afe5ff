import { counted } from '../../../schemas/counted.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { Clock } from '../ports/clock.ts'
import { unknownGeneration } from './control-rows.ts'
import type { Control } from './control.ts'
import type { Generation } from './generation.ts'
import type { Log } from '../ports/log.ts'
import type { LogAdmin } from '../ports/log-admin.ts'
import { countArmedBefore } from '../asks/waiting.ts'
import { evenIfLost, isLost } from './lost.ts'
import { refuseNewlyParked } from '../poison/newly-parked.ts'
import { parkedIn, type StoredParked } from '../poison/parked-entry.ts'
import { atMost, endsOf, missingTo, type Positions } from './positions.ts'
import { after, every, retrying } from '../timing/retry.ts'
import type { Store } from '../ports/store.ts'
import { sendsFrom, type ServingPeriod } from '../outgoing/serving-periods.ts'

export interface FlipParts {
  readonly domain: string
  /** The fold version of this program. The processors of this program follow only generations of this version. */
  readonly foldVersion: number
  readonly control: Pick<Control, 'generations' | 'serving' | 'flip'>
  readonly log: Pick<Log, 'watermarks'>
  readonly admin: Pick<LogAdmin, 'isFollowed'>
  readonly clock: Clock
  readonly to: number
  readonly store: (generation: number) => Promise<Pick<Store, 'checkpoints' | 'reader'>>
  /** The flip fails if a followed generation makes no progress for this long. */
  readonly timeoutMs: number
  /** Accepts that the target parks keys which the serving generation does not park. */
  readonly acceptParked?: boolean
  /** Accepts a target that no processor follows now. */
  readonly acceptUnfollowed?: boolean
  readonly signal?: AbortSignal
  /** Receives the number of events that a generation is behind, while the flip waits for it. */
  readonly progress?: (generation: number, behind: number) => void
}

export interface Flipped {
  readonly before: number
  /** True if no processor follows the new serving generation: its items do not change until a processor of its fold version runs. */
  readonly isUnfollowed: boolean
  /** The number of asks in the new serving generation that change something outside and wait for an operator, because they are older than the flip. */
  readonly waitingAsks: number
}

/** If no processor follows a generation, and the generation makes no progress for this long, the flip fails. */
const STILL_MS = 5_000
/** The time in which a processor must find a generation in the control table and join its group. */
const JOIN_MS = 30_000
const POLL_MS = 250

/**
 * Waits until the target has folded the log up to its present end, and the serving generation too if a processor follows it. Then makes the
 * target the serving generation in one conditional write.
 */
export const flip = async (parts: FlipParts): Promise<Flipped> => {
  const { domain, control, log, admin, to } = parts
  const generations = await control.generations(domain)
  const target = servable(domain, to, generations)
  const pointer = await control.serving(domain)
  if (pointer.generation === to)
    return { before: to, isUnfollowed: !(await admin.isFollowed(target.group)), waitingAsks: 0 }
  const isFollowed =
    parts.acceptUnfollowed === true ? await admin.isFollowed(target.group) : await untilFollowed(parts, target)
  const ends = await endsOf(log)
  const store = await parts.store(to)
  const openServed = () => parts.store(pointer.generation)
  // If the table of the old generation is missing, its checkpoints are unknown. Then the new generation sends all events since the old one
  // began to serve. The ledger prevents that an event is sent twice.
  const served = evenIfLost(openServed, () => pointer.from)
  await untilFolded(parts, target, { store, ends, isFollowed })
  // If no processor follows the old generation, the flip does not wait for it. Then the new generation sends the events after the
  // checkpoints of the old one.
  const old = generations.find(({ generation }) => generation === pointer.generation)
  const isOldLost = await isLost(openServed)
  const isOldFollowed = old !== undefined && !isOldLost && (await admin.isFollowed(old.group))
  if (isOldFollowed) await untilFolded(parts, old, { store: served, ends, isFollowed: true })
  const from = isOldFollowed ? ends : atMost(ends, await served.checkpoints())
  if (parts.acceptParked !== true)
    await refuseNewlyParked({ domain, generation: to, store, served, partitions: [...ends.keys()] })
  const parked = isOldLost ? pointer.parked : unsentIn(pointer, await parkedKeysIn(served, from))
  const period = { generation: to, from, parked }
  await control.flip(domain, period, pointer.version)
  const waitingAsks = await countArmedBefore({ reader: store.reader(() => 0), partitions: ends.size, period })
  return { before: pointer.generation, isUnfollowed: !isFollowed, waitingAsks }
}

/** Waits until a processor follows the target. Without a processor, a generation that is at the end of the log would never show the next event. */
const untilFollowed = async (
  { domain, admin, clock, timeoutMs, signal }: FlipParts,
  target: Generation,
): Promise<true> => {
  const isFollowed = await retrying(() => admin.isFollowed(target.group), {
    clock,
    when: { result: (followed) => !followed },
    until: after(clock, Math.min(JOIN_MS, timeoutMs)),
    signal,
    pause: every(POLL_MS),
  })
  if (isFollowed) return true
  signal?.throwIfAborted()
  throw new Fault(
    'generation-unfollowed',
    `No processor follows generation ${target.generation} of ${domain}, so it would not show new events. Run tributary start (role processor) of the release with fold version ${target.foldVersion}, then repeat this command.`,
  )
}

const servable = (domain: string, to: number, generations: readonly Generation[]): Generation => {
  const listed = generations.find(({ generation }) => generation === to)
  if (listed === undefined) throw unknownGeneration(domain, to)
  if (listed.state === 'following') return listed
  const what =
    listed.state === 'building' ? `is half-built. Finish it: tributary rebuild ${domain} --resume` : 'is being dropped'
  throw new Fault('generation-unfinished', `Generation ${to} of ${domain} ${what}; only a complete one can serve.`)
}

interface Goal {
  readonly store: Pick<Store, 'checkpoints'>
  readonly ends: Positions
  readonly isFollowed: boolean
}

const untilFolded = async (
  { domain, foldVersion, clock, timeoutMs, signal, progress }: FlipParts,
  listed: Generation,
  { store, ends, isFollowed }: Goal,
): Promise<void> => {
  let [last, movedAt] = ['', clock.now()]
  for (;;) {
    const positions = await store.checkpoints()
    const behind = missingTo(ends, positions)
    if (behind === 0) return
    signal?.throwIfAborted()
    const now = JSON.stringify([...positions])
    if (now !== last) [last, movedAt] = [now, clock.now()]
    if (isFollowed) progress?.(listed.generation, behind)
    if (!isFollowed && clock.now() - movedAt >= STILL_MS) throw notFollowed(domain, listed, { foldVersion, behind })
    if (clock.now() - movedAt >= timeoutMs)
      throw new Fault(
        'generation-behind',
        `Generation ${listed.generation} of ${domain} is ${counted(behind, 'event')} behind the log and made no progress for ${timeoutMs / 1000} s. Find out why in the logs of the processors with fold version ${listed.foldVersion}, then repeat this command.`,
      )
    await clock.sleep(20, signal)
  }
}

const notFollowed = (
  domain: string,
  { generation, foldVersion }: Generation,
  here: { readonly foldVersion: number; readonly behind: number },
): Fault =>
  new Fault(
    'generation-stands-still',
    `Generation ${generation} of ${domain} is ${counted(here.behind, 'event')} behind the log and no processor follows it: it has fold version ${foldVersion}, this program has version ${here.foldVersion}. Run tributary start of the release with fold version ${foldVersion}, then repeat this command.`,
  )

type ParkedKey = StoredParked & { readonly key: string }

/** The parked keys of the generation. Leaves out records without a key, because no event is derived from them. */
export const parkedKeysIn = async (
  served: Pick<Store, 'reader'>,
  positions: Positions,
): Promise<readonly ParkedKey[]> =>
  (await parkedIn(served, positions.keys())).filter((entry): entry is ParkedKey => entry.key !== null)

/**
 * Returns for each parked key (`projection#key`) the offset from which on the serving generation sent no derived events of this key: the
 * offset of the parked event, or the first offset of the serving period if that is higher.
 */
const unsentIn = (period: ServingPeriod, parked: readonly ParkedKey[]): ReadonlyMap<string, number> =>
  new Map(parked.map((entry) => [`${entry.projection}#${entry.key}`, Math.max(entry.offset, sendsFrom(period, entry))]))
