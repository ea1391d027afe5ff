import {
  command,
  drafts,
  listing,
  pathId,
  question,
  refusedEarly,
  shape,
  type Call,
  type Route,
} from 'tributary/domain'
import type { __Name__Event } from './generated/__name__.ts'
import { MAX_AMOUNT } from './folds.ts'
import { entries, isEntryId, summaries, type EntryItem, type SummaryItem } from './items.ts'
import { refusals } from './refusals.ts'

const event = drafts<__Name__Event>()
const refused = refusedEarly(refusals)

const entry = shape<EntryItem>()({
  id: { type: 'string' },
  amount: { type: 'integer' },
  note: { type: ['string', 'null'] },
  addedAt: { type: 'string', format: 'date-time' },
})

const summary = shape<SummaryItem>()({ entries: { type: 'integer' }, total: { type: 'integer' } })

const entryIdOf = pathId('id', isEntryId, (id) => refused('entry-not-found', `You have no entry ${id.slice(0, 64)}.`))

/** Reads the caller's entry from the generation that answers this request. */
const entryOf = ({ caller }: Pick<Call, 'caller'>, id: string): Promise<EntryItem | undefined> =>
  entries.get(caller.reader, caller.user, id)

const addEntry = command({
  method: 'POST',
  url: '/v1/__name__/entries',
  operationId: 'add__Name__Entry',
  summary: 'Add an entry.',
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['amount'],
    properties: {
      amount: { type: 'integer', minimum: 1, maximum: MAX_AMOUNT },
      note: { type: 'string', maxLength: 500, pattern: '\\S' },
    },
  },
  status: 201,
  result: entry.schema,
  decide: ({ body, newId }) => {
    const id = newId()
    return { id, draft: event('EntryAdded', { entryId: id, amount: body.amount }, { note: body.note ?? null }) }
  },
  answer: async (call, { id = '' }) => {
    const found = await entryOf(call, id)
    return found && entry.view(found)
  },
})

const removeEntry = command({
  method: 'DELETE',
  url: '/v1/__name__/entries/:id',
  operationId: 'remove__Name__Entry',
  summary: 'Remove an entry.',
  status: 200,
  result: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
  decide: (call) => {
    const id = entryIdOf(call)
    return { id, draft: event('EntryRemoved', { entryId: id }) }
  },
  answer: async (_call, { id }) => ({ id }),
})

const listEntries = listing({
  url: '/v1/__name__/entries',
  operationId: 'list__Name__Entries',
  summary: 'List your entries.',
  of: entry,
  page: ({ caller }, paging) => entries.page(caller.reader, caller.user, paging),
})

const getSummary = question({
  method: 'GET',
  url: '/v1/__name__/summary',
  operationId: 'get__Name__Summary',
  summary: 'Get the number of your entries and the sum of their amounts.',
  result: summary.schema,
  answer: async ({ caller }) => {
    const found = await summaries.get(caller.reader, caller.user)
    return found === undefined ? { entries: 0, total: 0 } : summary.view(found)
  },
})

export const routes: readonly Route[] = [addEntry, removeEntry, listEntries, getSummary]
