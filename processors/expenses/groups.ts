import type {
  GroupChatMigrated,
  GroupCreated,
  GroupCurrencyChanged,
  GroupRenamed,
  GroupSettingsChanged,
} from '../../schemas/generated/expenses.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { EntryKind, GroupItem } from '../../projections/expenses/items.ts'
import { groups, isChatId, isId } from '../../projections/expenses/keys.ts'
import { refuse } from '../../projections/expenses/refusals.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { startWork, type Work } from '../folding/work.ts'
import { linkChat, unlinkChat } from './chats.ts'
import { addEntry } from './entries.ts'
import { memberOf } from './members.ts'
import { NAMELESS, profileIn, deriveProfile } from './profiles.ts'
import { changeableGroup, isImported } from './rights.ts'
import { enroll } from './roster.ts'

/**
 * Creates a group. The creator is its first member (E5, E6) and its owner. An import only stores the creator's id:
 * its other rows name the members and the owner.
 */
export const groupCreated = (event: GroupCreated, get: Get): Result => {
  const {
    data: { chatId, title, currency },
    meta,
  } = event
  const createdBy = meta.subjectId ?? meta.actorId
  const creator = isImported(event) ? null : createdBy
  if (
    !isId(meta.key) ||
    !isTitle(title) ||
    !isCurrency(currency) ||
    (chatId !== null && !isChatId(chatId)) ||
    (createdBy !== null && !isId(createdBy))
  )
    return invalid
  const known = get(groups.key(meta.key))
  if (hasApplied(known?._heard, event)) return DUPLICATE
  if (known !== undefined)
    return refuse('group-exists', `There is a group ${meta.key} already; change it, or choose another id.`)
  const [work, at] = [startWork(get), isoOf(meta.occurredAt)]
  const group: GroupItem = {
    ...groups.key(meta.key),
    id: meta.key,
    chatId,
    title,
    currency,
    createdAt: at,
    createdBy,
    ownerId: creator,
    memberCount: creator === null ? 0 : 1,
    simplify: true,
    _heard: withApplied(undefined, event),
  }
  work.put(group)
  if (creator !== null) {
    work.put({
      ...memberOf(meta.key, creator, at),
      ...(profileIn(event, creator) ?? NAMELESS),
      _heard: withApplied(undefined, event),
    })
    enroll(work, meta.key, creator, at)
    deriveProfile(work, event, creator)
  }
  // A person could name the chat of another group. Then the members of this chat would join the new group. So the edge
  // cannot link a chat: only events from Telegram and imports do.
  if (chatId !== null && meta.source !== 'edge') linkChat(work, { chatId, groupId: meta.key, moved: false })
  addEntry(work, event, 'group-created', { title, currency })
  return work.result()
}

/** Renames a group. Items that were written before keep the old title (E-k). */
export const groupRenamed = (event: GroupRenamed, get: Get): Result =>
  changeGroup(event, get, {
    kind: 'group-renamed',
    isValid: isTitle(event.data.title),
    to: () => ({ title: event.data.title }),
  })

/** Changes the currency of a group. Amounts are not converted (E-c). */
export const groupCurrencyChanged = (event: GroupCurrencyChanged, get: Get): Result =>
  changeGroup(event, get, {
    kind: 'currency-changed',
    isValid: isCurrency(event.data.currency),
    to: () => ({ currency: event.data.currency }),
  })

export const groupSettingsChanged = (event: GroupSettingsChanged, get: Get): Result =>
  changeGroup(event, get, { kind: 'settings-changed', isValid: true, to: () => ({ simplify: event.data.simplify }) })

/** Moves a group to another Telegram chat. The group's id stays the same (E-h). */
export const groupChatMigrated = (event: GroupChatMigrated, get: Get): Result => {
  const { chatId } = event.data
  const to = (work: Work, { id, chatId: old }: GroupItem) => {
    if (old !== chatId) linkChat(work, { chatId, groupId: id, moved: true })
    if (old !== null && old !== chatId) unlinkChat(work, old, id)
    return { chatId }
  }
  return changeGroup(event, get, { kind: 'chat-migrated', isValid: isChatId(chatId), to })
}

interface GroupChange {
  readonly kind: EntryKind
  readonly isValid: boolean
  to(work: Work, group: GroupItem): Partial<GroupItem>
}

const changeGroup = (
  event: GroupRenamed | GroupCurrencyChanged | GroupSettingsChanged | GroupChatMigrated,
  get: Get,
  { kind, isValid, to }: GroupChange,
): Result => {
  const group = changeableGroup(event, get)
  if ('refusal' in group) return group
  if (hasApplied(group._heard, event)) return DUPLICATE
  if (!isValid) return invalid
  const work = startWork(get)
  const change = to(work, group)
  work.put({ ...group, ...change, _heard: withApplied(group._heard, event) })
  addEntry(work, event, kind, {
    ...(change.title !== undefined && { title: change.title }),
    ...(change.currency !== undefined && { currency: change.currency }),
  })
  return work.result()
}

export const isCurrency = (currency: string): boolean => /^[A-Z][A-Z0-9]{1,9}$/.test(currency)
const isTitle = (title: string): boolean => title.length >= 1 && title.length <= 200

const invalid = refuse(
  'group-invalid',
  'A group has an id, a title of 1 to 200 characters, a currency of 2 to 10 capital letters, and optionally the id of a chat.',
)
