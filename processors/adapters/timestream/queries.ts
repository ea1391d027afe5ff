import type { Row, TimestreamQueryClient } from '@aws-sdk/client-timestream-query'
import { messageOf } from '../../../schemas/fault.ts'
import { nameOf, unavailable } from './connect.ts'

export type Cells = readonly (string | null)[]

/** Returns the rows of a query in pages. Skips empty pages, because Timestream can return an empty page before the last page. */
async function* rowsOf(client: TimestreamQueryClient, sql: string): AsyncGenerator<readonly Cells[]> {
  const { QueryCommand } = await import('@aws-sdk/client-timestream-query')
  let token: string | undefined
  do {
    const page = await client.send(
      new QueryCommand({ QueryString: sql, ...(token !== undefined && { NextToken: token }) }),
    )
    const rows = (page.Rows ?? []).map(cellsOf)
    if (rows.length > 0) yield rows
    token = page.NextToken
  } while (token !== undefined)
}

const cellsOf = ({ Data = [] }: Row): Cells =>
  Data.map(({ ScalarValue, NullValue }) => (NullValue === true ? null : (ScalarValue ?? null)))

/**
 * Returns the name of the column if the error reports that a column of the query does not exist, otherwise undefined. Timestream creates a column
 * when it stores the first record with a value for this column.
 */
const missingColumn = (error: unknown): string | undefined =>
  nameOf(error) === 'ValidationException'
    ? /column '?"?([A-Za-z_][\w]*)"?'? (?:does not exist|cannot be resolved)/i.exec(messageOf(error))?.[1]
    : undefined

/**
 * Returns the rows of a query. If a column of the query does not exist yet, calls `sql` again with the names of all missing columns and runs the new
 * query. If `sql` returns undefined, no row can match without the missing columns, and there are no rows.
 */
export async function* queryRows(
  client: TimestreamQueryClient,
  sql: (absent: ReadonlySet<string>) => string | undefined,
): AsyncGenerator<readonly Cells[]> {
  const absent = new Set<string>()
  for (;;) {
    const text = sql(absent)
    if (text === undefined) return
    try {
      yield* rowsOf(client, text)
      return
    } catch (error) {
      const column = missingColumn(error)
      if (column === undefined || absent.has(column)) throw unavailable('answer the query', error)
      absent.add(column)
    }
  }
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
export const text = (value: string): string => `'${value.replaceAll("'", "''")}'`
export const instant = (ms: number): string => `from_iso8601_timestamp('${new Date(ms).toISOString()}')`

/** Parses a time of Timestream in UTC, such as `2026-03-18 12:00:00.000000000`. Returns epoch milliseconds. */
export const msOf = (time: string): number => Date.parse(`${time.slice(0, 23).replace(' ', 'T')}Z`)
