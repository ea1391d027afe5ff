import {
  CreateDatabaseCommand,
  CreateTableCommand,
  DeleteDatabaseCommand,
  DeleteTableCommand,
  DescribeDatabaseCommand,
  DescribeTableCommand,
  ListDatabasesCommand,
  ListTablesCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-timestream-write'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DATABASE, NOW, TABLE, startService, type Service } from './service.ts'

describe('databases and tables', () => {
  let service: Service
  beforeAll(async () => {
    service = await startService()
    await service.createTables({ MagneticStoreWriteProperties: { EnableMagneticStoreWrites: true } })
  })
  afterAll(() => service.close())

  test('the description of a table contains its retention and its times', async () => {
    const { Table } = await service.writing.send(new DescribeTableCommand({ DatabaseName: DATABASE, TableName: TABLE }))
    expect(Table).toMatchObject({
      DatabaseName: DATABASE,
      TableName: TABLE,
      TableStatus: 'ACTIVE',
      CreationTime: new Date(NOW),
      RetentionProperties: { MemoryStoreRetentionPeriodInHours: 24, MagneticStoreRetentionPeriodInDays: 365 },
      MagneticStoreWriteProperties: { EnableMagneticStoreWrites: true },
    })
  })

  test('by default a table stores six hours in memory and accepts no magnetic writes', async () => {
    await service.writing.send(new CreateTableCommand({ DatabaseName: DATABASE, TableName: 'defaults' }))
    const { Table } = await service.writing.send(
      new DescribeTableCommand({ DatabaseName: DATABASE, TableName: 'defaults' }),
    )
    expect(Table?.RetentionProperties).toEqual({
      MemoryStoreRetentionPeriodInHours: 6,
      MagneticStoreRetentionPeriodInDays: 73_000,
    })
    expect(Table?.MagneticStoreWriteProperties).toEqual({ EnableMagneticStoreWrites: false })
  })

  test('an update changes only the properties that it names', async () => {
    await service.writing.send(new CreateTableCommand({ DatabaseName: DATABASE, TableName: 'updated' }))
    const RetentionProperties = { MemoryStoreRetentionPeriodInHours: 48, MagneticStoreRetentionPeriodInDays: 7 }
    await service.writing.send(
      new UpdateTableCommand({ DatabaseName: DATABASE, TableName: 'updated', RetentionProperties }),
    )
    const { Table } = await service.writing.send(
      new UpdateTableCommand({
        DatabaseName: DATABASE,
        TableName: 'updated',
        MagneticStoreWriteProperties: { EnableMagneticStoreWrites: true },
      }),
    )
    expect(Table).toMatchObject({
      RetentionProperties,
      MagneticStoreWriteProperties: { EnableMagneticStoreWrites: true },
    })
  })

  test('a second database or table of the same name is a conflict', async () => {
    await expect(service.writing.send(new CreateDatabaseCommand({ DatabaseName: DATABASE }))).rejects.toMatchObject({
      name: 'ConflictException',
    })
    await expect(
      service.writing.send(new CreateTableCommand({ DatabaseName: DATABASE, TableName: TABLE })),
    ).rejects.toMatchObject({ name: 'ConflictException' })
  })

  test('a missing database or table is not found', async () => {
    const missing = { name: 'ResourceNotFoundException' }
    await expect(service.writing.send(new DescribeDatabaseCommand({ DatabaseName: 'nowhere' }))).rejects.toMatchObject(
      missing,
    )
    await expect(
      service.writing.send(new DescribeTableCommand({ DatabaseName: DATABASE, TableName: 'nothing' })),
    ).rejects.toMatchObject({ ...missing, message: 'The table nothing does not exist.' })
    await expect(
      service.writing.send(new DeleteTableCommand({ DatabaseName: DATABASE, TableName: 'nothing' })),
    ).rejects.toMatchObject(missing)
    await expect(service.write([{}], {}, 'nothing')).rejects.toMatchObject(missing)
  })

  test.each([
    ['a name of two letters', { DatabaseName: DATABASE, TableName: 'ab' }, 'TableName must have 3 to 256'],
    ['a name with a slash', { DatabaseName: DATABASE, TableName: 'a/bc' }, 'TableName must have 3 to 256'],
    [
      'no memory retention',
      {
        DatabaseName: DATABASE,
        TableName: 'none',
        RetentionProperties: { MemoryStoreRetentionPeriodInHours: 0, MagneticStoreRetentionPeriodInDays: 1 },
      },
      'MemoryStoreRetentionPeriodInHours is 0',
    ],
    [
      'a magnetic retention of 73,001 days',
      {
        DatabaseName: DATABASE,
        TableName: 'long',
        RetentionProperties: { MemoryStoreRetentionPeriodInHours: 1, MagneticStoreRetentionPeriodInDays: 73_001 },
      },
      'between 1 and 73000',
    ],
    [
      'partition keys',
      { DatabaseName: DATABASE, TableName: 'keyed', Schema: { CompositePartitionKey: [{ Type: 'MEASURE' as const }] } },
      'not supported by timestream-local',
    ],
  ])('%s is rejected', async (_what, properties, message) => {
    await expect(service.writing.send(new CreateTableCommand(properties))).rejects.toMatchObject({
      name: 'ValidationException',
      message: expect.stringContaining(message),
    })
  })

  test('lists have pages and are sorted by name', async () => {
    for (const name of ['list-c', 'list-a', 'list-b'])
      await service.writing.send(new CreateDatabaseCommand({ DatabaseName: name }))
    const first = await service.writing.send(new ListDatabasesCommand({ MaxResults: 2 }))
    const second = await service.writing.send(
      new ListDatabasesCommand({ MaxResults: 2, ...(first.NextToken && { NextToken: first.NextToken }) }),
    )
    expect([...(first.Databases ?? []), ...(second.Databases ?? [])].map(({ DatabaseName }) => DatabaseName)).toEqual([
      'list-a',
      'list-b',
      'list-c',
      DATABASE,
    ])
    expect(second.NextToken).toBeUndefined()
    const { Tables } = await service.writing.send(new ListTablesCommand({ DatabaseName: DATABASE }))
    expect(Tables?.map(({ TableName }) => TableName)).toContain(TABLE)
    for (const DatabaseName of ['list-a', 'list-b', 'list-c'])
      await service.writing.send(new CreateTableCommand({ DatabaseName, TableName: 'same' }))
    const names: (string | undefined)[] = []
    let NextToken: string | undefined
    do {
      const page = await service.writing.send(new ListTablesCommand({ MaxResults: 1, ...(NextToken && { NextToken }) }))
      names.push(...(page.Tables ?? []).map(({ DatabaseName }) => DatabaseName))
      NextToken = page.NextToken
    } while (NextToken !== undefined)
    expect(names.slice(0, 4)).toEqual(['list-a', 'list-b', 'list-c', DATABASE])
  })

  test('a database with tables is not deleted, and an empty one is', async () => {
    await service.writing.send(new CreateDatabaseCommand({ DatabaseName: 'short-lived' }))
    await service.writing.send(new CreateTableCommand({ DatabaseName: 'short-lived', TableName: 'one' }))
    await expect(
      service.writing.send(new DeleteDatabaseCommand({ DatabaseName: 'short-lived' })),
    ).rejects.toMatchObject({ name: 'ValidationException' })
    await service.writing.send(new DeleteTableCommand({ DatabaseName: 'short-lived', TableName: 'one' }))
    await service.writing.send(new DeleteDatabaseCommand({ DatabaseName: 'short-lived' }))
    await expect(
      service.writing.send(new DescribeDatabaseCommand({ DatabaseName: 'short-lived' })),
    ).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  })
})
