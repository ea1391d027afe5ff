import type { GroupItem, MemberItem, ProfileItem } from '../../projections/expenses/items.ts'
import { telegramIdOf } from '../../projections/expenses/keys.ts'
import { bool, integer, text, textOrNull } from '../http/schemas.ts'

export const personSchema = {
  type: 'object',
  required: ['id', 'telegramId', 'name', 'username', 'avatarUrl'],
  properties: { id: text, telegramId: { type: ['integer', 'null'] }, name: textOrNull, username: textOrNull, avatarUrl: textOrNull },
} as const

/** Before anything was heard of them, they are known by their id alone. */
export const profileView = (user: string, profile: Pick<ProfileItem, 'name' | 'username' | 'avatarUrl'> | undefined) => ({
  id: user,
  telegramId: telegramIdOf(user),
  name: profile?.name ?? null,
  username: profile?.username ?? null,
  avatarUrl: profile?.avatarUrl ?? null,
})

export const memberSchema = {
  type: 'object',
  required: [...personSchema.required, 'wallet', 'joinedAt'],
  properties: {
    ...personSchema.properties, wallet: textOrNull, joinedAt: text,
    leftAt: { ...text, description: 'Present while the person is not a member. Their balance stays.' },
    removedAt: { ...text, description: 'Present if the owner, or an administrator of the Telegram chat, removed the person.' },
  },
} as const

export const memberView = ({ id, telegramId, name, username, avatarUrl, wallet, joinedAt, leftAt, removedAt }: MemberItem) =>
  ({ id, telegramId, name, username, avatarUrl, wallet, joinedAt, leftAt, removedAt })

const groupProperties = {
  id: text,
  chatId: { ...textOrNull, description: 'Of the Telegram chat.' },
  title: text,
  currency: { ...text, description: 'What amounts are in unless told.' },
  createdAt: text,
  createdBy: textOrNull,
  ownerId: { ...textOrNull, description: 'The member who can hand the group over, remove members and archive it. If the owner leaves, the member who joined first becomes the owner.' },
  archivedAt: { ...text, description: 'Present while the group is archived: it is read-only.' },
  memberCount: { ...integer, description: 'Without those who left.' },
  simplify: { ...bool, description: 'Whether debts are shown with as few payments as can be.' },
} as const

export const groupSchema = { type: 'object', required: ['id', 'chatId', 'title', 'currency', 'createdAt', 'memberCount', 'simplify'], properties: groupProperties } as const

export const groupView = ({ id, chatId, title, currency, createdAt, createdBy, ownerId, archivedAt, memberCount, simplify }: GroupItem) =>
  ({ id, chatId, title, currency, createdAt, createdBy, ownerId, archivedAt, memberCount, simplify })

export const groupWithMembersSchema = { ...groupSchema, required: [...groupSchema.required, 'members'], properties: { ...groupProperties, members: { type: 'array', items: memberSchema } } } as const

export const groupWithMembersView = (group: GroupItem, members: readonly MemberItem[]) => ({ ...groupView(group), members: members.map(memberView) })
