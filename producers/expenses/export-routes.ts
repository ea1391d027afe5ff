import { csvHeader, csvRows } from '../exporting.ts'
import { listOf, pagingOf, pagingSchema, type Paged } from '../http/lists.ts'
import { question, type Call, type Route } from '../http/route.ts'
import { text } from '../http/schemas.ts'
import { expensesExporter } from './export.ts'
import { groupOf } from './params.ts'
import { inGroup } from './rights.ts'

interface ExportQuery extends Paged {
  readonly history?: 'true' | 'false'
}

const pageOf = async (call: Pick<Call, 'caller' | 'params'>, { history, ...paging }: ExportQuery) => {
  const group = groupOf(call)
  const page = await expensesExporter.page(call.caller.reader, group, {
    ...pagingOf(paging),
    history: history !== 'false',
  })
  if (page === undefined) throw groupOf.missing(group)
  return page
}

/** The Link header (RFC 8288) of the next page. */
const linkTo = (cursor: string, { history, limit }: ExportQuery): string =>
  `<?${new URLSearchParams({ format: 'csv', ...(history && { history }), ...(limit && { limit }), cursor }).toString()}>; rel="next"`

const exportGroup = question({
  method: 'GET',
  url: '/api/groups/:groupId/export',
  operationId: 'exportGroup',
  summary:
    'Export a group in pages: the group, its members and balances, then expenses, settlements and the history. JSON, or CSV with the next page in the Link header.',
  query: {
    type: 'object',
    additionalProperties: false,
    properties: {
      ...pagingSchema,
      format: { type: 'string', enum: ['json', 'csv'] },
      history: { type: 'string', enum: ['true', 'false'], description: 'Includes the history. Default: true.' },
    },
  },
  result: listOf({ type: 'object', required: ['kind'], properties: { kind: text }, additionalProperties: true }),
  document: async (call) => {
    if (call.query.format !== 'csv') return undefined
    const { items, cursor } = await pageOf(call, call.query)
    return {
      type: 'text/csv; charset=utf-8; header=present',
      text: (call.query.cursor === undefined ? csvHeader(expensesExporter) : '') + csvRows(expensesExporter, items),
      headers: {
        'content-disposition': `attachment; filename="group-${groupOf(call)}.csv"`,
        'x-content-type-options': 'nosniff',
        ...(cursor !== undefined && { link: linkTo(cursor, call.query) }),
      },
    }
  },
  answer: (call) => pageOf(call, call.query),
})

export const exportRoutes: readonly Route[] = inGroup([exportGroup])
