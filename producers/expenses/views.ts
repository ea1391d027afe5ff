import type { GroupItem, MemberItem, ProfileItem } from '../../projections/expenses/items.ts'
import { telegramIdOf } from '../../projections/expenses/keys.ts'
import { bool, integer, text, textOrNull } from '../http/schemas.ts'
import { arrayOf, optional, shape, type Answer } from '../http/shape.ts'

export const person = shape<Pick<ProfileItem, 'id' | 'telegramId' | 'name' | 'username' | 'avatarUrl'>>()({
  id: text,
  telegramId: { type: ['integer', 'null'] },
  name: textOrNull,
  username: textOrNull,
  avatarUrl: textOrNull,
})

/** The view of a person. If there is no profile, the name, the user name and the avatar are null. */
export const profileView = (
  user: string,
  profile: Pick<ProfileItem, 'name' | 'username' | 'avatarUrl'> | undefined,
): Answer =>
  person.view({
    id: user,
    telegramId: telegramIdOf(user),
    name: profile?.name ?? null,
    username: profile?.username ?? null,
    avatarUrl: profile?.avatarUrl ?? null,
  })

export const member = shape<MemberItem>()({
  ...person.fields,
  wallet: textOrNull,
  joinedAt: text,
  leftAt: { ...text, optional: true, description: 'Present while the person is not a member. Their balance stays.' },
  removedAt: {
    ...text,
    optional: true,
    description: 'Present if the owner, or an administrator of the Telegram chat, removed the person.',
  },
})

export const group = shape<GroupItem>()({
  id: text,
  chatId: { ...textOrNull, description: 'Id of the Telegram chat.' },
  title: text,
  currency: { ...text, description: 'The default currency of amounts.' },
  createdAt: text,
  createdBy: optional(textOrNull),
  ownerId: {
    ...textOrNull,
    optional: true,
    description:
      'The member who can hand the group over, remove members and archive it. If the owner leaves, the member who joined first becomes the owner.',
  },
  archivedAt: { ...text, optional: true, description: 'Present while the group is archived: it is read-only.' },
  memberCount: { ...integer, description: 'Number of current members.' },
  simplify: { ...bool, description: 'True if debts are shown with as few payments as possible.' },
})

export const groupWithMembers = shape<GroupItem, [members: readonly MemberItem[]]>()({
  ...group.fields,
  members: { ...arrayOf(member.schema), from: (_group, members) => members.map(member.view) },
})
