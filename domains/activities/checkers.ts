import { activities } from '../../processors/activities/domain.ts'
import type {
  ClaimItem,
  ConnectionItem,
  LedgerEntry,
  LedgerPageItem,
  MilestoneItem,
  OwnerItem,
  PresentWorkout,
  SyncItem,
  WorkoutItem,
} from '../../projections/activities/items.ts'
import {
  claims,
  connections,
  isAward,
  isOwner,
  ledgerPages,
  milestones,
  syncs,
  workouts,
} from '../../projections/activities/keys.ts'
import { keyOf, type Item, type Key } from '../../projections/item.ts'
import type { Violation } from '../../simulation/checkers.ts'
import { expectedOf, type Step } from '../../simulation/reference.ts'
import type { CheckInput } from '../../simulation/workload.ts'

type Wrong = (detail: string) => void

/** Checks the invariants of the activities for a log: each event, and the items at the end. They use no code of the folds. */
export const checkActivities = ({ topic, codec, rules }: CheckInput): readonly Violation[] => {
  const details: string[] = []
  const wrong: Wrong = (detail) => void details.push(detail)
  const { items } = expectedOf({
    domain: rules(activities),
    codec,
    topic,
    watch: (step) => checkMilestones(step, wrong),
  })
  const final = [...items.values()]
  for (const pk of new Set(final.map(({ PK }) => PK).filter((pk) => pk.startsWith('USER#'))))
    checkPerson(final, pk, wrong)
  checkOwners(final, wrong)
  return details.map((detail) => ({ checker: 'domain', detail }))
}

const isMilestone = ({ SK }: Key): boolean => SK.startsWith(milestones.prefix) && !isAward(SK)

/** The events that erase data: the only ones by which milestones lose something. */
const ERASING = ['PersonForgotten', 'SagaDue']

/** Checks that no event takes away an award, the completion or the highest progress of a milestone, except by an erasure. */
const checkMilestones = ({ event: { type, meta }, result: { items = [] }, get }: Step, wrong: Wrong): void => {
  if (ERASING.includes(type)) return
  for (const change of items) {
    const before = get<Item>(change)
    if (before === undefined || !change.SK.startsWith(milestones.prefix)) continue
    if ('_removed' in change) wrong(`${meta.eventId} removed ${keyOf(change)}`)
    else if (isMilestone(change)) checkMilestone(before as MilestoneItem, change as Item as MilestoneItem, wrong)
  }
}

const checkMilestone = (before: MilestoneItem, after: MilestoneItem, wrong: Wrong): void => {
  const falls = (['version', 'highWaterProgress', 'partsAwardedCount'] as const).filter(
    (name) => after[name] < before[name],
  )
  for (const name of falls) wrong(`${keyOf(after)}: ${name} falls from ${before[name]} to ${after[name]}`)
  if (before.status === 'COMPLETED' && after.status !== 'COMPLETED') wrong(`${keyOf(after)} is not complete any more`)
}

/** Checks the ledger, the workouts and the milestones of a person. */
const checkPerson = (all: readonly Item[], pk: string, wrong: Wrong): void => {
  const own = all.filter(({ PK }) => PK === pk)
  const of = <I extends Item>(prefix: string): readonly I[] =>
    own.filter(({ SK }) => SK.startsWith(prefix)).map((item) => item as I)
  const present = of<WorkoutItem>(workouts.prefix).flatMap((workout) => (workout.isDeleted ? [] : [workout]))
  const entries = of<LedgerPageItem>(ledgerPages.prefix).flatMap((page) => page.entries)
  if (sorted(entries) !== sorted(present.map(entryOf)))
    wrong(`${pk}: the ledger is ${sorted(entries)}, and the workouts are ${sorted(present.map(entryOf))}`)
  for (const { ref, eventTime } of present) {
    const sync = of<SyncItem>(syncs.prefix).find((each) => each.ref === ref)
    const absent = Math.max(sync?.deleted ?? 0, sync?.gaveUp ?? 0)
    if (sync === undefined || eventTime <= absent || eventTime !== sync.applied)
      wrong(`${pk}: the workout of ${eventTime} does not fit ${JSON.stringify(sync)}`)
  }
  for (const milestone of of<MilestoneItem>(milestones.prefix).filter(isMilestone)) {
    const awards = own.filter(({ SK }) => SK.startsWith(`${milestone.SK}#AWARD#`)).length
    if (awards !== milestone.partsAwardedCount)
      wrong(`${keyOf(milestone)} has ${awards} awards, and counts ${milestone.partsAwardedCount}`)
    const sum = present.reduce((metres, workout) => metres + contributionOf(workout, milestone), 0) / 10
    if (milestone.archivedAtUtc === undefined && milestone.progressValue !== sum)
      wrong(`${keyOf(milestone)} has the progress ${milestone.progressValue}, and its workouts have ${sum}`)
  }
}

const sorted = (entries: readonly LedgerEntry[]): string =>
  JSON.stringify(entries.map((entry) => JSON.stringify(entry)).sort())

const dmOf = (metres: number): number => Math.round(metres * 10)

const entryOf = (workout: PresentWorkout): LedgerEntry => [
  workout.activityId,
  Math.floor(Date.parse(workout.startDateUtc) / 1000),
  workout.startDateLocal.slice(0, 10),
  workout.utcOffsetS,
  workout.hidden,
  workout.sportType,
  dmOf(workout.distanceMeters),
  dmOf(workout.totalElevationGain),
]

/** The sports of the sport types that the workload uses. */
const SPORTS: Readonly<Record<string, string>> = { Ride: 'RIDE', GravelRide: 'RIDE', Run: 'RUN' }

/** The decimetres that a workout contributes. The workload uses UTC only, so a hidden start counts by its date. */
const contributionOf = (workout: PresentWorkout, { sport, targetType, periodStartAtUtc }: MilestoneItem): number => {
  const length = workout.hidden ? 'YYYY-MM-DD'.length : undefined
  if (SPORTS[workout.sportType] !== sport) return 0
  if (workout.startDateUtc.slice(0, length) < periodStartAtUtc.slice(0, length)) return 0
  return dmOf(targetType === 'DISTANCE_METERS' ? workout.distanceMeters : workout.totalElevationGain)
}

/** Checks that every athlete belongs to at most one person: by its owner, by its claim, and by the open connections. */
const checkOwners = (items: readonly Item[], wrong: Wrong): void => {
  const claimed = items.filter(({ SK }) => SK === claims.prefix).map((item) => item as ClaimItem)
  const claimOf = (ref: string) => claimed.find(({ PK }) => PK === claims.key(ref).PK)
  const owned = items.filter(isOwner).map((item) => item as OwnerItem)
  for (const { ref, userId, PK } of owned)
    if (claimOf(ref)?.userId !== userId) wrong(`${PK} belongs to ${userId}, and the claim to ${claimOf(ref)?.userId}`)
  for (const { PK, userId, athleteId } of claimed)
    if (athleteId !== null && !owned.some((owner) => owner.userId === userId && PK === claims.key(owner.ref).PK))
      wrong(`${PK} belongs to ${userId}, and its athlete has no owner`)
  const linked = items
    .filter(({ SK }) => SK === connections.prefix)
    .map((item) => item as ConnectionItem)
    .filter(({ epoch, closedEpoch, ref }) => ref !== '' && epoch > closedEpoch)
  for (const { ref, PK } of linked)
    if (linked.some((other) => other.ref === ref && other.PK !== PK))
      wrong(`${PK} and another person have linked ${ref}`)
}
