import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DuckDBConnection, DuckDBInstance, DuckDBValue } from '@duckdb/node-api'
import { Fault, messageOf } from '../../../schemas/fault.ts'
import { createCopies } from '../copies.ts'

/** A DuckDB file. Writes share one connection and run one after another. Each query has its own connection. */
export interface Database {
  /** Runs the work in one transaction. When the promise resolves, all changes of the work are on disk. If the promise rejects, none is stored. */
  write<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T>
  /** Returns the rows of a query, in pages. Calls `sql` after the file is open. If `sql` returns undefined, there are no rows. */
  rows(sql: () => string | undefined): AsyncGenerator<readonly (readonly DuckDBValue[])[]>
  /** Copies the committed content of one moment into a new file. */
  copy(file: string): Promise<void>
  close(): Promise<void>
}

/** DuckDB may use only these resources, because it shares the machine with the rest of the program. */
const LIMITS = { threads: '2', memory_limit: '256MB' }

/** Returns a database whose first use loads DuckDB, opens the file and runs `prepare`. If this fails, the next use tries again. */
export const openDatabase = (path: string, prepare: (connection: DuckDBConnection) => Promise<void>): Database => {
  let opened: Promise<{ readonly instance: DuckDBInstance; readonly writer: DuckDBConnection }> | undefined
  let lastWrite: Promise<unknown> = Promise.resolve()
  const copies = createCopies()

  const opening = async () => {
    const { DuckDBInstance } = await import('@duckdb/node-api')
    await mkdir(dirname(path), { recursive: true })
    const instance = await DuckDBInstance.create(path, LIMITS)
    const writer = await instance.connect()
    await prepare(writer)
    return { instance, writer }
  }
  const open = () => {
    opened ??= opening()
    opened.catch(() => (opened = undefined))
    return opened
  }
  const write = <T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T> => {
    const written = lastWrite
      .then(async () => inTransaction((await open()).writer, work))
      .catch((error: unknown) => Promise.reject(unavailable(path, error)))
    lastWrite = written.catch(() => undefined)
    return written
  }
  async function* rows(sql: () => string | undefined) {
    const connection = await open()
      .then(({ instance }) => instance.connect())
      .catch((error: unknown) => Promise.reject(unavailable(path, error)))
    try {
      const text = sql()
      if (text === undefined) return
      const result = await connection.stream(text)
      for (
        let chunk = await result.fetchChunk();
        chunk !== null && chunk.rowCount > 0;
        chunk = await result.fetchChunk()
      )
        yield chunk.getRows()
    } finally {
      connection.closeSync()
    }
  }
  const copy = async (file: string) => copies.add(copyTo((await open()).instance, file))
  const close = async () => {
    await lastWrite
    await copies.ended()
    const current = await opened?.catch(() => undefined)
    opened = undefined
    current?.writer.closeSync()
    current?.instance.closeSync()
  }
  return { write, rows, copy, close }
}

/** Copies the database into a new file. DuckDB names the opened database after its file, so the name is queried first. */
const copyTo = async (instance: DuckDBInstance, file: string): Promise<void> => {
  const connection = await instance.connect()
  try {
    const [[source]] = (await connection.runAndReadAll('SELECT current_database()')).getRows() as [[string]]
    await connection.run(`ATTACH '${file.replaceAll("'", "''")}' AS copied`)
    await connection.run(`COPY FROM DATABASE "${source}" TO copied`)
    await connection.run('DETACH copied')
  } finally {
    connection.closeSync()
  }
}

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
    await connection.run('ROLLBACK').catch(() => undefined)
    throw error
  }
}

const unavailable = (path: string, error: unknown): Fault =>
  new Fault(
    'series-unavailable',
    `The series in ${path} cannot be read or written: ${messageOf(error)}. Their events wait. Check that the disk has room and that no other process has the file open.`,
    { retriable: true, cause: error },
  )
