import type { ConnectionItem, SyncItem } from '../../projections/activities/items.ts'
import { connections, syncs } from '../../projections/activities/keys.ts'
import { refuse } from '../../projections/activities/refusals.ts'
import type { SportOf } from '../../projections/activities/sports.ts'
import { isoOf, msOf } from '../../projections/instant.ts'
import { bare } from '../../projections/item.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import type { ActivityFetched, ActivityFetchFailed } from '../../schemas/generated/activities.ts'
import { startWork, type Work } from '../folding/work.ts'
import { bodyOf, isReference } from './bodies.ts'
import { isOpen, noConnection } from './connections.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from './instants.ts'
import { armFetch, closedAnswer, pendingSince, storeSync, syncOf } from './syncs.ts'
import { removeWorkout, storeBody } from './workouts.ts'

const invalidReference = (): Result => refuse('reference-invalid', 'A reference has 1 to 64 letters and digits.')

export const activityFetched =
  (sportOf: SportOf) =>
  (event: ActivityFetched, get: Get): Result => {
    const { data, meta } = event
    if (!isReference(data.ref)) return invalidReference()
    if (!isOpen(get, meta.key, data.epoch)) {
      if (data.epoch !== 0) return closedAnswer(get, meta.key, data.ref)
      return refuse(
        'activities-erased',
        'The activities of the first connection were erased. Imported ones belong to them.',
      )
    }
    const work = startWork(get)
    const body = bodyOf(event.personal)
    const sync = syncOf(get, meta.key, { ...data, activityId: body?.activityId ?? null })
    const after = { ...sync, applied: Math.max(sync.applied ?? -Infinity, data.asked) }
    if (data.epoch === 0) noteImport(work, meta.key)
    storeSync(work, event, after)
    if (body !== undefined) storeBody(work, event, { body, sync: after, sportOf })
    return work.result()
  }

/** Notes that there are imported activities, because they are sealed with a key of their own. */
const noteImport = (work: Work, user: string): void => {
  const connection = work.get<ConnectionItem>(connections.key(user)) ?? noConnection(work.get, user)
  if (!connection.imported) work.put({ ...connection, imported: true } satisfies ConnectionItem)
}

/** After a 404: the delays before the next attempts. Strava sends webhooks of activities that it shows only later. */
const NOT_FOUND_DELAYS_MS = [10_000, 30_000, 2 * MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS]

/** If Strava does not answer: the first delay, which doubles with each attempt, up to an hour. After two days the delay is a day. */
const FIRST_DELAY_MS = 5_000
const HOURLY_FOR_MS = 2 * DAY_MS

/** Decides what follows a failed fetch: another attempt, the deletion of the workout, or nothing. */
export const activityFetchFailed =
  (sportOf: SportOf) =>
  (event: ActivityFetchFailed, get: Get): Result => {
    const { data, meta } = event
    const { ref, asked, status, attempt } = data
    if (!isReference(ref)) return invalidReference()
    if (!isOpen(get, meta.key, data.epoch)) return closedAnswer(get, meta.key, ref)
    const sync = get<SyncItem>(syncs.key(meta.key, ref))
    if (sync === undefined || pendingSince(sync) !== asked || attempt !== sync.attempts + 1) return NOTHING
    const work = startWork(get)
    const again = (changed: Partial<SyncItem>, delayMs: number): void => {
      const after = { ...bare(sync), ...changed }
      work.put(after)
      armFetch(work, event, { ref, asked, attempt: after.attempts + 1, delayMs })
    }
    if (status === 401) again({}, MINUTE_MS)
    else if (status === 404) {
      const delayMs = NOT_FOUND_DELAYS_MS[sync.notFound]
      if (delayMs === undefined) giveUp(work, event, sync, sportOf)
      else again({ attempts: attempt, notFound: sync.notFound + 1 }, delayMs)
    } else if (status === 0 || status === 408 || status >= 500) {
      const failingSinceUtc = sync.failingSinceUtc ?? isoOf(meta.occurredAt)
      again({ attempts: attempt, failingSinceUtc }, unansweredDelay(event, sync, msOf(failingSinceUtc)))
    } else deny(work, event, sync)
    return work.result()
  }

const unansweredDelay = ({ meta }: ActivityFetchFailed, { attempts, notFound }: SyncItem, since: number): number =>
  meta.occurredAt - since >= HOURLY_FOR_MS
    ? DAY_MS
    : Math.min(FIRST_DELAY_MS * 2 ** Math.min(attempts - notFound, 20), HOUR_MS)

/** Treats the activity as deleted, until a newer webhook arrives. */
const giveUp = (work: Work, event: ActivityFetchFailed, sync: SyncItem, sportOf: SportOf): void => {
  const { data, meta } = event
  const after: SyncItem = {
    ...bare(sync),
    attempts: data.attempt,
    notFound: sync.notFound + 1,
    gaveUp: data.asked,
    gaveUpAtUtc: isoOf(meta.occurredAt),
  }
  storeSync(work, event, after)
  removeWorkout(work, event, after, sportOf)
}

/** Ends the fetch. The activity stays as it is. A missing scope is noted in the connection. */
const deny = (work: Work, event: ActivityFetchFailed, sync: SyncItem): void => {
  const { data, meta } = event
  storeSync(work, event, { ...bare(sync), attempts: data.attempt, denied: data.asked })
  const connection = work.get<ConnectionItem>(connections.key(meta.key))
  const { scope } = data
  if (connection === undefined || scope === null || !isScope(scope) || connection.missingScopes.includes(scope)) return
  if (connection.missingScopes.length < MAX_SCOPES)
    work.put({ ...connection, missingScopes: [...connection.missingScopes, scope] } satisfies ConnectionItem)
}

const MAX_SCOPES = 10
const isScope = (scope: string): boolean => /^[a-z_:]{1,64}$/.test(scope)
