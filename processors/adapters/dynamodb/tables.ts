import {
  ResourceInUseException,
  ResourceNotFoundException,
  type CreateTableInput,
  type DynamoDB,
  type GlobalSecondaryIndex,
  type TableDescription,
} from '@aws-sdk/client-dynamodb'
import type { IndexSpec, TableSpec } from '../../../projections/table.ts'
import type { Clock } from '../../engine/ports/clock.ts'
import { doubling, retrying } from '../../engine/timing/retry.ts'
import { tableMissing } from '../../engine/rows/store-faults.ts'
import type { Measured } from '../../engine/ports/store.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { Attempts } from './attempts.ts'
import { projectedAttributes } from './table.ts'

export interface TablesDeps {
  readonly client: DynamoDB
  readonly clock: Clock
  readonly attempts: Attempts
}

export interface Tables {
  /** Creates the table if it does not exist. Resolves when the table is active. */
  create(spec: TableSpec, table: string): Promise<void>
  /** Resolves when the table is active. Throws `table-missing` if the table does not exist. */
  require(spec: TableSpec, table: string): Promise<void>
  drop(table: string): Promise<void>
  /** The size of the table, which DynamoDB updates every few hours. Undefined if the table does not exist. */
  measure(table: string): Promise<Measured | undefined>
  enableTtl(spec: TableSpec, table: string): Promise<void>
  /** Enables the stream of changes. No effect if the stream is already enabled. */
  enableStream(table: string): Promise<void>
  /** The ARN of the table's stream. Undefined while the table has no stream. */
  streamArn(table: string): Promise<string | undefined>
}

const FIRST_POLL_MS = 50
const MAX_POLL_MS = 2_000
const MAX_POLLS = 150

export const createTables = ({ client, clock, attempts }: TablesDeps): Tables => {
  const describe = (table: string): Promise<TableDescription | undefined> =>
    attempts(`DescribeTable ${table}`, async () => {
      try {
        return (await client.describeTable({ TableName: table })).Table
      } catch (error) {
        if (error instanceof ResourceNotFoundException) return undefined
        throw error
      }
    })

  const create = (spec: TableSpec, table: string) =>
    attempts(`CreateTable ${table}`, async () => {
      try {
        await client.createTable(tableInput(spec, table))
      } catch (error) {
        // Another process or an earlier attempt has created the table. The poll after this call finds it.
        if (!(error instanceof ResourceInUseException)) throw error
      }
    })

  const awaitState = async (
    table: string,
    isReady: (description: TableDescription | undefined) => boolean,
  ): Promise<TableDescription | undefined> => {
    const description = await retrying(() => describe(table), {
      clock,
      when: { result: (found) => !isReady(found) },
      until: (retries) => retries >= MAX_POLLS,
      pause: doubling(FIRST_POLL_MS, MAX_POLL_MS),
    })
    if (isReady(description)) return description
    throw new Fault('store-unavailable', `The table ${table} does not become ready. Check its state in DynamoDB.`, {
      retriable: true,
    })
  }

  const isActive = (description: TableDescription | undefined): boolean => description?.TableStatus === 'ACTIVE'
  const awaitActive = async (spec: TableSpec, table: string, found: TableDescription | undefined): Promise<void> =>
    checkShape(spec, table, isActive(found) ? found : await awaitState(table, isActive))

  return {
    async create(spec, table) {
      const found = await awaitState(table, (description) => description?.TableStatus !== 'DELETING')
      if (found === undefined) await create(spec, table)
      await awaitActive(spec, table, found)
    },
    async require(spec, table) {
      const found = await describe(table)
      if (found === undefined || found.TableStatus === 'DELETING') throw tableMissing(table)
      await awaitActive(spec, table, found)
    },
    async drop(table) {
      await attempts(`DeleteTable ${table}`, async () => {
        try {
          await client.deleteTable({ TableName: table })
        } catch (error) {
          if (!(error instanceof ResourceNotFoundException)) throw error
        }
      })
      await awaitState(table, (description) => description === undefined)
    },
    measure: async (table) => sizeOf(await describe(table)),
    ...streamsOf({ client, attempts, describe, awaitState }),
    enableTtl: createTtlEnabler({ client, attempts }),
  }
}

const createTtlEnabler =
  ({ client, attempts }: Pick<TablesDeps, 'client' | 'attempts'>): Tables['enableTtl'] =>
  async (spec, table) => {
    const isOn = async (): Promise<boolean> => {
      const { TimeToLiveDescription } = await client.describeTimeToLive({ TableName: table })
      return (
        TimeToLiveDescription?.TimeToLiveStatus === 'ENABLED' || TimeToLiveDescription?.TimeToLiveStatus === 'ENABLING'
      )
    }
    await attempts(`UpdateTimeToLive ${table}`, async () => {
      if (await isOn()) return
      try {
        await client.updateTimeToLive({
          TableName: table,
          TimeToLiveSpecification: { AttributeName: spec.ttl, Enabled: true },
        })
      } catch (error) {
        // The error is ignored if another process has enabled the TTL meanwhile.
        if (!(await isOn())) throw error
      }
    })
  }

const sizeOf = (description: TableDescription | undefined): Measured | undefined =>
  description && { items: description.ItemCount ?? 0, bytes: description.TableSizeBytes ?? 0 }

interface StreamDeps extends Pick<TablesDeps, 'client' | 'attempts'> {
  describe(table: string): Promise<TableDescription | undefined>
  awaitState(
    table: string,
    isReady: (description: TableDescription | undefined) => boolean,
  ): Promise<TableDescription | undefined>
}

const isStreaming = (description: TableDescription | undefined): boolean =>
  description?.StreamSpecification?.StreamEnabled === true

const streamsOf = ({
  client,
  attempts,
  describe,
  awaitState,
}: StreamDeps): Pick<Tables, 'streamArn' | 'enableStream'> => ({
  async streamArn(table) {
    const description = await describe(table)
    return isStreaming(description) ? description?.LatestStreamArn : undefined
  },
  async enableStream(table) {
    if (isStreaming(await describe(table))) return
    await attempts(`UpdateTable ${table}`, async () => {
      try {
        await client.updateTable({
          TableName: table,
          StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
        })
      } catch (error) {
        // The error is ignored if another process has enabled the stream meanwhile.
        if (!isStreaming(await describe(table))) throw error
      }
    })
    await awaitState(table, (description) => description?.TableStatus === 'ACTIVE' && isStreaming(description))
  },
})

const tableInput = (spec: TableSpec, table: string): CreateTableInput => {
  const names = new Set(['PK', 'SK', ...spec.indexes.flatMap(({ pk, sk }) => [pk, sk])])
  const input: CreateTableInput = {
    TableName: table,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: keySchema('PK', 'SK'),
    AttributeDefinitions: [...names].map((AttributeName) => ({
      AttributeName,
      AttributeType: spec.indexes.some(({ sk, number }) => sk === AttributeName && number === true) ? 'N' : 'S',
    })),
  }
  if (spec.indexes.length > 0) input.GlobalSecondaryIndexes = spec.indexes.map((index) => indexInput(spec, index))
  return input
}

const indexInput = (spec: TableSpec, index: IndexSpec): GlobalSecondaryIndex => {
  const attributes = projectedAttributes(spec, index)
  return {
    IndexName: index.name,
    KeySchema: keySchema(index.pk, index.sk),
    Projection:
      attributes === 'all'
        ? { ProjectionType: 'ALL' }
        : { ProjectionType: 'INCLUDE', NonKeyAttributes: [...attributes] },
  }
}

const keySchema = (hash: string, range: string): CreateTableInput['KeySchema'] & object => [
  { AttributeName: hash, KeyType: 'HASH' },
  { AttributeName: range, KeyType: 'RANGE' },
]

const checkShape = (spec: TableSpec, table: string, description: TableDescription | undefined): void => {
  if (description === undefined) return
  const indexes = new Map(
    description.GlobalSecondaryIndexes?.map(({ IndexName, KeySchema }) => [IndexName, keyNames(KeySchema)]),
  )
  const wrong = [
    ...(keyNames(description.KeySchema) === 'PK,SK' ? [] : ['its key is not PK, SK']),
    ...spec.indexes
      .filter(({ name, pk, sk }) => indexes.get(name) !== `${pk},${sk}`)
      .map(({ name, pk, sk }) => `it lacks index ${name} on ${pk}, ${sk}`),
  ]
  if (wrong.length > 0) {
    throw new Fault(
      'table-mismatch',
      `The table ${table} was not created by this program: ${wrong.join('; ')}. Choose another table name, or drop it.`,
    )
  }
}

const keyNames = (schema: TableDescription['KeySchema']): string =>
  [...(schema ?? [])]
    .sort((a) => (a.KeyType === 'HASH' ? -1 : 1))
    .map(({ AttributeName }) => AttributeName)
    .join()
