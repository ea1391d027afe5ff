import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DuckDBInstance, type DuckDBConnection, type DuckDBValue } from '@duckdb/node-api'

/** DuckDB, in memory or in a folder. Writes share one connection and run one after another. Each query has its own connection. */
export type Storage = Readonly<{
  /** Runs the work in one transaction, all or nothing. `then` runs after the commit and before the next write. */
  write: <T>(work: (connection: DuckDBConnection) => Promise<T>, then?: (result: T) => void) => Promise<T>
  read: (sql: string) => Promise<DuckDBValue[][]>
  close: () => Promise<void>
}>

const QUERY_TIMEOUT_MS = 60_000

const inTransaction = async <T>(
  connection: DuckDBConnection,
  work: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> => {
  await connection.run('BEGIN')
  try {
    const result = await work(connection)
    await connection.run('COMMIT')
    return result
  } catch (error) {
    // A failed commit has rolled back already. The error of a second rollback must not hide the first error.
    await connection.run('ROLLBACK').catch(() => undefined)
    throw error
  }
}

export const openStorage = async (folder?: string): Promise<Storage> => {
  if (folder !== undefined) await mkdir(folder, { recursive: true })
  const instance = await DuckDBInstance.create(folder === undefined ? ':memory:' : join(folder, 'timestream.duckdb'))
  const writer = await instance.connect()
  let lastWrite: Promise<unknown> = Promise.resolve()

  const write = <T>(work: (connection: DuckDBConnection) => Promise<T>, then?: (result: T) => void): Promise<T> => {
    const written = lastWrite.then(async () => {
      const result = await inTransaction(writer, work)
      then?.(result)
      return result
    })
    lastWrite = written.catch(() => undefined)
    return written
  }
  const read = async (sql: string): Promise<DuckDBValue[][]> => {
    const connection = await instance.connect()
    const timeout = setTimeout(() => connection.interrupt(), QUERY_TIMEOUT_MS)
    try {
      return (await connection.runAndReadAll(sql)).getRows()
    } finally {
      clearTimeout(timeout)
      connection.closeSync()
    }
  }
  const close = async (): Promise<void> => {
    await lastWrite
    writer.closeSync()
    instance.closeSync()
  }
  return { write, read, close }
}

export const sqlText = (value: string): string => `'${value.replaceAll("'", "''")}'`
