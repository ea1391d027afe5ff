import type { AskCall, AskHandlers, AskResult, CallBudget } from '../../../../projections/ask.ts'
import type {
  Backfill,
  ConnectionItem,
  LedgerEntry,
  SyncItem,
  WorkoutItem,
} from '../../../../projections/activities/items.ts'
import {
  connections,
  ledgerPages,
  ledgers,
  stravaSubject,
  syncs,
  workouts,
} from '../../../../projections/activities/keys.ts'
import { activitiesTable } from '../../../../projections/activities/table.ts'
import { keyOf, type Item, type Value } from '../../../../projections/item.ts'
import { stravaAskHandlers } from '../../../../producers/activities/asks/handlers.ts'
import { createRefs, type Refs } from '../../../../producers/activities/refs.ts'
import { createStravaCalls } from '../../../../producers/activities/strava-calls.ts'
import type { StravaAnswer, StravaClient } from '../../../../producers/activities/strava/client.ts'
import type { StravaFailure } from '../../../../producers/activities/strava/failure.ts'
import { createTokenKeeper, TOKENS, type StoredTokens } from '../../../../producers/activities/tokens.ts'
import type { ActivityFetchedPersonal } from '../../../../schemas/generated/activities.ts'
import { createMemoryTable } from '../../../../testing/edge/table.ts'
import { NOON } from '../../../../testing/event.ts'
import { memorySecrets, type MemorySecrets } from '../memory-secrets.ts'

const ADA = 'ada'
export const SUBJECT = stravaSubject(ADA, 1)
export const NOW_S = NOON / 1000

/** A ride that began at this time. */
export const ride = (
  activityId: string,
  startS: number,
  more: Partial<ActivityFetchedPersonal> = {},
): ActivityFetchedPersonal => ({
  activityId,
  name: 'Ride',
  sportType: 'Ride',
  startDate: startS * 1000,
  startDateLocal: startS * 1000,
  utcOffsetS: 0,
  hidden: false,
  distanceDm: 100,
  elevationDm: 0,
  movingS: 60,
  elapsedS: 60,
  visibility: 'everyone',
  ...more,
})

export const failure = (kind: StravaFailure['kind'], status: number, scope?: string): StravaAnswer<never> => ({
  failure: { kind, status, detail: '', ...(scope !== undefined && { scope }) },
  use: [],
})
export const result = <T>(value: T): StravaAnswer<T> => ({ result: value, use: [] })

export interface AskOutside {
  readonly secrets: MemorySecrets
  readonly refs: Refs
  /** The arguments of the calls of Strava, in their order. */
  readonly called: (readonly [name: string, ...args: unknown[]])[]
  /** Answers of Strava. A test replaces them. */
  readonly strava: { -readonly [N in keyof StravaClient]: StravaClient[N] }
  put(...items: readonly Item[]): void
  connect(more?: Partial<ConnectionItem>): void
  addSync(ref: string, activityId: string | null): void
  addWorkout(activity: ActivityFetchedPersonal, more?: Partial<WorkoutItem>): void
  addLedger(month: string, ...entries: readonly LedgerEntry[]): void
  hold(until: number | undefined): void
  readonly shares: unknown[]
  call(kind: string, body: Value): Promise<AskResult>
}

const LISTING: Backfill = { run: 1, page: 0, before: null, done: false, fetched: 0 }

/** The handlers of asks, with a table in memory and a Strava whose answers a test sets. */
export const openOutside = async (tokens: Partial<StoredTokens> = {}): Promise<AskOutside> => {
  const { items, reader } = createMemoryTable(() => NOON, activitiesTable)
  const secrets = memorySecrets()
  const refs = await createRefs(secrets)()
  const value = { access: 'A1', refresh: 'R1', version: 1, expiresAt: NOON + 3_600_000, ...tokens }
  await secrets.write(SUBJECT, TOKENS, { expect: 0, value: JSON.stringify(value) })
  const called: (readonly [string, ...unknown[]])[] = []
  const shares: unknown[] = []
  let held: number | undefined
  const budget: CallBudget = {
    take: async (share) => {
      shares.push(share)
      return held
    },
    heldUntil: async () => held,
    report: async () => {},
    pause: async (until) => void (held = until),
  }
  const unset = async () => failure('unavailable', 0)
  const strava: AskOutside['strava'] = {
    athlete: unset,
    activity: unset,
    activities: unset,
    exchange: unset,
    refresh: unset,
    revoke: unset,
  }
  const record =
    <N extends keyof StravaClient>(name: N) =>
    (first: string, second?: unknown) => {
      called.push(typeof second === 'object' ? [name, first] : [name, first, second])
      return (strava[name] as (...args: unknown[]) => Promise<StravaAnswer<never>>)(first, second)
    }
  const client: StravaClient = {
    athlete: record('athlete'),
    activity: record('activity'),
    activities: record('activities'),
    exchange: record('exchange'),
    refresh: record('refresh'),
    revoke: record('revoke'),
  }
  const clock = { now: () => NOON }
  const keeper = createTokenKeeper({ secrets, strava: client, clock })
  const calls = createStravaCalls({ keeper, budget, clock, failed: () => {} })
  const handlers: AskHandlers = stravaAskHandlers({ client, calls, budget, secrets, refs: async () => refs })
  const put = (...added: readonly Item[]) => added.forEach((item) => items.set(keyOf(item), item))
  return {
    secrets,
    refs,
    called,
    strava,
    shares,
    put,
    hold: (until) => void (held = until),
    connect: (more = {}) =>
      put({
        ...connections.key(ADA),
        status: 'CONNECTED',
        athleteId: '5',
        athleteName: 'Ada',
        ref: 'r',
        scopes: ['activity:read_all'],
        missingScopes: [],
        epoch: 1,
        closedEpoch: 0,
        lastEpoch: 1,
        secretRef: `${SUBJECT}/strava`,
        secretVersion: 1,
        expiresAtUtc: '',
        linkedAtUtc: '',
        backfill: LISTING,
        resync: { run: 1, page: 0, before: null, done: false, missing: [], handled: 0 },
        ...more,
      } satisfies ConnectionItem),
    addSync: (ref, activityId) =>
      put({ ...syncs.key(ADA, ref), activityId, epoch: 1 } satisfies Partial<SyncItem> & Item),
    addWorkout: (activity, more = {}) =>
      put({
        ...workouts.key(ADA, activity.activityId),
        ...activity,
        epoch: 1,
        isDeleted: false,
        startDateUtc: new Date(activity.startDate).toISOString(),
        startDateLocal: new Date(activity.startDateLocal).toISOString().slice(0, -1),
        distanceMeters: activity.distanceDm / 10,
        totalElevationGain: activity.elevationDm / 10,
        ...more,
      }),
    addLedger: (month, ...entries) =>
      put(
        { ...ledgers.key(ADA), epoch: 1, first: month, last: month, months: { [month]: 1 } },
        { ...ledgerPages.key(ADA, month), epoch: 1, entries },
      ),
    call: async (kind, body) => {
      const ask: AskCall = {
        id: 'ask-1',
        name: kind,
        kind,
        key: ADA,
        body,
        reader,
        now: NOON,
        signal: new AbortController().signal,
      }
      const handler = handlers[kind]
      if (handler === undefined) throw new Error(`There is no handler for ${kind}`)
      return handler.call(ask)
    },
  }
}

/** The type and the data of each event of an answer. */
export const eventsOf = (answer: AskResult): readonly (readonly [type: string, data: unknown])[] =>
  'later' in answer ? [['later', answer.later]] : answer.events.map(({ type, data }) => [type, data])
