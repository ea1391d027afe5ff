import { part, textIn } from '../part.ts'
import { line, telegramUser, type TelegramUser } from './person.ts'

/** What an update says of a group's chat. */
type Said =
  | { readonly kind: 'added' }
  | { readonly kind: 'joined'; readonly people: readonly TelegramUser[] }
  | { readonly kind: 'left' | 'removed'; readonly person: TelegramUser }
  | { readonly kind: 'titled'; readonly title: string }
  | { readonly kind: 'migrated'; readonly from: string; readonly to: string }

export interface Update {
  readonly id: number
  /** Epoch milliseconds. */
  readonly at: number
  readonly chat: string
  readonly isSupergroup: boolean
  readonly title: string
  /** Who did it; undefined where that is no person, such as an anonymous admin. */
  readonly by: TelegramUser | undefined
  readonly said: Said
}

/** Undefined where it is nothing to us: all else that is written in a chat, and other chats than groups. */
export const readUpdate = (body: unknown): Update | undefined => {
  const [message, added] = [part(body, 'message'), part(body, 'my_chat_member')]
  const told = message ?? added
  const [id, date, chat] = [part(body, 'update_id'), part(told, 'date'), part(told, 'chat')]
  const [chatId, type] = [idOf(part(chat, 'id')), textIn(chat, 'type')]
  const said = message === undefined ? saidOfBot(added) : saidIn(message, chatId)
  if (said === undefined || chatId === '' || (type !== 'group' && type !== 'supergroup') || !isWhole(id) || !isWhole(date)) return undefined
  const by = telegramUser(part(told, 'from'))
  return { id, at: date * 1000, chat: chatId, isSupergroup: type === 'supergroup', title: titleOf(textIn(chat, 'title')), by: by?.isBot === true ? undefined : by, said }
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** Telegram numbers groups below zero. */
const idOf = (value: unknown): string => (Number.isSafeInteger(value) && value !== 0 ? String(value) : '')

const MOST_TITLE = 200

const titleOf = (text: string): string => line(text).slice(0, MOST_TITLE).toWellFormed()

/** The bot itself is in a chat in which it was not. */
const saidOfBot = (added: unknown): Said | undefined => (!isIn(part(added, 'old_chat_member')) && isIn(part(added, 'new_chat_member')) ? { kind: 'added' } : undefined)

const isIn = (member: unknown): boolean => {
  const status = textIn(member, 'status')
  return ['creator', 'administrator', 'member'].includes(status) || (status === 'restricted' && part(member, 'is_member') === true)
}

const saidIn = (message: unknown, chat: string): Said | undefined => {
  const [to, from] = [idOf(part(message, 'migrate_to_chat_id')), idOf(part(message, 'migrate_from_chat_id'))]
  if (to !== '' || from !== '') return { kind: 'migrated', from: from === '' ? chat : from, to: to === '' ? chat : to }
  const joined = part(message, 'new_chat_members')
  const people = Array.isArray(joined) ? joined.flatMap((each) => telegramUser(each) ?? []).filter(({ isBot }) => !isBot) : []
  if (people.length > 0) return { kind: 'joined', people }
  const person = telegramUser(part(message, 'left_chat_member'))
  // The sender of the report is the person who left, or the administrator who removed them.
  const sender = telegramUser(part(message, 'from'))
  if (person?.isBot === false) return { kind: sender === undefined || sender.user === person.user ? 'left' : 'removed', person }
  const title = titleOf(textIn(message, 'new_chat_title'))
  return title === '' ? undefined : { kind: 'titled', title }
}
