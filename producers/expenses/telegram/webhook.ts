import { hash, timingSafeEqual } from 'node:crypto'
import type { Event } from '../../../schemas/event.ts'
import type {
  GroupChatMigratedData,
  GroupCreatedData,
  GroupMemberRemovedData,
  GroupRenamedData,
  MemberJoinedData,
  MemberLeftData,
} from '../../../schemas/generated/expenses.ts'
import { chats, TELEGRAM_SOURCE } from '../../../projections/expenses/keys.ts'
import { eventMeta } from '../../http/event-meta.ts'
import { Problem } from '../../http/problem.ts'
import type { Draft } from '../../http/route.ts'
import type { WebhookCall, Webhook } from '../../http/webhook.ts'
import { derivedId } from '../../ids.ts'
import { readUpdate, type Update } from './updates.ts'
import { getAll } from '../../../projections/entity.ts'

const HEADER = 'x-telegram-bot-api-secret-token'
/** In bytes. This is enough for the longest message that quotes another message, even if the JSON escapes every character. */
const BODY_LIMIT = 1024 * 1024

/** Receives the updates of the chats of which the bot is a member. */
export const telegramWebhook = (secret: string | undefined): Webhook => ({
  url: '/webhooks/telegram',
  operationId: 'receiveTelegramUpdate',
  summary: 'Receive an update of the Telegram bot. Requires the secret of setWebhook.',
  source: TELEGRAM_SOURCE,
  bodyLimit: BODY_LIMIT,
  authenticate: ({ headers }) => {
    if (secret === undefined)
      throw new Problem(
        404,
        'telegram-not-configured',
        'This server accepts no updates of Telegram. Set TRIBUTARY_TELEGRAM_WEBHOOK_SECRET.',
      )
    const shown = headers[HEADER]
    if (typeof shown !== 'string' || !isSame(shown, secret))
      throw new Problem(
        401,
        'webhook-refused',
        'The secret of the webhook is missing or wrong. Call setWebhook with the secret_token of this server.',
      )
  },
  eventsOf: async (call) => {
    const update = readUpdate(call.body)
    return update === undefined || call.now - update.at > RETENTION_MS ? [] : eventsOf(update, call)
  },
})

/**
 * Older updates are ignored. Telegram stores an update for a day, so an older update is not from Telegram. And the folds may no longer recognise
 * its events as duplicates.
 */
const RETENTION_MS = 25 * 60 * 60 * 1000

const isSame = (given: string, secret: string): boolean =>
  timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', secret, 'buffer'))

/** Returns the id of the group for a chat. It is derived from the chat, so all updates about the chat give the same group. */
export const groupOfChat = (chat: string): string => derivedId(TELEGRAM_SOURCE, 'chat', chat)

/**
 * Returns the events of an update. Their ids are derived from the content of the update, so a repeated update gives the
 * same ids.
 */
const eventsOf = async (update: Update, call: WebhookCall): Promise<readonly Event[]> => {
  const { change, chat } = update
  if (change.kind === 'migrated') return migrated(update, change, call)
  const [group] = await groupsOf(call, [chat])
  if (change.kind === 'added') return group === undefined ? created(update, call) : []
  if (group === undefined) return retryUntilVisible(update, call)
  const context = { update, call, group }
  const of = (...parts: readonly string[]): string =>
    derivedId(TELEGRAM_SOURCE, chat, String(update.id), change.kind, ...parts)
  if (change.kind === 'titled')
    return [
      eventOf(context, of(), {
        type: 'GroupRenamed',
        data: { title: change.title } satisfies GroupRenamedData,
        personal: null,
      }),
    ]
  if (change.kind !== 'joined') {
    const data = { userId: change.person.user } satisfies MemberLeftData & GroupMemberRemovedData
    return [
      eventOf(context, of(), {
        type: change.kind === 'left' ? 'MemberLeft' : 'GroupMemberRemoved',
        data,
        personal: null,
      }),
    ]
  }
  return change.people.map(({ user, profile }) => {
    const event = eventOf(context, of(user), {
      type: 'MemberJoined',
      data: { userId: user, invitation: null, chatId: null } satisfies MemberJoinedData,
      personal: profile,
    })
    return { ...event, meta: { ...event.meta, subjectId: user } }
  })
}

/**
 * If a group becomes a supergroup, its chat moves to a new id. Telegram sends one update for the old chat and one for the new chat (E-h). Both
 * updates give the same event. If the new chat has the group already, returns no event.
 */
const migrated = async (
  update: Update,
  { from, to }: { readonly from: string; readonly to: string },
  call: WebhookCall,
): Promise<readonly Event[]> => {
  const [group, newGroup] = await groupsOf(call, [from, to])
  if (group === undefined) return newGroup === undefined ? retryUntilVisible(update, call) : []
  return [
    eventOf({ update, call, group }, derivedId(TELEGRAM_SOURCE, 'migrated', from, to), {
      type: 'GroupChatMigrated',
      data: { chatId: to } satisfies GroupChatMigratedData,
      personal: null,
    }),
  ]
}

/**
 * Returns the event that creates the group of a chat. A supergroup that seems new can be a group that has just become a supergroup. Another update
 * reports this at about the same time. So for the first 5 seconds, throws to make Telegram send the update again later.
 */
const created = (update: Update, call: WebhookCall): readonly Event[] => {
  if (update.isSupergroup && call.now - update.at < MOVING_MS) return retryUntilVisible(update, call)
  const { chat, title, by } = update
  const data: GroupCreatedData = { chatId: chat, title: title === '' ? chat : title, currency: 'TON' }
  const event = eventOf({ update, call, group: groupOfChat(chat) }, derivedId(TELEGRAM_SOURCE, 'created', chat), {
    type: 'GroupCreated',
    data,
    personal: by?.profile ?? null,
  })
  return [{ ...event, meta: { ...event.meta, subjectId: by?.user ?? null } }]
}

const MOVING_MS = 5_000
/** The maximum time after an update until a new or moved group is visible to queries. */
const SEEN_MS = 30_000

/**
 * For an update whose group was not found. The group can be new and not readable yet, so this throws until the update is `SEEN_MS` old, and Telegram
 * sends the update again. After that time the chat certainly has no group on this server, and this returns no events.
 */
const retryUntilVisible = ({ at }: Update, { now }: WebhookCall): readonly Event[] => {
  if (now - at < SEEN_MS)
    throw new Problem(503, 'not-yet-visible', 'The group of this chat is not visible yet. Send the update again.', {
      retryAfter: 1,
    })
  return []
}

const groupsOf = async ({ reader }: WebhookCall, ids: readonly string[]): Promise<readonly (string | undefined)[]> =>
  (
    await getAll(
      reader,
      ids.map((id) => chats.key(id)),
    )
  ).map((chat) => chat?.groupId ?? undefined)

interface EventContext {
  readonly update: Update
  readonly call: WebhookCall
  readonly group: string
}

const eventOf = (
  { update: { at, by }, call: { now, correlationId }, group }: EventContext,
  eventId: string,
  draft: Draft,
): Event => ({
  ...draft,
  meta: {
    ...eventMeta({ eventId, user: by?.user ?? '', key: group, now, source: TELEGRAM_SOURCE, correlationId }),
    occurredAt: Math.min(at, now),
    actorId: by?.user ?? null,
    subjectId: null,
  },
})
