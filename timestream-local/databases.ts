import { optionalBody, optionalFlag, optionalText, optionalWhole, requiredText, type Body } from './body.ts'
import { invalid } from './service-error.ts'
import type { Catalog, Database, Retention, Table } from './tables.ts'

const DEFAULTS: Retention = { memoryHours: 6, magneticDays: 73_000, magneticWrites: false, rejectedData: null }
const MAX_MEMORY_HOURS = 8766
const MAX_MAGNETIC_DAYS = 73_000
const PAGE = 20
const ACCOUNT = 'arn:aws:timestream:local:000000000000:database'

const seconds = (ms: number): number => ms / 1000

const describeDatabase = ({ name, createdMs, updatedMs, tables }: Database): Body => ({
  Arn: `${ACCOUNT}/${name}`,
  DatabaseName: name,
  TableCount: tables.size,
  CreationTime: seconds(createdMs),
  LastUpdatedTime: seconds(updatedMs),
})

const describeTable = ({ database, name, createdMs, updatedMs, retention }: Table): Body => ({
  Arn: `${ACCOUNT}/${database}/table/${name}`,
  DatabaseName: database,
  TableName: name,
  TableStatus: 'ACTIVE',
  RetentionProperties: {
    MemoryStoreRetentionPeriodInHours: retention.memoryHours,
    MagneticStoreRetentionPeriodInDays: retention.magneticDays,
  },
  MagneticStoreWriteProperties: {
    EnableMagneticStoreWrites: retention.magneticWrites,
    ...(retention.rejectedData !== null && { MagneticStoreRejectedDataLocation: retention.rejectedData }),
  },
  CreationTime: seconds(createdMs),
  LastUpdatedTime: seconds(updatedMs),
})

const newName = (body: Body, field: string): string => {
  const name = requiredText(body, field)
  if (!/^[a-zA-Z0-9_.-]{3,256}$/.test(name))
    throw invalid(`${field} must have 3 to 256 letters, digits, '_', '.' or '-': ${name.slice(0, 60)}`)
  return name
}

const retentionOf = (body: Body, before: Retention): Retention => {
  if (optionalBody(body, 'Schema') !== undefined)
    throw invalid('Schema (custom partition keys) is not supported by timestream-local.')
  const periods = optionalBody(body, 'RetentionProperties') ?? {}
  const magnetic = optionalBody(body, 'MagneticStoreWriteProperties') ?? {}
  return {
    memoryHours:
      optionalWhole(periods, 'MemoryStoreRetentionPeriodInHours', [1, MAX_MEMORY_HOURS]) ?? before.memoryHours,
    magneticDays:
      optionalWhole(periods, 'MagneticStoreRetentionPeriodInDays', [1, MAX_MAGNETIC_DAYS]) ?? before.magneticDays,
    magneticWrites: optionalFlag(magnetic, 'EnableMagneticStoreWrites') ?? before.magneticWrites,
    rejectedData: magnetic['MagneticStoreRejectedDataLocation'] ?? before.rejectedData,
  }
}

const pageOf = <T>(all: readonly T[], body: Body, keyOf: (entry: T) => string): { page: T[]; NextToken?: string } => {
  const limit = optionalWhole(body, 'MaxResults', [1, PAGE]) ?? PAGE
  const after = Buffer.from(optionalText(body, 'NextToken') ?? '', 'base64url').toString()
  const rest = all.filter((entry) => keyOf(entry) > after).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  const page = rest.slice(0, limit)
  return {
    page,
    ...(rest.length > limit && { NextToken: Buffer.from(page.slice(-1).map(keyOf).join('')).toString('base64url') }),
  }
}

type Context = Readonly<{ catalog: Catalog; nowMs: number }>
type Operation = (body: Body, context: Context) => Body | Promise<Body>

const database = (body: Body, { catalog }: Context): Database => catalog.database(requiredText(body, 'DatabaseName'))
const table = (body: Body, { catalog }: Context): Table =>
  catalog.table(requiredText(body, 'DatabaseName'), requiredText(body, 'TableName'))

export const DATABASES: Readonly<Record<string, Operation>> = {
  CreateDatabase: async (body, { catalog, nowMs }) => ({
    Database: describeDatabase(await catalog.createDatabase(newName(body, 'DatabaseName'), nowMs)),
  }),
  DescribeDatabase: (body, context) => ({ Database: describeDatabase(database(body, context)) }),
  UpdateDatabase: async (body, context) => ({
    Database: describeDatabase(await context.catalog.touchDatabase(database(body, context), context.nowMs)),
  }),
  ListDatabases: (body, { catalog }) => {
    const { page, ...token } = pageOf([...catalog.databases.values()], body, ({ name }) => name)
    return { Databases: page.map(describeDatabase), ...token }
  },
  DeleteDatabase: async (body, context) => {
    const { name, tables } = database(body, context)
    if (tables.size > 0)
      throw invalid(
        `The database ${name} cannot be deleted while it has tables. Delete its ${tables.size} tables first.`,
      )
    await context.catalog.deleteDatabase(name)
    return {}
  },
  CreateTable: async (body, context) => {
    const created = await context.catalog.createTable(database(body, context), newName(body, 'TableName'), {
      retention: retentionOf(body, DEFAULTS),
      nowMs: context.nowMs,
    })
    return { Table: describeTable(created) }
  },
  DescribeTable: (body, context) => ({ Table: describeTable(table(body, context)) }),
  UpdateTable: async (body, context) => {
    const before = table(body, context)
    return {
      Table: describeTable(
        await context.catalog.updateTable(before, {
          retention: retentionOf(body, before.retention),
          nowMs: context.nowMs,
        }),
      ),
    }
  },
  ListTables: (body, context) => {
    const databaseName = optionalText(body, 'DatabaseName')
    const databases =
      databaseName === undefined ? [...context.catalog.databases.values()] : [context.catalog.database(databaseName)]
    const { page, ...token } = pageOf(
      databases.flatMap(({ tables }) => [...tables.values()]),
      body,
      (entry) => `${entry.database} ${entry.name}`,
    )
    return { Tables: page.map(describeTable), ...token }
  },
  DeleteTable: async (body, context) => {
    await context.catalog.deleteTable(table(body, context))
    return {}
  },
}
