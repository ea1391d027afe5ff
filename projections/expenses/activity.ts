import { pages, type Page, type Query, type Reader } from '../table.ts'
import { Fault } from '../../schemas/fault.ts'
import type { ExpenseItem, ParticipantItem, ReceivedItem, SettlementItem } from './items.ts'
import { expenses, ofUser, OWES, received, settlements } from './keys.ts'
import { ACTIVITY_INDEX, USER_INDEX } from './table.ts'

/** An entry of a user's activity: an expense that they paid or owe for, or a settlement that they sent or received. */
export type Activity =
  | { readonly kind: 'paid'; readonly item: ExpenseItem }
  | { readonly kind: 'owed'; readonly item: ParticipantItem }
  | { readonly kind: 'sent'; readonly item: SettlementItem }
  | { readonly kind: 'received'; readonly item: ReceivedItem }

const STREAMS = [
  { kind: 'paid', index: ACTIVITY_INDEX, sk: 'GSI3SK', prefix: expenses.prefix },
  { kind: 'owed', index: USER_INDEX, sk: 'GSI1SK', prefix: OWES },
  { kind: 'sent', index: ACTIVITY_INDEX, sk: 'GSI3SK', prefix: settlements.prefix },
  { kind: 'received', index: ACTIVITY_INDEX, sk: 'GSI3SK', prefix: received.prefix },
] as const

interface PositionedActivity {
  /**
   * The instant and the id: the sort key of the index without its prefix. Entries of different groups can have the
   * same sort key.
   */
  readonly sortKey: string
  /** The sort key, the kind of the activity and the group, as one text. It is unique, and its order is the order of time. */
  readonly position: string
  readonly activity: Activity
}

const POSITION = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z#[\w.:@-]{1,64} [a-z]+ [\w.:@-]{1,64}$/

/**
 * A page of the user's activity, the newest first (E22). Merges the four kinds of activity by time. The cursor is the position of the last entry.
 * Throws the fault `bad-cursor` for any other cursor.
 */
export const activityOf = async (
  reader: Reader,
  user: string,
  { limit, cursor }: Pick<Query, 'limit' | 'cursor'>,
): Promise<Page<Activity>> => {
  if (cursor !== undefined && !POSITION.test(cursor))
    throw new Fault('bad-cursor', 'The cursor is not one of this list. Repeat the request without it.')
  const found = (
    await Promise.all(
      STREAMS.map((stream) => activitiesIn(reader, user, stream, { limit, ...(cursor !== undefined && { cursor }) })),
    )
  ).flat()
  const merged = found.sort((a, b) => (a.position > b.position ? -1 : 1))
  const page = merged.slice(0, limit)
  const last = page.at(-1)
  return {
    items: page.map(({ activity }) => activity),
    ...(merged.length > limit && last !== undefined && { cursor: last.position }),
  }
}

const activitiesIn = async (
  reader: Reader,
  user: string,
  { kind, index, sk, prefix }: (typeof STREAMS)[number],
  { limit, cursor }: Pick<Query, 'limit' | 'cursor'>,
): Promise<readonly PositionedActivity[]> => {
  const to = cursor === undefined ? `${prefix}~` : prefix + cursor.slice(0, cursor.indexOf(' '))
  const found: PositionedActivity[] = []
  // Two items more than the limit: one shows that a next page exists, and one can be the item of the cursor, which is skipped.
  for await (const items of pages(reader, {
    index,
    pk: ofUser(user),
    from: prefix,
    to,
    reverse: true,
    limit: limit + 2,
  })) {
    for (const item of items) {
      const sortKey = String(item[sk]).slice(prefix.length)
      const position = `${sortKey} ${kind} ${String(item['groupId'])}`
      if (cursor === undefined || position < cursor)
        found.push({ sortKey, position, activity: { kind, item } as Activity })
    }
    // Items with the same sort key have no fixed order, so all items with the last sort key of the page are read.
    if (found.length > limit && found.at(-1)?.sortKey !== found[limit - 1]?.sortKey) break
  }
  return found
}
