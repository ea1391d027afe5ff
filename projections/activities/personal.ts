import { tokens } from '../access/keys.ts'
import type { Item } from '../item.ts'
import type { AwardItem, ClaimItem, ConnectionItem, MilestoneItem, ProfileItem } from './items.ts'
import {
  accountSubject,
  claims,
  connections,
  isAward,
  ledgerPages,
  ledgers,
  milestones,
  profiles,
  stravaSubject,
  syncs,
} from './keys.ts'

/** The data of a person that a subject seals. */
export interface Scope {
  readonly user: string
  /** True if the data of the account is sealed: the address and the names of tokens. */
  readonly account: boolean
  /** The link whose data from Strava is sealed. 0: none. Infinity: every link. */
  readonly epoch: number
}

/**
 * The scope of a subject: `<user>` seals everything, `<user>~activities` the account, and `<user>~strava~<epoch>` the data from Strava of one link.
 * The imported activities (link 0) are erased together with the data of the first link. Undefined for another subject.
 */
export const scopeOf = (subject: string): Scope => {
  const [user = '', part, epoch = ''] = subject.split('~')
  if (part === undefined) return { user, account: true, epoch: Infinity }
  if (subject === accountSubject(user)) return { user, account: true, epoch: 0 }
  const number = Number(epoch)
  const isLink = Number.isSafeInteger(number) && number >= 0 && subject === stravaSubject(user, number)
  return { user, account: false, epoch: isLink ? Math.max(number, 1) : 0 }
}

/** True if the data of a link is in the scope. */
export const covers = ({ epoch }: Pick<Scope, 'epoch'>, link: number): boolean => epoch === Infinity || epoch === link

/** True if the item contains data from Strava that is sealed with the key of a link in this scope. */
export const holds = (item: Item, scope: Scope): boolean => {
  const { account } = scope
  const { SK } = item
  if (SK === profiles.prefix) return account && (item as ProfileItem).email !== null
  if (SK.startsWith(tokens.prefix)) return account
  if (SK === claims.prefix) return holdsAthlete(item as ClaimItem, scope)
  if (typeof item['epoch'] !== 'number' || !covers(scope, item['epoch'])) return false
  if (SK.startsWith(syncs.prefix) || SK === ledgers.prefix || SK.startsWith(ledgerPages.prefix)) return true
  if (SK === connections.prefix) return hasAthlete(item as ConnectionItem)
  if (isAward(SK)) return !(item as AwardItem).told || (item as AwardItem).progressValueAtAward !== null
  return SK.startsWith(milestones.prefix) && hasNumbers(item as MilestoneItem)
}

const holdsAthlete = ({ userId, epoch, athleteId }: ClaimItem, scope: Scope): boolean =>
  userId === scope.user && covers(scope, epoch) && athleteId !== null

const hasAthlete = ({ athleteId, athleteName, backfill, resync }: ConnectionItem): boolean =>
  [athleteId, athleteName, backfill.before, resync.before].some((value) => value !== null)

const hasNumbers = ({ progressValue, highWaterProgress, _awards }: MilestoneItem): boolean =>
  progressValue !== 0 || highWaterProgress !== 0 || _awards.includes('m')
