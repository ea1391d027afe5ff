import { counted } from '../../schemas/counted.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Clock } from './clock.ts'
import { unknownGeneration } from './control-rows.ts'
import type { Control, Generation } from './control.ts'
import type { Log } from './log.ts'
import { evenIfLost, isLost } from './lost.ts'
import { refuseParkedAnew } from './parked-anew.ts'
import { parkedIn, type StoredParked } from './parking.ts'
import { atMost, endsOf, missingTo, type Positions } from './positions.ts'
import { after, every, retrying } from './retry.ts'
import type { Store } from './store.ts'
import { startOf, type Turn } from './turns.ts'

export interface FlipParts {
  readonly domain: string
  /** Of this build's folds: a generation of others is not followed by it. */
  readonly foldVersion: number
  readonly control: Pick<Control, 'generations' | 'serving' | 'flip'>
  readonly log: Pick<Log, 'watermarks' | 'followed'>
  readonly clock: Clock
  readonly to: number
  readonly store: (generation: number) => Promise<Pick<Store, 'checkpoints' | 'reader'>>
  /** How long a followed generation may make no progress before the flip fails. */
  readonly timeoutMs: number
  /** Flip also where keys stand still that go on in the serving generation. */
  readonly acceptParked?: boolean
  /** Flip also to a generation that nobody follows now. */
  readonly acceptUnfollowed?: boolean
  readonly signal?: AbortSignal
  /** Receives how many events the given generation is behind, while the flip waits for it. */
  readonly progress?: (generation: number, behind: number) => void
}

export interface Flipped {
  readonly before: number
  /** Nobody folds it on: it shows what is, until a processor of its release runs. */
  readonly standsStill: boolean
}

/** A generation without a follower that makes no progress for this long will not make any. */
const STILL_MS = 5_000
/** How long processors may take to find a generation in the control table and to join its group. */
const JOIN_MS = 30_000
const LOOK_MS = 250

/** Waits until both generations passed where the log ends now, then moves the pointer in one conditional write. */
export const flip = async (parts: FlipParts): Promise<Flipped> => {
  const { domain, control, log, to } = parts
  const generations = await control.generations(domain)
  const target = servable(domain, to, generations)
  const pointer = await control.serving(domain)
  if (pointer.generation === to) return { before: to, standsStill: !(await log.followed(target.group)) }
  const isFollowed = parts.acceptUnfollowed === true ? await log.followed(target.group) : await untilFollowed(parts, target)
  const ends = await endsOf(log)
  const store = await parts.store(to)
  const openServed = () => parts.store(pointer.generation)
  // If the table of the old generation is missing, the new one sends everything since the old one began to serve. The ledger prevents that an event is sent twice.
  const served = evenIfLost(openServed, () => pointer.from)
  await untilPassed(parts, target, { store, ends, isFollowed })
  // If no processor follows the old generation, the new one sends from the old one's checkpoints.
  const old = generations.find(({ generation }) => generation === pointer.generation)
  const isOldLost = await isLost(openServed)
  const isOldFollowed = old !== undefined && !isOldLost && (await log.followed(old.group))
  if (isOldFollowed) await untilPassed(parts, old, { store: served, ends, isFollowed: true })
  const from = isOldFollowed ? ends : atMost(ends, await served.checkpoints())
  if (parts.acceptParked !== true) await refuseParkedAnew({ domain, generation: to, store, served, partitions: [...ends.keys()] })
  const parked = isOldLost ? pointer.parked : unsentIn(pointer, await standingIn(served, from))
  await control.flip(domain, { generation: to, from, parked }, pointer.version)
  return { before: pointer.generation, standsStill: !isFollowed }
}

/** Waits until a processor follows the target. Without new events a generation without a follower is at the end of the log too, but it would never show the next event. */
const untilFollowed = async ({ domain, log, clock, timeoutMs, signal }: FlipParts, target: Generation): Promise<true> => {
  const isFollowed = await retrying(() => log.followed(target.group), { clock, when: { result: (followed) => !followed }, until: after(clock, Math.min(JOIN_MS, timeoutMs)), signal, pause: every(LOOK_MS) })
  if (isFollowed) return true
  signal?.throwIfAborted()
  throw new Fault('generation-unfollowed', `No processor follows generation ${target.generation} of ${domain}, so it would not show new events. Run tributary start (role processor) of the release with fold version ${target.foldVersion}, then repeat this command.`)
}

const servable = (domain: string, to: number, generations: readonly Generation[]): Generation => {
  const listed = generations.find(({ generation }) => generation === to)
  if (listed === undefined) throw unknownGeneration(domain, to)
  if (listed.state === 'following') return listed
  const what = listed.state === 'building' ? `is half-built. Finish it: tributary rebuild ${domain} --resume` : 'is being dropped'
  throw new Fault('generation-unfinished', `Generation ${to} of ${domain} ${what}; only a complete one can serve.`)
}

interface Goal {
  readonly store: Pick<Store, 'checkpoints'>
  readonly ends: Positions
  readonly isFollowed: boolean
}

const untilPassed = async ({ domain, foldVersion, clock, timeoutMs, signal, progress }: FlipParts, listed: Generation, { store, ends, isFollowed }: Goal): Promise<void> => {
  let [last, movedAt] = ['', clock.now()]
  for (;;) {
    const reached = await store.checkpoints()
    const behind = missingTo(ends, reached)
    if (behind === 0) return
    signal?.throwIfAborted()
    const now = JSON.stringify([...reached])
    if (now !== last) [last, movedAt] = [now, clock.now()]
    if (isFollowed) progress?.(listed.generation, behind)
    if (!isFollowed && clock.now() - movedAt >= STILL_MS) throw stands(domain, listed, { foldVersion, behind })
    if (clock.now() - movedAt >= timeoutMs) throw new Fault('generation-behind', `Generation ${listed.generation} of ${domain} is ${counted(behind, 'event')} behind the log and made no progress for ${timeoutMs / 1000} s. Find out why in the logs of the processors with fold version ${listed.foldVersion}, then repeat this command.`)
    await clock.sleep(20, signal)
  }
}

const stands = (domain: string, { generation, foldVersion }: Generation, here: { readonly foldVersion: number; readonly behind: number }): Fault =>
  new Fault('generation-stands-still',
    `Generation ${generation} of ${domain} is ${counted(here.behind, 'event')} behind the log and no processor follows it: it has fold version ${foldVersion}, this program has version ${here.foldVersion}. Run tributary start of the release with fold version ${foldVersion}, then repeat this command.`)

type Standing = StoredParked & { readonly key: string }

/** Keys that stand still. Alien records without one say nothing that could be sent. */
export const standingIn = async (served: Pick<Store, 'reader'>, positions: Positions): Promise<readonly Standing[]> =>
  (await parkedIn(served, positions.keys())).filter((entry): entry is Standing => entry.key !== null)

/** For each parked key, the offset from which the serving generation had to send: the parked event or the start of its turn, whichever is later. */
const unsentIn = (turn: Turn, standing: readonly Standing[]): ReadonlyMap<string, number> =>
  new Map(standing.map((entry) => [`${entry.projection}#${entry.key}`, Math.max(entry.offset, startOf(turn, entry))]))
