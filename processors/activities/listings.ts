import type { ConnectionItem, SyncItem } from '../../projections/activities/items.ts'
import { syncs } from '../../projections/activities/keys.ts'
import { refuse } from '../../projections/activities/refusals.ts'
import { bare } from '../../projections/item.ts'
import { DUPLICATE, NOTHING, type Get, type Result } from '../../projections/projection.ts'
import type { Event } from '../../schemas/event.ts'
import type {
  BackfillPageFetched,
  BackfillRequested,
  ResyncDue,
  ResyncPageFetched,
} from '../../schemas/generated/activities.ts'
import { startWork, type Work } from '../folding/work.ts'
import { isReference, readable } from './bodies.ts'
import { openConnection, refusedFor } from './connections.ts'
import { DAY_MS, dueAfter, secondOf } from './instants.ts'
import { queueOf, storeSync } from './syncs.ts'
import { absentSince } from './workouts.ts'

/** Arms the ask for the next page of a list. Withdraws it if there is none. */
const armList = (
  work: Work,
  event: Event,
  { kind, priority, epoch, list }: Pick<ConnectionItem, 'epoch'> & ArmedList,
): void =>
  work.ask(
    list.done
      ? { name: kind, at: null }
      : {
          name: kind,
          at: dueAfter(event),
          kind,
          body: { epoch, run: list.run, page: list.page + 1 },
          queue: queueOf(event.meta.key),
          priority,
        },
  )

interface ArmedList {
  readonly kind: 'backfill' | 'resync'
  readonly priority: number
  readonly list: { readonly run: number; readonly page: number; readonly done: boolean }
}

/** Arms the ask for the next page of the list of all activities. */
export const armBackfill = (work: Work, event: Event, { epoch, backfill }: ConnectionItem): void =>
  armList(work, event, { kind: 'backfill', priority: 7, epoch, list: backfill })

/** Arms the ask for the next page of the list of the last weeks. */
export const armResync = (work: Work, event: Event, { epoch, resync }: ConnectionItem): void =>
  armList(work, event, { kind: 'resync', priority: 6, epoch, list: resync })

/** Arms the daily comparison with Strava's list. */
export const armResyncTimer = (work: Work, event: Event, { resync }: ConnectionItem): void =>
  work.arm({
    name: 'resync',
    at: dueAfter(event, DAY_MS),
    event: { type: 'ResyncDue', key: event.meta.key, data: { run: resync.run + 1, cursor: 0 } },
  })

export const backfillRequested = (event: BackfillRequested, get: Get): Result => {
  const { data, meta } = event
  const refused = refusedFor(get, meta.key)
  if (refused !== undefined) return refused
  const before = openConnection(get, meta.key)
  if (before?.status !== 'CONNECTED') return refuse('not-connected', 'There is no connection with Strava.')
  if (data.run <= before.backfill.run) return DUPLICATE
  const work = startWork(get)
  const connection: ConnectionItem = {
    ...before,
    backfill: { run: data.run, page: 0, before: null, done: false, fetched: 0 },
  }
  work.put(connection)
  armBackfill(work, event, connection)
  return work.result()
}

export const backfillPageFetched = (event: BackfillPageFetched, get: Get): Result => {
  const { data, meta } = event
  const before = openConnection(get, meta.key)
  if (before === undefined || before.epoch !== data.epoch || !isNextPage(before.backfill, data)) return NOTHING
  const { page, done } = data
  const { run, fetched } = before.backfill
  const work = startWork(get)
  const connection: ConnectionItem = {
    ...before,
    backfill: {
      run,
      page,
      before: readable(event.personal)?.oldest ?? null,
      done,
      fetched: Math.min(fetched + Math.max(0, data.count), Number.MAX_SAFE_INTEGER),
    },
  }
  work.put(connection)
  armBackfill(work, event, connection)
  return work.result()
}

const isNextPage = (
  listing: { readonly run: number; readonly page: number; readonly done: boolean },
  { run, page }: { readonly run: number; readonly page: number },
): boolean => !listing.done && run === listing.run && page === listing.page + 1

/** The maximum number of missing activities for which one event arms the fetch. */
const MISSING_PER_EVENT = 20
/** The maximum number of missing activities of a run. The next run finds the others. */
const MAX_MISSING = 400

/** Begins the daily list, or continues with the activities that the last list lacked. */
export const resyncDue = (event: ResyncDue, get: Get): Result => {
  const { data, meta } = event
  const before = openConnection(get, meta.key)
  if (before === undefined) return NOTHING
  const work = startWork(get)
  if (data.cursor === 0 && data.run === before.resync.run + 1) beginResync(work, event, before)
  else if (data.cursor > 0 && data.run === before.resync.run && data.cursor === before.resync.handled)
    fetchMissing(work, event, before)
  return work.result()
}

const beginResync = (work: Work, event: ResyncDue, before: ConnectionItem): void => {
  if (before.status !== 'CONNECTED') return armResyncTimer(work, event, before)
  const resync = { run: event.data.run, page: 0, before: null, done: false, missing: [], handled: 0 }
  const connection: ConnectionItem = { ...before, resync }
  work.put(connection)
  work.arm({ name: 'missing', at: null })
  armResync(work, event, connection)
  armResyncTimer(work, event, connection)
}

export const resyncPageFetched = (event: ResyncPageFetched, get: Get): Result => {
  const { data, meta } = event
  const before = openConnection(get, meta.key)
  if (before === undefined || before.epoch !== data.epoch || !isNextPage(before.resync, data)) return NOTHING
  const { run, missing, handled } = before.resync
  const work = startWork(get)
  const connection: ConnectionItem = {
    ...before,
    resync: {
      run,
      handled,
      page: data.page,
      before: readable(event.personal)?.oldest ?? null,
      done: data.done,
      missing: [...new Set([...missing, ...data.missing.filter(isReference)])].slice(0, MAX_MISSING),
    },
  }
  work.put(connection)
  armResync(work, event, connection)
  if (data.done) fetchMissing(work, event, connection)
  return work.result()
}

/** Arms the fetch of the next missing activities. A timer that is due at once continues. */
const fetchMissing = (work: Work, event: Event, before: ConnectionItem): void => {
  const { key: user } = event.meta
  const { resync } = before
  for (const ref of resync.missing.slice(0, MISSING_PER_EVENT)) {
    const sync = work.get<SyncItem>(syncs.key(user, ref))
    if (sync === undefined || (sync.applied ?? -Infinity) <= absentSince(sync)) continue
    storeSync(work, event, { ...bare(sync), received: Math.max(sync.received ?? -Infinity, secondOf(event)) })
  }
  const missing = resync.missing.slice(MISSING_PER_EVENT)
  const handled = resync.handled + resync.missing.length - missing.length
  work.put({ ...before, resync: { ...resync, missing, handled } } satisfies ConnectionItem)
  work.arm(
    missing.length === 0
      ? { name: 'missing', at: null }
      : {
          name: 'missing',
          at: dueAfter(event),
          event: { type: 'ResyncDue', key: user, data: { run: resync.run, cursor: handled } },
        },
  )
}
