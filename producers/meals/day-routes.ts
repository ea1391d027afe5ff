import { listing } from '../http/lists.ts'
import type { Route } from '../http/route.ts'
import { text } from '../http/schemas.ts'
import { spanOf, spanQuery } from './lists.ts'
import { queriesOf } from './params.ts'
import { summary } from './views.ts'

const summaries = listing({
  url: '/v1/summaries',
  operationId: 'listSummaries',
  summary: 'List the nutrition of each day, with the targets of that day.',
  query: spanQuery,
  required: ['from', 'to'],
  of: summary,
  page: async (call, paging) => {
    const { items, ...rest } = await queriesOf(call).summariesBetween(call.caller.user, spanOf(call.query), paging)
    return { items: items.map(({ summary: item, day, goals }) => ({ ...item, day, goals })), ...rest }
  },
})

const daysLogged = listing({
  url: '/v1/days-logged',
  operationId: 'listDaysLogged',
  summary: 'List the days with at least one meal.',
  query: spanQuery,
  of: { schema: text, view: (day: string) => day },
  page: (call, paging) => queriesOf(call).daysLogged(call.caller.user, spanOf(call.query), paging),
})

export const dayRoutes: readonly Route[] = [summaries, daysLogged]
