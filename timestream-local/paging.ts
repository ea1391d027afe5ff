import { invalid } from './service-error.ts'

export type Row = Readonly<{ Data: readonly Readonly<Record<string, unknown>>[] }>
/** The result of a query. A result of more than one page is stored until `untilMs` (epoch milliseconds), so that its pages can be requested. */
type StoredResult = Readonly<{
  queryId: string
  sql: string
  columns: readonly unknown[]
  rows: readonly Row[]
  untilMs: number
}>
export type Page = Readonly<{ result: StoredResult; rows: readonly Row[]; nextToken?: string }>

const PAGE_BYTES = 1_000_000
const MAX_RESULTS = 100
const RESULT_MS = 15 * 60_000

const tokenOf = (queryId: string, from: number): string => Buffer.from(`${queryId} ${from}`).toString('base64url')

/** The number of rows from `from` on that fit into a page. At least 1 if there is a row. */
const rowsInPage = (rows: readonly Row[], from: number, maxRows: number): number => {
  let [count, bytes] = [0, 0]
  for (const row of rows.slice(from, from + maxRows)) {
    bytes += JSON.stringify(row).length
    if (bytes > PAGE_BYTES && count > 0) break
    count += 1
  }
  return count
}

export type Pages = Readonly<{
  first: (result: Omit<StoredResult, 'untilMs'>, options: { maxRows?: number; nowMs: number }) => Page
  next: (token: string, options: { sql: string; maxRows?: number; nowMs: number }) => Page
  drop: (queryId: string) => boolean
}>

export const openPages = (): Pages => {
  const results = new Map<string, StoredResult>()

  const pageOf = (result: StoredResult, from: number, maxRows: number): Page => {
    const until = from + rowsInPage(result.rows, from, maxRows)
    return {
      result,
      rows: result.rows.slice(from, until),
      ...(until < result.rows.length && { nextToken: tokenOf(result.queryId, until) }),
    }
  }
  const store = (result: StoredResult): void => {
    results.set(result.queryId, result)
    for (const oldest of results.keys()) {
      if (results.size <= MAX_RESULTS) break
      results.delete(oldest)
    }
  }

  return {
    first: (queryResult, { maxRows, nowMs }) => {
      const result = { ...queryResult, untilMs: nowMs + RESULT_MS }
      // As documented for the service: if a result has more than MaxRows rows, the first page has a token and no rows.
      const isFirstPageEmpty = maxRows !== undefined && result.rows.length > maxRows
      const page = isFirstPageEmpty
        ? { result, rows: [], nextToken: tokenOf(result.queryId, 0) }
        : pageOf(result, 0, result.rows.length)
      if (page.nextToken !== undefined) store(result)
      return page
    },
    next: (token, { sql, maxRows, nowMs }) => {
      const [queryId = '', from = ''] = Buffer.from(token, 'base64url').toString().split(' ')
      const result = results.get(queryId)
      if (result === undefined || result.sql !== sql || result.untilMs < nowMs || !/^\d+$/.test(from)) {
        throw invalid(
          'Invalid pagination token. Send the token of the previous page, with the same QueryString, within 15 minutes.',
        )
      }
      return pageOf(result, Number(from), maxRows ?? result.rows.length)
    },
    drop: (queryId) => results.delete(queryId),
  }
}
