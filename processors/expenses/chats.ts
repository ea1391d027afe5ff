import type { ChatLinked, ChatLinkedData, ChatUnlinked } from '../../schemas/generated/expenses.ts'
import { DUPLICATE, NOTHING, type Get, type Result } from '../../projections/projection.ts'
import type { ChatItem } from '../../projections/expenses/items.ts'
import { chatLogKey, chats, isChatId, isId } from '../../projections/expenses/keys.ts'
import { heardBefore, hearing } from '../access/heard.ts'
import type { Work } from '../access/work.ts'

export const linkChat = (work: Work, link: ChatLinkedData): void =>
  work.derive({ purpose: 'chat-linked', event: { type: 'ChatLinked', key: chatLogKey(link.chatId), data: link } })

export const unlinkChat = (work: Work, chatId: string, groupId: string): void =>
  work.derive({ purpose: 'chat-unlinked', event: { type: 'ChatUnlinked', key: chatLogKey(chatId), data: { chatId, groupId } } })

/**
 * A chat is of the group that named it first, until that has moved away. Where Telegram moved a group to it, it is that one's (E-h): it tells
 * of the bot in the new chat as well, and a group may have been made for it before.
 */
export const chatLinked = (event: ChatLinked, get: Get): Result => {
  const { chatId, groupId, moved } = event.data
  if (!isOfChat(event) || !isId(groupId)) return NOTHING
  const before = get(chats.key(chatId))
  if (heardBefore(before?._heard, event)) return DUPLICATE
  return { items: [{ ...chats.key(chatId), chatId, groupId: moved ? groupId : (before?.groupId ?? groupId), _heard: hearing(before?._heard, event) } satisfies ChatItem] }
}

export const chatUnlinked = (event: ChatUnlinked, get: Get): Result => {
  const { chatId, groupId } = event.data
  const before = isOfChat(event) ? get(chats.key(chatId)) : undefined
  if (before === undefined || before.groupId !== groupId) return NOTHING
  if (heardBefore(before._heard, event)) return DUPLICATE
  return { items: [{ ...chats.key(chatId), chatId, groupId: null, _heard: hearing(before._heard, event) } satisfies ChatItem] }
}

const isOfChat = ({ data: { chatId }, meta: { key } }: ChatLinked | ChatUnlinked): boolean => isChatId(chatId) && chatLogKey(chatId) === key
