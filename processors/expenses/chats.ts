import type { ChatLinked, ChatLinkedData, ChatUnlinked } from '../../schemas/generated/expenses.ts'
import { DUPLICATE, NOTHING, type Get, type Result } from '../../projections/projection.ts'
import type { ChatItem } from '../../projections/expenses/items.ts'
import { chatLogKey, chats, isChatId, isId } from '../../projections/expenses/keys.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import type { Work } from '../folding/work.ts'

export const linkChat = (work: Work, link: ChatLinkedData): void =>
  work.derive({ purpose: 'chat-linked', event: { type: 'ChatLinked', key: chatLogKey(link.chatId), data: link } })

export const unlinkChat = (work: Work, chatId: string, groupId: string): void =>
  work.derive({
    purpose: 'chat-unlinked',
    event: { type: 'ChatUnlinked', key: chatLogKey(chatId), data: { chatId, groupId } },
  })

/**
 * Links a chat to a group. A chat belongs to the first group that named it, until that group moves to another chat. If
 * Telegram moved a group to this chat, the chat belongs to the moved group (E-h). Another group can already exist for
 * the chat, because Telegram also reports that the bot is in the new chat.
 */
export const chatLinked = (event: ChatLinked, get: Get): Result => {
  const { chatId, groupId, moved } = event.data
  if (!isOfChat(event) || !isId(groupId)) return NOTHING
  const before = get(chats.key(chatId))
  if (hasApplied(before?._heard, event)) return DUPLICATE
  return {
    items: [
      {
        ...chats.key(chatId),
        chatId,
        groupId: moved ? groupId : (before?.groupId ?? groupId),
        _heard: withApplied(before?._heard, event),
      } satisfies ChatItem,
    ],
  }
}

export const chatUnlinked = (event: ChatUnlinked, get: Get): Result => {
  const { chatId, groupId } = event.data
  const before = isOfChat(event) ? get(chats.key(chatId)) : undefined
  if (before === undefined || before.groupId !== groupId) return NOTHING
  if (hasApplied(before._heard, event)) return DUPLICATE
  return {
    items: [
      { ...chats.key(chatId), chatId, groupId: null, _heard: withApplied(before._heard, event) } satisfies ChatItem,
    ],
  }
}

const isOfChat = ({ data: { chatId }, meta: { key } }: ChatLinked | ChatUnlinked): boolean =>
  isChatId(chatId) && chatLogKey(chatId) === key
