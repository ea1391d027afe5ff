import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DuckDBInstance, type DuckDBConnection, type DuckDBValue } from '@duckdb/node-api'

/** DuckDB, in memory or in a folder. Writers take turns on one connection; every query has a connection of its own. */
export type Storage = Readonly<{
  /** Runs alone among writers, in one transaction: all of it is stored, or nothing. `then` follows the commit, before the next writer. */
  write: <T>(work: (connection: DuckDBConnection) => Promise<T>, then?: (result: T) => void) => Promise<T>
  read: (sql: string) => Promise<DuckDBValue[][]>
  close: () => Promise<void>
}>

const QUERY_TIMEOUT_MS = 60_000

const inTransaction = async <T>(connection: DuckDBConnection, work: (connection: DuckDBConnection) => Promise<T>): Promise<T> => {
  await connection.run('BEGIN')
  try {
    const result = await work(connection)
    await connection.run('COMMIT')
    return result
  } catch (error) {
    // A commit that failed has rolled back already, and must not be hidden by being told so.
    await connection.run('ROLLBACK').catch(() => undefined)
    throw error
  }
}

export const openStorage = async (folder?: string): Promise<Storage> => {
  if (folder !== undefined) await mkdir(folder, { recursive: true })
  const instance = await DuckDBInstance.create(folder === undefined ? ':memory:' : join(folder, 'timestream.duckdb'))
  const writer = await instance.connect()
  let turn: Promise<unknown> = Promise.resolve()

  const write = <T>(work: (connection: DuckDBConnection) => Promise<T>, then?: (result: T) => void): Promise<T> => {
    const mine = turn.then(async () => {
      const result = await inTransaction(writer, work)
      then?.(result)
      return result
    })
    turn = mine.catch(() => undefined)
    return mine
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
    await turn
    writer.closeSync()
    instance.closeSync()
  }
  return { write, read, close }
}

export const sqlText = (value: string): string => `'${value.replaceAll("'", "''")}'`
