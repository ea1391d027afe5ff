import { inUser, userIn } from '../access/keys.ts'
import { partition, type KeyOf } from '../entity.ts'
import type { Item, Key } from '../item.ts'
import type {
  AwardItem,
  ClaimItem,
  ConnectionItem,
  GoneProfileItem,
  LedgerItem,
  LedgerPageItem,
  MilestoneItem,
  MilestonePartsItem,
  MilestonesItem,
  ModelItem,
  ModelPartItem,
  OwnerItem,
  ProfileItem,
  SagaItem,
  SyncItem,
  WebhookItem,
  WorkoutItem,
} from './items.ts'

/**
 * The entities of the activities table. Ids of users, milestones and models contain no `#`, and ids of Strava are digits. So two different
 * items never have the same key.
 */

export const profiles = inUser<ProfileItem>('profile', 'PROFILE')
export const goneProfiles = inUser<GoneProfileItem>('deleted account', 'GONE#PROFILE')
export const connections = inUser<ConnectionItem>('connection', 'STRAVA#CONNECTION')
export const workouts = inUser<WorkoutItem, [activityId: string]>('workout', 'WORKOUT#STRAVA#')
export const syncs = inUser<SyncItem, [ref: string]>('sync', 'SYNC#')
/** `month` is YYYY-MM. Further pages of a month are `YYYY-MM#02` and so on. */
export const ledgerPages = inUser<LedgerPageItem, [page: string]>('ledger month', 'LEDGER#')
export const ledgers = inUser<LedgerItem>('ledger', 'LEDGER')
export const milestoneLists = inUser<MilestonesItem>('milestones', 'MILESTONES')
export const milestones = inUser<MilestoneItem, [milestone: string]>('milestone', 'MILESTONE#')
export const milestoneParts = inUser<MilestonePartsItem, [milestone: string]>('milestone parts', 'PARTS#')
export const sagas = inUser<SagaItem>('saga', 'SAGA')

const AWARD = 'AWARD#'
const awardsOf = inUser<AwardItem, [milestone: string, part: string]>('award', milestones.prefix)

/** The awards of a milestone. The number of the part has two digits, so that the order of the keys is the order of the parts. */
export const awardKey = (user: string, milestone: string, part: number): KeyOf<AwardItem> =>
  awardsOf.key(user, milestone, `${AWARD}${twoDigits(part)}`)

/** Selects the awards of a milestone for `awardItems.every`. */
export const awardItems = {
  ...awardsOf,
  of: (milestone: string) => ({ under: milestone, from: AWARD, to: `${AWARD}99` }),
}

export const isAward = (sk: string): boolean => sk.startsWith(milestones.prefix) && sk.includes(`#${AWARD}`)

export const twoDigits = (number: number): string => String(number).padStart(2, '0')

const WEBHOOK = 'IDEMPOTENCY#STRAVA#EVT#'

export interface WebhookName {
  readonly objectType: string
  readonly aspect: string
  readonly ref: string
  readonly eventTime: number
  readonly updatesHash: string
}

const ofWebhook = partition(
  WEBHOOK,
  (user: string, { objectType, aspect, ref, eventTime, updatesHash }: WebhookName) =>
    `${WEBHOOK}${user}#${objectType}#${aspect}#${ref}#${eventTime}#${updatesHash.slice(0, 8)}`,
)
export const webhooks = ofWebhook<WebhookItem>('webhook', 'META')

/** The log key of an athlete. */
export const athleteKey = (ref: string): string => `${ATHLETE}${ref}`
/** The log key of a model. */
export const modelKey = (model: string): string => `${MODEL}${model}`
const ATHLETE = 'athlete:'
const MODEL = 'model:'
/** The pseudonym in the log key of an athlete. Undefined for other keys. */
export const refIn = (key: string): string | undefined =>
  key.startsWith(ATHLETE) ? key.slice(ATHLETE.length) : undefined
/** The id in the log key of a model. Undefined for other keys. */
export const modelIn = (key: string): string | undefined =>
  key.startsWith(MODEL) ? key.slice(MODEL.length) : undefined

const CLAIM = 'STRAVA#CLAIM#'
const OWNER = 'STRAVA#ATHLETE#'
export const claims = partition(CLAIM, (ref: string) => `${CLAIM}${ref}`)<ClaimItem>('claim', 'CLAIM')
/** The partition of an athlete. The connection of the owner has it as its GSI1PK. */
export const athletePartition = (athleteId: string): string => `${OWNER}${athleteId}`
export const isOwner = ({ PK }: Key): boolean => PK.startsWith(OWNER)
export const owners = partition(OWNER, athletePartition)<OwnerItem>('owner of an athlete', 'OWNER')

const MODEL_PARTITION = 'MODEL#'
const ofModel = partition(MODEL_PARTITION, (model: string) => `${MODEL_PARTITION}${model}`)
export const models = ofModel<ModelItem>('model', 'META')
export const modelParts = ofModel<ModelPartItem, [part: string]>('model part', 'PART#')

/** The log key of the items in a partition. The key of an OWNER item is in the item, because its partition contains the athlete's id. */
export const logKeyOf = (pk: string, item?: Item): string | undefined => {
  if (pk.startsWith(CLAIM)) return athleteKey(pk.slice(CLAIM.length))
  if (pk.startsWith(OWNER)) return typeof item?.['ref'] === 'string' ? athleteKey(item['ref']) : undefined
  if (pk.startsWith(MODEL_PARTITION)) return modelKey(pk.slice(MODEL_PARTITION.length))
  if (pk.startsWith(WEBHOOK)) return pk.slice(WEBHOOK.length).split('#')[0]
  return userIn(pk)
}

/** The part of a person that seals the data of the account. */
export const accountSubject = (user: string): string => `${user}~activities`
/** The part of a person that seals the data from Strava of one link. */
export const stravaSubject = (user: string, epoch: number): string => `${user}~strava~${epoch}`
