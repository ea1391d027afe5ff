import { hash, timingSafeEqual } from 'node:crypto'
import type { Event } from '../../schemas/event.ts'
import type { GroupChatMigratedData, GroupCreatedData, GroupMemberRemovedData, GroupRenamedData, MemberJoinedData, MemberLeftData } from '../../schemas/generated/expenses.ts'
import { chats, TELEGRAM_SOURCE } from '../../projections/expenses/keys.ts'
import { envelope } from '../http/envelope.ts'
import { Problem } from '../http/problem.ts'
import type { Draft } from '../http/route.ts'
import type { Heard, Webhook } from '../http/webhook.ts'
import { derivedId } from '../ids.ts'
import { readUpdate, type Update } from './updates.ts'
import { getAll } from '../../projections/entity.ts'

const HEADER = 'x-telegram-bot-api-secret-token'
/** A message with everything in it, another quoted in it, all in escapes. */
const BODY_LIMIT = 1024 * 1024

/** What happens in the chats that the bot is in. */
export const telegramWebhook = (secret: string | undefined): Webhook => ({
  url: '/webhooks/telegram',
  operationId: 'receiveTelegramUpdate',
  summary: 'Updates of the Telegram bot, with the secret that it was set with.',
  source: TELEGRAM_SOURCE,
  bodyLimit: BODY_LIMIT,
  authenticate: ({ headers }) => {
    if (secret === undefined) throw new Problem(404, 'telegram-not-configured', 'This server takes no updates of Telegram: set TRIBUTARY_TELEGRAM_WEBHOOK_SECRET.')
    const shown = headers[HEADER]
    if (typeof shown !== 'string' || !isSame(shown, secret)) throw new Problem(401, 'webhook-refused', 'The secret of the webhook is missing or wrong: call setWebhook with the secret_token of this server.')
  },
  hear: async (heard) => {
    const update = readUpdate(heard.body)
    return update === undefined || heard.now - update.at > KEPT_MS ? [] : eventsOf(update, heard)
  },
})

/** Telegram keeps an update for a day. What is older comes from nowhere it should, long after folds may have forgotten that they heard it. */
const KEPT_MS = 25 * 60 * 60 * 1000

const isSame = (one: string, other: string): boolean => timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'))

/** The group that is made where the bot is added: the same one however often that is told. */
export const groupOfChat = (chat: string): string => derivedId(TELEGRAM_SOURCE, 'chat', chat)

/** Ids of events are natural: of what was said, or of the update that said it. */
const eventsOf = async (update: Update, heard: Heard): Promise<readonly Event[]> => {
  const { said, chat } = update
  if (said.kind === 'migrated') return migrated(update, said, heard)
  const [group] = await groupsOf(heard, [chat])
  if (said.kind === 'added') return group === undefined ? created(update, heard) : []
  if (group === undefined) return notYet(update, heard)
  const saying = { update, heard, group }
  const of = (...parts: readonly string[]): string => derivedId(TELEGRAM_SOURCE, chat, String(update.id), said.kind, ...parts)
  if (said.kind === 'titled') return [eventOf(saying, of(), { type: 'GroupRenamed', data: { title: said.title } satisfies GroupRenamedData, personal: null })]
  if (said.kind !== 'joined') {
    const data = { userId: said.person.user } satisfies MemberLeftData & GroupMemberRemovedData
    return [eventOf(saying, of(), { type: said.kind === 'left' ? 'MemberLeft' : 'GroupMemberRemoved', data, personal: null })]
  }
  return said.people.map(({ user, profile }) => {
    const event = eventOf(saying, of(user), { type: 'MemberJoined', data: { userId: user, invitation: null, chatId: null } satisfies MemberJoinedData, personal: profile })
    return { ...event, meta: { ...event.meta, subjectId: user } }
  })
}

/** Both chats are told of it, the old one and the new one (E-h): it is one event. */
const migrated = async (update: Update, { from, to }: { readonly from: string; readonly to: string }, heard: Heard): Promise<readonly Event[]> => {
  const [group, there] = await groupsOf(heard, [from, to])
  if (group === undefined) return there === undefined ? notYet(update, heard) : []
  return [eventOf({ update, heard, group }, derivedId(TELEGRAM_SOURCE, 'migrated', from, to), { type: 'GroupChatMigrated', data: { chatId: to } satisfies GroupChatMigratedData, personal: null })]
}

/** A supergroup may be a group that has just moved, of which another update tells at the same time. */
const created = (update: Update, heard: Heard): readonly Event[] => {
  if (update.isSupergroup && heard.now - update.at < MOVING_MS) return notYet(update, heard)
  const { chat, title, by } = update
  const data: GroupCreatedData = { chatId: chat, title: title === '' ? chat : title, currency: 'TON' }
  const event = eventOf({ update, heard, group: groupOfChat(chat) }, derivedId(TELEGRAM_SOURCE, 'created', chat), { type: 'GroupCreated', data, personal: by?.profile ?? null })
  return [{ ...event, meta: { ...event.meta, subjectId: by?.user ?? null } }]
}

const MOVING_MS = 5_000
/** So long a group that was just made, or moved, may take to be seen. */
const SEEN_MS = 30_000

/** Telegram sends again what is not answered 200. A chat that has no group even then is none of ours. */
const notYet = ({ at }: Update, { now }: Heard): readonly Event[] => {
  if (now - at < SEEN_MS) throw new Problem(503, 'not-yet-visible', 'The group of this chat is not there to see, and may be soon: send the update again.', { retryAfter: 1 })
  return []
}

const groupsOf = async ({ reader }: Heard, ids: readonly string[]): Promise<readonly (string | undefined)[]> => (await getAll(reader, ids.map((id) => chats.key(id)))).map((chat) => chat?.groupId ?? undefined)

interface Saying {
  readonly update: Update
  readonly heard: Heard
  readonly group: string
}

const eventOf = ({ update: { at, by }, heard: { now, correlationId }, group }: Saying, eventId: string, draft: Draft): Event => ({
  ...draft,
  meta: { ...envelope({ eventId, user: by?.user ?? '', key: group, now, source: TELEGRAM_SOURCE, correlationId }), occurredAt: Math.min(at, now), actorId: by?.user ?? null, subjectId: null },
})
