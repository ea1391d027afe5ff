import { groups, isChatId } from '../../projections/expenses/keys.ts'
import { listing } from '../http/lists.ts'
import { mistake } from '../http/problem.ts'
import { command, question, type Call, type Draft, type Route } from '../http/route.ts'
import { currencyIn, currencySchema } from './amounts.ts'
import { event, groupOf, queriesOf } from './params.ts'
import { personOf, personProperties } from './person.ts'
import { inGroup, wasRemoved } from './rights.ts'
import { group, groupWithMembers } from './views.ts'

const withMembers = async (call: Pick<Call, 'caller'>, id: string) => {
  const [found, members] = await Promise.all([groups.get(call.caller.reader, id), queriesOf(call).everyMember(id)])
  // A repeated command is answered with the current group. If the caller was removed after the first attempt, the caller cannot read the group.
  if (members.find((member) => member.id === call.caller.user)?.removedAt !== undefined) throw wasRemoved()
  return found && groupWithMembers.view(found, members)
}

/** Returns the group in the path of the request, with its members. Undefined if the group does not exist. */
export const thisGroup = (call: Pick<Call, 'caller' | 'params'>) => withMembers(call, groupOf(call))

const listGroups = listing({
  url: '/api/groups',
  operationId: 'listGroups',
  byIndex: true,
  summary: 'List the groups of which you are a member.',
  of: group,
  page: (call, paging) => queriesOf(call).groupsOf(call.caller.user, paging),
})

const oneGroup = question({
  method: 'GET',
  url: '/api/groups/:groupId',
  operationId: 'getGroup',
  summary: 'Get a group with its members, also those who left.',
  result: groupWithMembers.schema,
  answer: async (call) => {
    const found = await thisGroup(call)
    if (found === undefined) throw groupOf.missing(groupOf(call))
    return found
  },
})

export const titleSchema = { type: 'string', minLength: 1, maxLength: 200, pattern: '\\S' } as const
const chatId = {
  type: 'string',
  minLength: 1,
  maxLength: 21,
  description: 'The id of the Telegram chat. Ids of groups are below zero.',
} as const
const DEFAULT_CURRENCY = 'TON'

const createGroup = command({
  method: 'POST',
  url: '/api/groups',
  operationId: 'createGroup',
  summary: 'Create a group. You become its first member and owner.',
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['title'],
    properties: {
      title: titleSchema,
      currency: {
        ...currencySchema,
        description: 'The default currency of amounts: a code of ISO 4217, or TON. Default: TON.',
      },
      chatId,
      ...personProperties,
    },
  },
  status: 201,
  result: groupWithMembers.schema,
  decide: async (call) => {
    const {
      body: { title: called, currency = DEFAULT_CURRENCY, chatId: chat, ...person },
    } = call
    currencyIn(currency, '/currency')
    const id = call.newId()
    return {
      key: id,
      id,
      draft: event(
        'GroupCreated',
        { title: called, currency, chatId: chat === undefined ? null : chatIn(chat) },
        await personOf(call, person),
      ),
    }
  },
  answer: (call, { id = '' }) => withMembers(call, id),
})

const chatIn = (chat: string): string => {
  if (isChatId(chat)) return chat
  throw mistake(400, {
    pointer: '/chatId',
    code: 'bad-format',
    detail: '/chatId: it must be the number of a Telegram chat, such as -1001234567890.',
  })
}

const changeGroup = command({
  method: 'PATCH',
  url: '/api/groups/:groupId',
  operationId: 'changeGroup',
  summary:
    'Change one thing of a group: its title, its currency (nothing is converted), or whether debts are simplified.',
  body: {
    type: 'object',
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
    properties: { title: titleSchema, currency: currencySchema, simplify: { type: 'boolean' } },
  },
  status: 200,
  result: groupWithMembers.schema,
  decide: (call) => ({ key: groupOf(call), id: groupOf(call), draft: changeOf(call.body) }),
  answer: thisGroup,
})

interface Change {
  readonly title?: string
  readonly currency?: string
  readonly simplify?: boolean
}

/**
 * Returns the event for the only field of the body: the schema admits exactly one. The body cannot link a chat to the group, because a member
 * could name the chat of another group. Only updates from Telegram link chats.
 */
const changeOf = ({ title: called, currency, simplify = true }: Change): Draft => {
  if (called !== undefined) return event('GroupRenamed', { title: called })
  if (currency !== undefined) return event('GroupCurrencyChanged', { currency: currencyIn(currency, '/currency').code })
  return event('GroupSettingsChanged', { simplify })
}

export const groupRoutes: readonly Route[] = [listGroups, createGroup, ...inGroup([oneGroup, changeGroup])]
