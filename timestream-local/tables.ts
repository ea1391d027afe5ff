import type { DuckDBConnection } from '@duckdb/node-api'
import { conflict, notFound } from './service-error.ts'
import { sqlText, type Storage } from './storage.ts'

export type ColumnType = 'DOUBLE' | 'BIGINT' | 'VARCHAR' | 'BOOLEAN' | 'TIMESTAMP'
/** A dimension or a measure of multi-measure records. `column` is its name in DuckDB, where names are case-insensitive. */
export type Column = Readonly<{ name: string; kind: 'dimension' | 'measure'; type: ColumnType; column: string }>
export type Retention = Readonly<{
  memoryHours: number
  magneticDays: number
  magneticWrites: boolean
  rejectedData: unknown
}>
export type Table = {
  readonly database: string
  readonly name: string
  readonly id: number
  readonly createdMs: number
  updatedMs: number
  retention: Retention
  readonly columns: Map<string, Column>
  /** The types of the single-measure records so far, in the order of their arrival. */
  readonly singles: Set<ColumnType>
  readonly measureNames: Set<string>
  /** The newest time of each series, in nanoseconds. If a point is newer, no version of it is stored yet, so a write does not search for one. */
  readonly newest: Map<string, bigint>
}
export type Database = {
  readonly name: string
  readonly createdMs: number
  updatedMs: number
  readonly tables: Map<string, Table>
}

export const dataOf = (table: Table): string => `data_${table.id}`
const duckType = (type: ColumnType): string => (type === 'TIMESTAMP' ? 'BIGINT' : type)

/** The columns of every table. Times and measures of type TIMESTAMP are nanoseconds in a BIGINT, because DuckDB's timestamps are microseconds. */
const FIXED =
  'series VARCHAR, version BIGINT, digest VARCHAR, time BIGINT, measure_name VARCHAR, v_double DOUBLE, v_bigint BIGINT, v_varchar VARCHAR, v_boolean BOOLEAN'
export const SINGLES = ['DOUBLE', 'BIGINT', 'VARCHAR', 'BOOLEAN'] as const satisfies readonly ColumnType[]

const CATALOG = `
  CREATE TABLE IF NOT EXISTS dbs (name VARCHAR, described VARCHAR);
  CREATE TABLE IF NOT EXISTS tbls (id INTEGER, described VARCHAR);`

export type Catalog = Readonly<{
  databases: ReadonlyMap<string, Database>
  database: (name: string) => Database
  table: (database: string, name: string) => Table
  createDatabase: (name: string, nowMs: number) => Promise<Database>
  touchDatabase: (database: Database, nowMs: number) => Promise<Database>
  deleteDatabase: (name: string) => Promise<void>
  createTable: (
    database: Database,
    name: string,
    { retention, nowMs }: { retention: Retention; nowMs: number },
  ) => Promise<Table>
  updateTable: (table: Table, { retention, nowMs }: { retention: Retention; nowMs: number }) => Promise<Table>
  deleteTable: (table: Table) => Promise<void>
}>

const descriptionOf = ({ database, name, createdMs, updatedMs, retention, columns, singles }: Table): string =>
  sqlText(
    JSON.stringify({
      database,
      name,
      createdMs,
      updatedMs,
      retention,
      columns: [...columns.values()],
      singles: [...singles],
    }),
  )

/** Adds the new columns of a write, in the transaction of that write. */
export const addColumns = async (
  connection: DuckDBConnection,
  table: Table,
  added: { columns: readonly Column[]; singles: readonly ColumnType[] },
): Promise<void> => {
  if (added.columns.length === 0 && added.singles.length === 0) return
  for (const { column, type } of added.columns)
    await connection.run(`ALTER TABLE ${dataOf(table)} ADD COLUMN ${column} ${duckType(type)}`)
  const columns = new Map([...table.columns, ...added.columns.map((column) => [column.name, column] as const)])
  const singles = new Set([...table.singles, ...added.singles])
  await connection.run(
    `UPDATE tbls SET described = ${descriptionOf({ ...table, columns, singles })} WHERE id = ${table.id}`,
  )
}

const load = async (storage: Storage): Promise<Map<string, Database>> => {
  await storage.write((connection) => connection.run(CATALOG))
  const databases = new Map<string, Database>()
  for (const [text] of await storage.read('SELECT described FROM dbs ORDER BY name')) {
    const database = JSON.parse(String(text)) as Omit<Database, 'tables'>
    databases.set(database.name, { ...database, tables: new Map() })
  }
  for (const [id, text] of await storage.read('SELECT id, described FROM tbls ORDER BY id')) {
    const stored = JSON.parse(String(text)) as Omit<Table, 'id' | 'columns' | 'singles' | 'measureNames' | 'newest'> & {
      columns: Column[]
      singles: ColumnType[]
    }
    const newest = await storage.read(`SELECT series, max(time) FROM data_${Number(id)} GROUP BY series`)
    const names = await storage.read(`SELECT DISTINCT measure_name FROM data_${Number(id)}`)
    databases
      .get(stored.database)
      ?.tables.set(stored.name, {
        ...stored,
        id: Number(id),
        columns: new Map(stored.columns.map((column) => [column.name, column])),
        singles: new Set(stored.singles),
        measureNames: new Set(names.map(([name]) => String(name))),
        newest: new Map(newest.map(([series, time]) => [String(series), BigInt(String(time))])),
      })
  }
  return databases
}

const lookups = (databases: ReadonlyMap<string, Database>) => {
  const database = (name: string): Database => {
    const found = databases.get(name)
    if (found === undefined) throw notFound(`The database ${name} does not exist.`)
    return found
  }
  const table = (inDatabase: string, name: string): Table => {
    const found = database(inDatabase).tables.get(name)
    if (found === undefined) throw notFound(`The table ${name} does not exist.`)
    return found
  }
  return { database, table }
}

export const openCatalog = async (storage: Storage): Promise<Catalog> => {
  const databases = await load(storage)
  let lastId = Math.max(0, ...[...databases.values()].flatMap(({ tables }) => [...tables.values()].map(({ id }) => id)))
  const run = (sql: string) => storage.write((connection) => connection.run(sql))
  const storeDatabase = async (database: Database): Promise<Database> => {
    const { tables: _tables, ...stored } = database
    const name = sqlText(database.name)
    await run(
      `DELETE FROM dbs WHERE name = ${name}; INSERT INTO dbs VALUES (${name}, ${sqlText(JSON.stringify(stored))})`,
    )
    return database
  }

  return {
    databases,
    ...lookups(databases),
    createDatabase: (name, nowMs) => {
      if (databases.has(name)) throw conflict(`The database ${name} already exists.`)
      const database: Database = { name, createdMs: nowMs, updatedMs: nowMs, tables: new Map() }
      databases.set(name, database)
      return storeDatabase(database)
    },
    touchDatabase: (database, nowMs) => {
      database.updatedMs = nowMs
      return storeDatabase(database)
    },
    deleteDatabase: async (name) => {
      databases.delete(name)
      await run(`DELETE FROM dbs WHERE name = ${sqlText(name)}`)
    },
    createTable: async (database, name, { retention, nowMs }) => {
      if (database.tables.has(name)) throw conflict(`The table ${name} already exists.`)
      const table: Table = {
        database: database.name,
        name,
        id: ++lastId,
        createdMs: nowMs,
        updatedMs: nowMs,
        retention,
        columns: new Map(),
        singles: new Set(),
        measureNames: new Set(),
        newest: new Map(),
      }
      database.tables.set(name, table)
      await run(
        `CREATE TABLE ${dataOf(table)} (${FIXED}); INSERT INTO tbls VALUES (${table.id}, ${descriptionOf(table)})`,
      )
      return table
    },
    updateTable: async (table, { retention, nowMs }) => {
      table.retention = retention
      table.updatedMs = nowMs
      await run(`UPDATE tbls SET described = ${descriptionOf(table)} WHERE id = ${table.id}`)
      return table
    },
    deleteTable: async (table) => {
      databases.get(table.database)?.tables.delete(table.name)
      await run(`DROP TABLE ${dataOf(table)}; DELETE FROM tbls WHERE id = ${table.id}`)
    },
  }
}
