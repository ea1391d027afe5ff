import type { ClaimItem, MilestoneItem, WorkoutItem } from '../../projections/activities/items.ts'
import {
  claims,
  isAward,
  isOwner,
  ledgerPages,
  ledgers,
  milestones,
  syncs,
  workouts,
} from '../../projections/activities/keys.ts'
import type { Item, Key } from '../../projections/item.ts'
import type { Change, Get } from '../../projections/projection.ts'
import type { Bug } from '../../simulation/bug.ts'
import { rulesOf, type Fold } from '../../simulation/bug-rules.ts'

const { ruling, writing } = rulesOf('activities')

/** Returns a bug: the folds of one event type read changed items. */
const finding = (type: string, change: (item: Item | undefined, key: Key) => Item | undefined): Bug =>
  ruling((fold, each): Fold =>
    each === type
      ? (event, get) =>
          fold(event, (<I extends Item>(key: Key) => change(get(key), key) as I | undefined) satisfies Get)
      : fold,
  )

const isMilestone = ({ SK }: Key): boolean => SK.startsWith(milestones.prefix) && !isAward(SK)

/** Returns a bug: the folds of these event types do not write the items that `isLost` selects. */
const dropping = (isLost: (item: Change) => boolean, types: readonly string[]): Bug =>
  writing((item) => (isLost(item) ? [] : [item]), types)

/** Returns a bug: the folds write changed milestones. */
const miscounting = (change: (milestone: MilestoneItem) => Partial<MilestoneItem>): Bug =>
  writing((item) =>
    isMilestone(item) && !('_removed' in item) ? [{ ...item, ...change(item as Item as MilestoneItem) }] : [item],
  )

export const ACTIVITIES_BUGS: Readonly<Record<string, Bug>> = {
  'a deleted activity stays in the ledger': dropping(
    ({ SK }) => SK.startsWith(ledgerPages.prefix),
    ['StravaWebhookReceived', 'ActivityFetchFailed'],
  ),
  'a deleted activity still counts': dropping(isMilestone, ['StravaWebhookReceived', 'ActivityFetchFailed']),
  'an older request replaces a newer one': finding('ActivityFetched', (item, { SK }) =>
    SK.startsWith(workouts.prefix) && item !== undefined && !(item as WorkoutItem).isDeleted
      ? { ...item, eventTime: 0 }
      : item,
  ),
  'a fetched activity counts again': finding('ActivityFetched', (item, { SK }) =>
    SK.startsWith(workouts.prefix) ? undefined : item,
  ),
  'an activity comes back after its deletion': finding('ActivityFetched', (item, { SK }) =>
    SK.startsWith(syncs.prefix) && item !== undefined ? { ...item, deleted: null, gaveUp: null } : item,
  ),
  'a new milestone ignores earlier activities': finding('MilestoneCreated', (item, { SK }) =>
    SK === ledgers.prefix ? undefined : item,
  ),
  'a milestone loses awards with its progress': miscounting(({ partsEarned }) => ({ partsAwardedCount: partsEarned })),
  'the highest progress falls with the progress': miscounting(({ progressValue }) => ({
    highWaterProgress: progressValue,
  })),
  'two people own one athlete': finding('StravaAthleteClaimed', (item, { SK }) =>
    SK === claims.prefix && item !== undefined ? ({ ...item, userId: null } as ClaimItem) : item,
  ),
  'the owner of an athlete stays when the claim is released': dropping(isOwner, ['StravaAthleteReleased']),
  'the data of an activity stays after its person is forgotten': {
    options: { domain: 'activities', moves: [] },
    detectedBy: 'C8',
    domain: (domain) => ({
      ...domain,
      ...(domain.personal && {
        personal: {
          ...domain.personal,
          hasPersonalData: (item, subject) =>
            !item.SK.startsWith(syncs.prefix) && domain.personal?.hasPersonalData(item, subject) === true,
        },
      }),
    }),
  },
}
