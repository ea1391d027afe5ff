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
import { groupOf } from './processor.ts'
import type { Store } from './store.ts'
import { startOf, type Turn } from './turns.ts'

export interface FlipParts {
  readonly domain: string
  /** Of this build's folds: a generation of others is not followed by it. */
  readonly foldVersion: number
  readonly control: Pick<Control, 'generations' | 'serving' | 'flip'>
  readonly log: Pick<Log, 'watermarks' | 'followed' | 'committed'>
  readonly clock: Clock
  readonly to: number
  readonly store: (generation: number) => Promise<Pick<Store, 'checkpoints' | 'reader'>>
  readonly timeoutMs: number
  /** Flip also where keys stand still that go on in the serving generation. */
  readonly acceptParked?: boolean
  /** Flip also to a generation that nobody follows now. */
  readonly acceptUnfollowed?: boolean
  readonly signal?: AbortSignal
}

export interface Flipped {
  readonly before: number
  /** Nobody folds it on: it shows what is, until a processor of its release runs. */
  readonly standsStill: boolean
}

/** Without a step for so long, a generation that nobody follows stays where it is. */
const STILL_MS = 5_000
/** How long processors of this release may take to hear of a generation and to join its group. */
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
  const served = evenIfLost(openServed, { log, group: groupOf(domain, pointer.generation) })
  await untilPassed(parts, target, { store, ends, isFollowed })
  // Where nobody follows with the old one, the new one sends from where that stands.
  const old = generations.find(({ generation }) => generation === pointer.generation)
  const isOldFollowed = old !== undefined && !(await isLost(openServed)) && (await log.followed(old.group))
  if (isOldFollowed) await untilPassed(parts, old, { store: served, ends, isFollowed: true })
  const from = isOldFollowed ? ends : atMost(ends, await served.checkpoints())
  if (parts.acceptParked !== true) await refuseParkedAnew({ domain, generation: to, store, served, partitions: [...ends.keys()] })
  await control.flip(domain, { generation: to, from, parked: unsentIn(pointer, await standingIn(served, from)) }, pointer.version)
  return { before: pointer.generation, standsStill: !isFollowed }
}

/** On a log that is quiet, one that nobody follows has passed its end too; but it would never show what comes next. */
const untilFollowed = async ({ domain, foldVersion, log, clock, timeoutMs, signal }: FlipParts, target: Generation): Promise<true> => {
  const until = clock.now() + (target.foldVersion === foldVersion ? Math.min(JOIN_MS, timeoutMs) : STILL_MS)
  while (!(await log.followed(target.group))) {
    signal?.throwIfAborted()
    if (clock.now() >= until) throw new Fault('generation-unfollowed', `Nobody follows generation ${target.generation} of ${domain}, so it would stand still while it serves. Start a processor of the release that made it (folds of version ${target.foldVersion}), then flip; or say --accept-unfollowed.`)
    await clock.sleep(LOOK_MS, signal)
  }
  return true
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

const untilPassed = async ({ domain, foldVersion, clock, timeoutMs, signal }: FlipParts, listed: Generation, { store, ends, isFollowed }: Goal): Promise<void> => {
  const until = clock.now() + timeoutMs
  let [last, movedAt] = ['', clock.now()]
  for (;;) {
    const reached = await store.checkpoints()
    const behind = missingTo(ends, reached)
    if (behind === 0) return
    signal?.throwIfAborted()
    const now = JSON.stringify([...reached])
    if (now !== last) [last, movedAt] = [now, clock.now()]
    if (!isFollowed && clock.now() - movedAt >= STILL_MS) throw stands(domain, listed, { foldVersion, behind })
    if (clock.now() >= until) throw new Fault('generation-behind', `Generation ${listed.generation} of ${domain} did not reach the end of the log in time (${counted(behind, 'event')} behind). Is a processor running? See: tributary generations ${domain}.`)
    await clock.sleep(20, signal)
  }
}

const stands = (domain: string, { generation, foldVersion }: Generation, here: { readonly foldVersion: number; readonly behind: number }): Fault =>
  new Fault('generation-stands-still',
    `Generation ${generation} of ${domain} stands still, ${counted(here.behind, 'event')} behind: nobody follows it. It was made by folds of version ${foldVersion}, and this program has version ${here.foldVersion}. Run the release that has them, and flip with it.`)

type Standing = StoredParked & { readonly key: string }

/** Keys that stand still. Alien records without one say nothing that could be sent. */
export const standingIn = async (served: Pick<Store, 'reader'>, positions: Positions): Promise<readonly Standing[]> =>
  (await parkedIn(served, positions.keys())).filter((entry): entry is Standing => entry.key !== null)

/** What stands still was the serving generation's to send only from where its own turn began. */
const unsentIn = (turn: Turn, standing: readonly Standing[]): ReadonlyMap<string, number> =>
  new Map(standing.map((entry) => [`${entry.projection}#${entry.key}`, Math.max(entry.offset, startOf(turn, entry))]))
