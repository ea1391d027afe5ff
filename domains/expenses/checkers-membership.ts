import type { Item } from '../../projections/item.ts'
import type { GroupItem } from '../../projections/expenses/items.ts'
import type { CommonEvent } from '../../schemas/generated/common.ts'
import type { ExpensesEvent } from '../../schemas/generated/expenses.ts'

interface Person {
  state: 'active' | 'left' | 'removed'
  readonly joinedAt: number
  /** False after the person was forgotten. */
  canOwn: boolean
  /** Invitations with lower numbers do not admit the person. */
  admittedFrom: number
}

interface Invitation {
  readonly id: string
  readonly hash: string
  readonly number: number
  readonly by: string | null
  readonly expiresAt: number
}

interface Group {
  owner: string | null
  isArchived: boolean
  readonly people: Map<string, Person>
  open: readonly Invitation[]
  next: number
}

type Accepted = ExpensesEvent | CommonEvent

/** Computes the members and the owner of each group from the accepted events, without the folds. */
export const createMembershipChecker = (wrong: (detail: string) => void) => {
  const groups = new Map<string, Group>()
  return {
    ownerOf: (key: string): string | null => groups.get(key)?.owner ?? null,
    isActive: (key: string, user: string | null): boolean =>
      groups.get(key)?.people.get(user ?? '')?.state === 'active',
    check: (event: Accepted): void => {
      const { key, eventId } = event.meta
      if (event.type === 'GroupCreated') return void groups.set(key, founded(event.meta))
      const group = groups.get(key)
      if (group === undefined) return
      const mistake = mistakeIn(event, group)
      if (mistake !== undefined) wrong(`${eventId} (${event.type}) was accepted: ${mistake}`)
      apply(event, group)
    },
    compare: (items: Iterable<Item>): void => {
      for (const item of items) {
        if (item.SK !== 'METADATA' || !item.PK.startsWith('GROUP#')) continue
        const { id, ownerId, archivedAt } = item as Item as GroupItem
        const group = groups.get(id)
        if (group === undefined) continue
        if (group.owner !== ownerId) wrong(`${id} is owned by ${ownerId}, and should be by ${group.owner}`)
        if (group.isArchived !== (archivedAt !== undefined))
          wrong(`${id} is ${archivedAt === undefined ? 'not ' : ''}archived`)
      }
    },
  }
}

const founded = ({ subjectId, actorId, occurredAt }: Accepted['meta']): Group => {
  const creator = subjectId ?? actorId
  const people = new Map<string, Person>(
    creator === null ? [] : [[creator, { state: 'active', joinedAt: occurredAt, canOwn: true, admittedFrom: 0 }]],
  )
  return { owner: creator, isArchived: false, people, open: [], next: 0 }
}

const OWNERS: readonly string[] = [
  'GroupOwnerChanged',
  'GroupMemberRemoved',
  'GroupArchived',
  'GroupUnarchived',
] satisfies Accepted['type'][]

const mistakeIn = (event: Accepted, group: Group): string | undefined => {
  const {
    type,
    meta: { actorId, source },
  } = event
  if (type === 'PersonForgotten' || source === 'derived') return undefined
  if (group.isArchived && type !== 'GroupUnarchived') return 'the group is archived'
  if (OWNERS.includes(type) && actorId !== group.owner) return `${actorId} does not own the group`
  if (type === 'MemberJoined') return admissionMistake(event, group)
  if (actorId !== null && group.people.get(actorId)?.state === 'removed') return `${actorId} is removed`
  return type === 'InvitationCreated' && group.people.get(actorId ?? '')?.state !== 'active'
    ? `${actorId} is no member`
    : undefined
}

const admissionMistake = (
  { data: { userId, invitation }, meta: { occurredAt } }: Extract<Accepted, { type: 'MemberJoined' }>,
  { people, open }: Group,
): string | undefined => {
  const person = people.get(userId)
  if (person?.state === 'active') return undefined
  if (invitation === null) return person?.state === 'removed' ? `${userId} is removed and not invited` : undefined
  const found = open.find(({ hash, expiresAt }) => hash === invitation && occurredAt < expiresAt)
  if (found === undefined) return 'the invitation is not open'
  return found.number < (person?.admittedFrom ?? 0) ? 'the invitation is older than the removal' : undefined
}

const apply = (event: Accepted, group: Group): void => {
  const {
    meta: { occurredAt, actorId, subjectId },
  } = event
  if (event.type === 'MemberJoined') join(group, event.data.userId, occurredAt)
  if (event.type === 'MemberLeft') depart(group, event.data.userId, 'left')
  if (event.type === 'GroupMemberRemoved') depart(group, event.data.userId, 'removed')
  if (event.type === 'PersonForgotten' && subjectId !== null) withdraw(group, subjectId)
  if (event.type === 'GroupOwnerChanged') group.owner = event.data.userId
  if (event.type === 'GroupArchived' || event.type === 'GroupUnarchived')
    group.isArchived = event.type === 'GroupArchived'
  if (event.type === 'InvitationRevoked') group.open = group.open.filter(({ id }) => id !== event.data.invitationId)
  if (event.type === 'InvitationCreated') {
    const { invitationId: id, secretHash: hash, expiresAt } = event.data
    group.open = [...group.open, { id, hash, number: group.next, by: actorId, expiresAt }]
    group.next += 1
  }
}

const join = (group: Group, user: string, at: number): void => {
  const before = group.people.get(user)
  group.people.set(user, { state: 'active', joinedAt: before?.joinedAt ?? at, canOwn: true, admittedFrom: 0 })
  group.owner ??= user
}

const depart = (group: Group, user: string, state: 'left' | 'removed'): void => {
  const person = group.people.get(user)
  if (person !== undefined)
    Object.assign(person, { state, admittedFrom: state === 'removed' ? group.next : person.admittedFrom })
  withdraw(group, user)
}

const withdraw = (group: Group, user: string): void => {
  const person = group.people.get(user)
  if (person !== undefined) person.canOwn = false
  group.open = group.open.filter(({ by }) => by !== user)
  if (group.owner !== user) return
  const heirs = [...group.people].filter(([, { state, canOwn }]) => state === 'active' && canOwn)
  heirs.sort(([a, left], [b, right]) => left.joinedAt - right.joinedAt || (a < b ? -1 : 1))
  group.owner = heirs[0]?.[0] ?? null
}
