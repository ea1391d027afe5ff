import { mealsQueries } from '../../projections/meals/queries.ts'
import { listOf, pagingOf } from '../http/lists.ts'
import { question, type Route } from '../http/route.ts'
import { spanOf, spanQuerySchema } from './lists.ts'
import { summarySchema, summaryView } from './views.ts'

const summaries = question({
  method: 'GET',
  url: '/v1/summaries',
  operationId: 'listSummaries',
  summary: 'The nutrition of each day, with the targets of that day.',
  query: { ...spanQuerySchema, required: ['from', 'to'] },
  result: listOf(summarySchema),
  answer: async ({ caller: { reader, user }, query }) => {
    const { items, ...rest } = await mealsQueries(reader).summariesBetween(user, spanOf(query), pagingOf(query))
    return { items: items.map(summaryView), ...rest }
  },
})

const daysLogged = question({
  method: 'GET',
  url: '/v1/days-logged',
  operationId: 'listDaysLogged',
  summary: 'The days on which anything was logged.',
  query: spanQuerySchema,
  result: listOf({ type: 'string' }),
  answer: ({ caller: { reader, user }, query }) => mealsQueries(reader).daysLogged(user, spanOf(query), pagingOf(query)),
})

export const dayRoutes: readonly Route[] = [summaries, daysLogged]
