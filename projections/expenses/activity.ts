import type { Item } from '../item.ts'
import type { Page, Query, Reader } from '../table.ts'
import { Fault } from '../../schemas/fault.ts'
import type { ExpenseItem, ParticipantItem, ReceivedItem, SettlementItem } from './items.ts'
import { EXPENSES, ofUser, OWES, RECEIVED, SETTLEMENTS } from './keys.ts'
import { ACTIVITY_INDEX, USER_INDEX } from './table.ts'

/** What a user paid, owes, sent or received. */
export type Activity =
  | { readonly kind: 'paid'; readonly item: ExpenseItem }
  | { readonly kind: 'owed'; readonly item: ParticipantItem }
  | { readonly kind: 'sent'; readonly item: SettlementItem }
  | { readonly kind: 'received'; readonly item: ReceivedItem }

const STREAMS = [
  { kind: 'paid', index: ACTIVITY_INDEX, sk: 'GSI3SK', prefix: EXPENSES },
  { kind: 'owed', index: USER_INDEX, sk: 'GSI1SK', prefix: OWES },
  { kind: 'sent', index: ACTIVITY_INDEX, sk: 'GSI3SK', prefix: SETTLEMENTS },
  { kind: 'received', index: ACTIVITY_INDEX, sk: 'GSI3SK', prefix: RECEIVED },
] as const

interface Placed {
  /** The instant and the id, then which stream: unique, and in the order of time. */
  readonly place: string
  readonly activity: Activity
}

const PLACE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z#[\w.:@-]{1,64} [a-z]+$/

/** Four streams merged by time (E22), the newest first; the cursor is the last place. */
export const activityOf = async (reader: Reader, user: string, { limit, cursor }: Pick<Query, 'limit' | 'cursor'>): Promise<Page<Activity>> => {
  if (cursor !== undefined && !PLACE.test(cursor)) throw new Fault('bad-cursor', 'That is no cursor of a user’s activity. Ask again without one.')
  const found = (await Promise.all(STREAMS.map((stream) => placedIn(reader, user, stream, { limit, ...(cursor !== undefined && { cursor }) })))).flat()
  const merged = found.sort((a, b) => (a.place > b.place ? -1 : 1))
  const page = merged.slice(0, limit)
  const last = page.at(-1)
  return { items: page.map(({ activity }) => activity), ...(merged.length > limit && last !== undefined && { cursor: last.place }) }
}

const placedIn = async (reader: Reader, user: string, { kind, index, sk, prefix }: (typeof STREAMS)[number], { limit, cursor }: Pick<Query, 'limit' | 'cursor'>): Promise<readonly Placed[]> => {
  // One more than asked for tells whether there are more, and another is the cursor's own.
  const to = cursor === undefined ? `${prefix}~` : prefix + cursor.slice(0, cursor.indexOf(' '))
  const { items } = await reader.query({ index, pk: ofUser(user), from: prefix, to, reverse: true, limit: limit + 2 })
  const placed = items.map((item: Item) => ({ place: `${String(item[sk]).slice(prefix.length)} ${kind}`, activity: { kind, item } as Activity }))
  return placed.filter(({ place }) => cursor === undefined || place < cursor)
}
