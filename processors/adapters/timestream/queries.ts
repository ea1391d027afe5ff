import type { Row, TimestreamQueryClient } from '@aws-sdk/client-timestream-query'
import { messageOf } from '../../../schemas/fault.ts'
import { nameOf, unavailable } from './connect.ts'

export type Cells = readonly (string | null)[]

/** The rows of a query, in pages; a page may be empty before the last. */
async function* rowsOf(client: TimestreamQueryClient, sql: string): AsyncGenerator<readonly Cells[]> {
  const { QueryCommand } = await import('@aws-sdk/client-timestream-query')
  let token: string | undefined
  do {
    const page = await client.send(new QueryCommand({ QueryString: sql, ...(token !== undefined && { NextToken: token }) }))
    const rows = (page.Rows ?? []).map(cellsOf)
    if (rows.length > 0) yield rows
    token = page.NextToken
  } while (token !== undefined)
}

const cellsOf = ({ Data = [] }: Row): Cells => Data.map(({ ScalarValue, NullValue }) => (NullValue === true ? null : (ScalarValue ?? null)))

/** Columns come into being with the first record that has them: what nobody has written yet is not there to be asked for. */
const missingColumn = (error: unknown): string | undefined =>
  nameOf(error) === 'ValidationException' ? /column '?"?([A-Za-z_][\w]*)"?'? (?:does not exist|cannot be resolved)/i.exec(messageOf(error))?.[1] : undefined

/** Asks without the columns that are not there yet; `sql` is undefined where nothing can be found without them. */
export async function* askedFor(client: TimestreamQueryClient, sql: (absent: ReadonlySet<string>) => string | undefined): AsyncGenerator<readonly Cells[]> {
  const absent = new Set<string>()
  for (;;) {
    const text = sql(absent)
    if (text === undefined) return
    try {
      yield* rowsOf(client, text)
      return
    } catch (error) {
      const column = missingColumn(error)
      if (column === undefined || absent.has(column)) throw unavailable('answer', error)
      absent.add(column)
    }
  }
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
export const text = (value: string): string => `'${value.replaceAll("'", "''")}'`
export const instant = (ms: number): string => `from_iso8601_timestamp('${new Date(ms).toISOString()}')`

/** `2026-03-18 12:00:00.000000000`, in UTC. */
export const msOf = (time: string): number => Date.parse(`${time.slice(0, 23).replace(' ', 'T')}Z`)
