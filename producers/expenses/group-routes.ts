import type { GroupCreatedData, GroupCurrencyChangedData, GroupRenamedData, GroupSettingsChangedData } from '../../schemas/generated/expenses.ts'
import { isChatId } from '../../projections/expenses/keys.ts'
import { expensesQueries } from '../../projections/expenses/queries.ts'
import { listOf, pagingOf, pagingSchema } from '../http/lists.ts'
import { mistake } from '../http/problem.ts'
import { command, question, type Call, type Draft, type Route } from '../http/route.ts'
import { currencyIn, currencySchema } from './amounts.ts'
import { groupOf, noGroup } from './params.ts'
import { personOf, personProperties } from './person.ts'
import { inGroup, wasRemoved } from './rights.ts'
import { groupSchema, groupView, groupWithMembersSchema, groupWithMembersView } from './views.ts'

const withMembers = async ({ caller: { reader, user } }: Pick<Call, 'caller'>, id: string) => {
  const queries = expensesQueries(reader)
  const [group, members] = await Promise.all([queries.group(id), queries.everyMember(id)])
  // A command that is sent again answers with the group as it is now, which is not for a person who was removed since.
  if (members.find((member) => member.id === user)?.removedAt !== undefined) throw wasRemoved()
  return group && groupWithMembersView(group, members)
}

/** The group of the request, for commands that answer with it. */
export const thisGroup = (call: Pick<Call, 'caller' | 'params'>) => withMembers(call, groupOf(call))

const listGroups = question({
  method: 'GET',
  url: '/api/groups',
  operationId: 'listGroups',
  byIndex: true,
  summary: 'The groups of which you are a member.',
  query: { type: 'object', additionalProperties: false, properties: pagingSchema },
  result: listOf(groupSchema),
  answer: async ({ caller: { reader, user }, query }) => {
    const { items, ...rest } = await expensesQueries(reader).groupsOf(user, pagingOf(query))
    return { items: items.map(groupView), ...rest }
  },
})

const oneGroup = question({
  method: 'GET',
  url: '/api/groups/:groupId',
  operationId: 'getGroup',
  summary: 'A group with its members, those who left too.',
  result: groupWithMembersSchema,
  answer: async (call) => {
    const group = await thisGroup(call)
    if (group === undefined) throw noGroup(groupOf(call))
    return group
  },
})

export const titleSchema = { type: 'string', minLength: 1, maxLength: 200, pattern: '\\S' } as const
const chatId = { type: 'string', minLength: 1, maxLength: 21, description: 'The id of the Telegram chat. Ids of groups are below zero.' } as const
const DEFAULT_CURRENCY = 'TON'

const createGroup = command({
  method: 'POST',
  url: '/api/groups',
  operationId: 'createGroup',
  summary: 'Make a group, and be its first member.',
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['title'],
    properties: { title: titleSchema, currency: { ...currencySchema, description: 'The default currency of amounts: a code of ISO 4217, or TON. Default: TON.' }, chatId, ...personProperties },
  },
  status: 201,
  result: groupWithMembersSchema,
  decide: async (call) => {
    const { body: { title: called, currency = DEFAULT_CURRENCY, chatId: chat, ...person } } = call
    currencyIn(currency, '/currency')
    const id = call.newId()
    const data: GroupCreatedData = { title: called, currency, chatId: chat === undefined ? null : chatIn(chat) }
    return { key: id, id, draft: { type: 'GroupCreated', data, personal: await personOf(call, person) } }
  },
  answer: (call, { id = '' }) => withMembers(call, id),
})

const chatIn = (chat: string): string => {
  if (isChatId(chat)) return chat
  throw mistake(400, { pointer: '/chatId', code: 'bad-format', detail: '/chatId: it must be a whole number as Telegram gives it, such as -1001234567890.' })
}

const changeGroup = command({
  method: 'PATCH',
  url: '/api/groups/:groupId',
  operationId: 'changeGroup',
  summary: 'Change one thing of a group: its title, its currency (nothing is converted), or whether debts are simplified.',
  body: { type: 'object', additionalProperties: false, minProperties: 1, maxProperties: 1, properties: { title: titleSchema, currency: currencySchema, simplify: { type: 'boolean' } } },
  status: 200,
  result: groupWithMembersSchema,
  decide: (call) => ({ key: groupOf(call), id: groupOf(call), draft: changeOf(call.body) }),
  answer: thisGroup,
})

interface Change {
  readonly title?: string
  readonly currency?: string
  readonly simplify?: boolean
}

/** The schema sees to it that it is one of them. To which chat a group belongs, Telegram alone says: a member could take another's. */
const changeOf = ({ title: called, currency, simplify = true }: Change): Draft => {
  if (called !== undefined) return { type: 'GroupRenamed', data: { title: called } satisfies GroupRenamedData, personal: null }
  if (currency !== undefined) return { type: 'GroupCurrencyChanged', data: { currency: currencyIn(currency, '/currency').code } satisfies GroupCurrencyChangedData, personal: null }
  return { type: 'GroupSettingsChanged', data: { simplify } satisfies GroupSettingsChangedData, personal: null }
}

export const groupRoutes: readonly Route[] = [listGroups, createGroup, ...inGroup([oneGroup, changeGroup])]
