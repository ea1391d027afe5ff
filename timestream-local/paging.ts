import { invalid } from './service-error.ts'

export type Row = Readonly<{ Data: readonly Readonly<Record<string, unknown>>[] }>
/** A result of more than one page, held for a while: a page can be asked for again. */
type Held = Readonly<{ queryId: string; sql: string; columns: readonly unknown[]; rows: readonly Row[]; untilMs: number }>
export type Page = Readonly<{ held: Held; rows: readonly Row[]; nextToken?: string }>

const PAGE_BYTES = 1_000_000
const HELD_RESULTS = 100
const HELD_MS = 15 * 60_000

const tokenOf = (queryId: string, from: number): string => Buffer.from(`${queryId} ${from}`).toString('base64url')

/** How many rows from there on fit into a page. */
const fitting = (rows: readonly Row[], from: number, most: number): number => {
  let [count, bytes] = [0, 0]
  for (const row of rows.slice(from, from + most)) {
    bytes += JSON.stringify(row).length
    if (bytes > PAGE_BYTES && count > 0) break
    count += 1
  }
  return count
}

export type Pages = Readonly<{
  first: (result: Omit<Held, 'untilMs'>, options: { maxRows?: number; nowMs: number }) => Page
  next: (token: string, options: { sql: string; maxRows?: number; nowMs: number }) => Page
  drop: (queryId: string) => boolean
}>

export const openPages = (): Pages => {
  const held = new Map<string, Held>()

  const pageOf = (result: Held, from: number, maxRows: number): Page => {
    const until = from + fitting(result.rows, from, maxRows)
    return { held: result, rows: result.rows.slice(from, until), ...(until < result.rows.length && { nextToken: tokenOf(result.queryId, until) }) }
  }
  const hold = (result: Held): void => {
    held.set(result.queryId, result)
    for (const oldest of held.keys()) {
      if (held.size <= HELD_RESULTS) break
      held.delete(oldest)
    }
  }

  return {
    first: (result, { maxRows, nowMs }) => {
      const kept = { ...result, untilMs: nowMs + HELD_MS }
      // As documented of the service: a result that MaxRows does not hold whole begins with a page that has a token and no rows.
      const empty = maxRows !== undefined && result.rows.length > maxRows
      const page = empty ? { held: kept, rows: [], nextToken: tokenOf(result.queryId, 0) } : pageOf(kept, 0, result.rows.length)
      if (page.nextToken !== undefined) hold(kept)
      return page
    },
    next: (token, { sql, maxRows, nowMs }) => {
      const [queryId = '', from = ''] = Buffer.from(token, 'base64url').toString().split(' ')
      const result = held.get(queryId)
      if (result === undefined || result.sql !== sql || result.untilMs < nowMs || !/^\d+$/.test(from)) {
        throw invalid('Invalid pagination token: send the token of the page before, with the same QueryString, within 15 minutes.')
      }
      return pageOf(result, Number(from), maxRows ?? result.rows.length)
    },
    drop: (queryId) => held.delete(queryId),
  }
}
