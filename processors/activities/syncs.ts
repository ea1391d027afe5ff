import type { ConnectionItem, SyncItem } from '../../projections/activities/items.ts'
import { connections, syncs } from '../../projections/activities/keys.ts'
import { bare } from '../../projections/item.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import type { Event } from '../../schemas/event.ts'
import type { Work } from '../folding/work.ts'
import { openConnection, unitOf } from './connections.ts'
import { dueAfter } from './instants.ts'
import { absentSince } from './workouts.ts'

/** Webhooks of one activity often arrive together. The fetch waits, so that one request answers for all of them. */
const BURST_MS = 2_000

/** Returns what is known about an activity. `activityId`: its id, if the event contains it. */
export const syncOf = (
  get: Get,
  user: string,
  { ref, epoch, activityId }: { ref: string; epoch: number; activityId: string | null },
): SyncItem => {
  const stored = get<SyncItem>(syncs.key(user, ref))
  if (stored !== undefined) return { ...bare(stored), activityId: stored.activityId ?? activityId }
  return {
    ...syncs.key(user, ref),
    ref,
    activityId,
    epoch: unitOf(epoch),
    received: null,
    deleted: null,
    applied: null,
    gaveUp: null,
    denied: null,
    attempts: 0,
    notFound: 0,
  }
}

/** The newest webhook of the activity, if no request has answered for it yet. */
export const pendingSince = (sync: SyncItem): number | undefined => {
  const { received, applied, denied } = sync
  if (received === null || received <= absentSince(sync)) return undefined
  return received <= (applied ?? -Infinity) || received <= (denied ?? -Infinity) ? undefined : received
}

/** Stores a new state of an activity. Arms the fetch if a newer webhook is pending than before, and withdraws it if none is pending. */
export const storeSync = (work: Work, event: Event, after: SyncItem): void => {
  const { key: user } = event.meta
  const before = work.get<SyncItem>(syncs.key(user, after.ref))
  const [was, asked] = [before && pendingSince(before), pendingSince(after)]
  if (asked === undefined) work.ask({ name: fetchName(after.ref), at: null })
  if (asked === undefined || asked === was) return work.put(after)
  const { failingSinceUtc: _since, gaveUpAtUtc: _gaveUp, ...rest } = after
  work.put({ ...rest, attempts: 0, notFound: 0 } satisfies SyncItem)
  armFetch(work, event, { ref: after.ref, asked, attempt: 1, delayMs: BURST_MS })
}

const fetchName = (ref: string): string => `fetch:${ref}`

export const armFetch = (
  work: Work,
  event: Event,
  { ref, asked, attempt, delayMs }: { ref: string; asked: number; attempt: number; delayMs: number },
): void => {
  const { key: user } = event.meta
  const epoch = work.get<ConnectionItem>(connections.key(user))?.epoch ?? 0
  work.ask({
    name: fetchName(ref),
    at: dueAfter(event, delayMs),
    kind: 'fetch',
    body: { ref, epoch, asked, attempt },
    queue: queueOf(user),
    priority: 3,
  })
}

/** Calls of one person run one after the other. */
export const queueOf = (user: string): string => `strava:${user}`

/** The result of an answer whose link is closed: withdraws the ask, if no newer link has armed it again. */
export const closedAnswer = (get: Get, user: string, ref: string): Result => {
  const sync = get<SyncItem>(syncs.key(user, ref))
  const isArmed = sync !== undefined && openConnection(get, user) !== undefined && pendingSince(sync) !== undefined
  return isArmed ? NOTHING : { asks: [{ name: fetchName(ref), at: null }] }
}
