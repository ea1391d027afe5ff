import type { GroupChatMigrated, GroupCreated, GroupCurrencyChanged, GroupRenamed, GroupSettingsChanged } from '../../schemas/generated/expenses.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { EntryKind, GroupItem } from '../../projections/expenses/items.ts'
import { groups, isChatId, isId } from '../../projections/expenses/keys.ts'
import { refuse } from '../../projections/expenses/refusals.ts'
import { heardBefore, hearing } from '../access/heard.ts'
import { startWork, type Work } from '../access/work.ts'
import { linkChat, unlinkChat } from './chats.ts'
import { enter } from './entries.ts'
import { memberOf } from './members.ts'
import { NAMELESS, profileIn, tellProfile } from './profiles.ts'
import { changeableGroup, isImported } from './rights.ts'
import { enroll } from './roster.ts'

/** The creator is the group's first member (E5, E6) and its owner. An import names the creator only: its other rows name members and the owner. */
export const groupCreated = (event: GroupCreated, get: Get): Result => {
  const { data: { chatId, title, currency }, meta } = event
  const createdBy = meta.subjectId ?? meta.actorId
  const creator = isImported(event) ? null : createdBy
  if (!isId(meta.key) || !isTitle(title) || !isCurrency(currency) || (chatId !== null && !isChatId(chatId)) || (createdBy !== null && !isId(createdBy))) return invalid
  const known = get(groups.key(meta.key))
  if (heardBefore(known?._heard, event)) return DUPLICATE
  if (known !== undefined) return refuse('group-exists', `There is a group ${meta.key} already; change it, or choose another id.`)
  const [work, at] = [startWork(get), isoOf(meta.occurredAt)]
  const group: GroupItem = {
    ...groups.key(meta.key), id: meta.key, chatId, title, currency, createdAt: at, createdBy, ownerId: creator, memberCount: creator === null ? 0 : 1, simplify: true, _heard: hearing(undefined, event),
  }
  work.put(group)
  if (creator !== null) {
    work.put({ ...memberOf(meta.key, creator, at), ...(profileIn(event, creator) ?? NAMELESS), _heard: hearing(undefined, event) })
    enroll(work, meta.key, creator, at)
    tellProfile(work, event, creator)
  }
  // A person's word does not make a chat theirs: whoever joins it would come to them.
  if (chatId !== null && meta.source !== 'edge') linkChat(work, { chatId, groupId: meta.key, moved: false })
  enter(work, event, 'group-created', { title, currency })
  return work.result()
}

/** What was written before keeps the title it had (E-k). */
export const groupRenamed = (event: GroupRenamed, get: Get): Result =>
  changed(event, get, { kind: 'group-renamed', fits: isTitle(event.data.title), to: () => ({ title: event.data.title }) })

/** Nothing is converted (E-c). */
export const groupCurrencyChanged = (event: GroupCurrencyChanged, get: Get): Result =>
  changed(event, get, { kind: 'currency-changed', fits: isCurrency(event.data.currency), to: () => ({ currency: event.data.currency }) })

export const groupSettingsChanged = (event: GroupSettingsChanged, get: Get): Result =>
  changed(event, get, { kind: 'settings-changed', fits: true, to: () => ({ simplify: event.data.simplify }) })

/** The group's own id stays (E-h). */
export const groupChatMigrated = (event: GroupChatMigrated, get: Get): Result => {
  const { chatId } = event.data
  const to = (work: Work, { id, chatId: old }: GroupItem) => {
    if (old !== chatId) linkChat(work, { chatId, groupId: id, moved: true })
    if (old !== null && old !== chatId) unlinkChat(work, old, id)
    return { chatId }
  }
  return changed(event, get, { kind: 'chat-migrated', fits: isChatId(chatId), to })
}

interface Changing {
  readonly kind: EntryKind
  readonly fits: boolean
  to(work: Work, group: GroupItem): Partial<GroupItem>
}

const changed = (event: GroupRenamed | GroupCurrencyChanged | GroupSettingsChanged | GroupChatMigrated, get: Get, { kind, fits, to }: Changing): Result => {
  const group = changeableGroup(event, get)
  if ('refusal' in group) return group
  if (heardBefore(group._heard, event)) return DUPLICATE
  if (!fits) return invalid
  const work = startWork(get)
  const change = to(work, group)
  work.put({ ...group, ...change, _heard: hearing(group._heard, event) })
  enter(work, event, kind, { ...(change.title !== undefined && { title: change.title }), ...(change.currency !== undefined && { currency: change.currency }) })
  return work.result()
}

export const isCurrency = (currency: string): boolean => /^[A-Z][A-Z0-9]{1,9}$/.test(currency)
const isTitle = (title: string): boolean => title.length >= 1 && title.length <= 200

const invalid = refuse('group-invalid', 'A group has an id, a title of 1 to 200 characters, a currency of 2 to 10 capital letters, and perhaps the id of a chat.')
