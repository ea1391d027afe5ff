import { csvHead, csvOf } from '../exporting.ts'
import { listOf, pagingOf, pagingSchema, type Paged } from '../http/lists.ts'
import { question, type Call, type Route } from '../http/route.ts'
import { text } from '../http/schemas.ts'
import { expensesExporter } from './export.ts'
import { groupOf } from './params.ts'
import { inGroup } from './rights.ts'

interface Asked extends Paged {
  readonly history?: 'true' | 'false'
}

const pageOf = async (call: Pick<Call, 'caller' | 'params'>, { history, ...paging }: Asked) => {
  const group = groupOf(call)
  const page = await expensesExporter.page(call.caller.reader, group, { ...pagingOf(paging), history: history !== 'false' })
  if (page === undefined) throw groupOf.missing(group)
  return page
}

/** The page behind this one, as RFC 8288 tells it. */
const linkTo = (cursor: string, { history, limit }: Asked): string =>
  `<?${new URLSearchParams({ format: 'csv', ...(history && { history }), ...(limit && { limit }), cursor }).toString()}>; rel="next"`

const exportGroup = question({
  method: 'GET',
  url: '/api/groups/:groupId/export',
  operationId: 'exportGroup',
  summary: 'Everything of a group, page by page: itself, its members and balances, then expenses, settlements and what happened. As JSON, or as CSV whose next page is named in Link.',
  query: {
    type: 'object',
    additionalProperties: false,
    properties: { ...pagingSchema, format: { type: 'string', enum: ['json', 'csv'] }, history: { type: 'string', enum: ['true', 'false'], description: 'Includes the history. Default: true.' } },
  },
  result: listOf({ type: 'object', required: ['kind'], properties: { kind: text }, additionalProperties: true }),
  document: async (call) => {
    if (call.query.format !== 'csv') return undefined
    const { items, cursor } = await pageOf(call, call.query)
    return {
      type: 'text/csv; charset=utf-8; header=present',
      text: (call.query.cursor === undefined ? csvHead(expensesExporter) : '') + csvOf(expensesExporter, items),
      headers: { 'content-disposition': `attachment; filename="group-${groupOf(call)}.csv"`, 'x-content-type-options': 'nosniff', ...(cursor !== undefined && { link: linkTo(cursor, call.query) }) },
    }
  },
  answer: (call) => pageOf(call, call.query),
})

export const exportRoutes: readonly Route[] = inGroup([exportGroup])
