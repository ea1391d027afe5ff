import type { Row, TimestreamQueryClient } from '@aws-sdk/client-timestream-query'
import { messageOf } from '../../../schemas/fault.ts'
import { nameOf, unavailable } from './connect.ts'

export type Cells = readonly (string | null)[]

/** The rows of a query in pages. Timestream can return an empty page before the last one. */
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

/** The column that a query named and that does not exist. Timestream creates a column with the first record that has it. */
const missingColumn = (error: unknown): string | undefined =>
  nameOf(error) === 'ValidationException'
    ? /column '?"?([A-Za-z_][\w]*)"?'? (?:does not exist|cannot be resolved)/i.exec(messageOf(error))?.[1]
    : undefined

/** Runs a query, without columns that do not exist yet. If `sql` returns undefined, the query cannot find anything without them. */
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

/** Parses a time such as `2026-03-18 12:00:00.000000000`, in UTC. */
export const msOf = (time: string): number => Date.parse(`${time.slice(0, 23).replace(' ', 'T')}Z`)
