import { memberOf, textMember } from '../../json-member.ts'
import { line, telegramUser, type TelegramUser } from './person.ts'

/** A change of a group's chat. `added`: the bot was added to the chat. */
type ChatChange =
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
  /** The person who made the change. Undefined for an anonymous administrator or a bot. */
  readonly by: TelegramUser | undefined
  readonly change: ChatChange
}

/** Reads an update of Telegram. Undefined if it reports none of the changes in `ChatChange`, or if the chat is not a group. */
export const readUpdate = (body: unknown): Update | undefined => {
  const [message, added] = [memberOf(body, 'message'), memberOf(body, 'my_chat_member')]
  const report = message ?? added
  const [id, date, chat] = [memberOf(body, 'update_id'), memberOf(report, 'date'), memberOf(report, 'chat')]
  const [chatId, type] = [idOf(memberOf(chat, 'id')), textMember(chat, 'type')]
  const change = message === undefined ? changeOfBot(added) : changeIn(message, chatId)
  if (
    change === undefined ||
    chatId === '' ||
    (type !== 'group' && type !== 'supergroup') ||
    !isWhole(id) ||
    !isWhole(date)
  )
    return undefined
  const by = telegramUser(memberOf(report, 'from'))
  return {
    id,
    at: date * 1000,
    chat: chatId,
    isSupergroup: type === 'supergroup',
    title: titleOf(textMember(chat, 'title')),
    by: by?.isBot === true ? undefined : by,
    change,
  }
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** The id of a chat as text. Ids of groups are below zero. An empty text if the value is not an id. */
const idOf = (value: unknown): string => (Number.isSafeInteger(value) && value !== 0 ? String(value) : '')

const MOST_TITLE = 200

const titleOf = (text: string): string => line(text).slice(0, MOST_TITLE).toWellFormed()

/** Returns the change if the bot was added to the chat. Undefined otherwise, for example if only the rights of the bot have changed. */
const changeOfBot = (added: unknown): ChatChange | undefined =>
  !isIn(memberOf(added, 'old_chat_member')) && isIn(memberOf(added, 'new_chat_member')) ? { kind: 'added' } : undefined

const isIn = (member: unknown): boolean => {
  const status = textMember(member, 'status')
  return (
    ['creator', 'administrator', 'member'].includes(status) ||
    (status === 'restricted' && memberOf(member, 'is_member') === true)
  )
}

const changeIn = (message: unknown, chat: string): ChatChange | undefined => {
  const [to, from] = [idOf(memberOf(message, 'migrate_to_chat_id')), idOf(memberOf(message, 'migrate_from_chat_id'))]
  if (to !== '' || from !== '') return { kind: 'migrated', from: from === '' ? chat : from, to: to === '' ? chat : to }
  const joined = memberOf(message, 'new_chat_members')
  const people = Array.isArray(joined)
    ? joined.flatMap((each) => telegramUser(each) ?? []).filter(({ isBot }) => !isBot)
    : []
  if (people.length > 0) return { kind: 'joined', people }
  const person = telegramUser(memberOf(message, 'left_chat_member'))
  // The sender of the message is the person who left, or the administrator who removed this person.
  const sender = telegramUser(memberOf(message, 'from'))
  if (person?.isBot === false)
    return { kind: sender === undefined || sender.user === person.user ? 'left' : 'removed', person }
  const title = titleOf(textMember(message, 'new_chat_title'))
  return title === '' ? undefined : { kind: 'titled', title }
}
