import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from '../../../processors/adapters/dynamodb/connect.ts'
import { dynamoStores, type DynamoStores } from '../../../processors/adapters/dynamodb/store.ts'
import { expensesTable } from '../../../projections/expenses/table.ts'
import { describeWith } from '../available.ts'
import { dynamodbAvailable, sharedDynamoDb } from '../dynamodb.ts'

describeWith('the table on DynamoDB Local', dynamodbAvailable(), () => {
  let endpoint: string
  let stores: DynamoStores
  beforeAll(async () => {
    endpoint = (await sharedDynamoDb()).endpoint
    stores = dynamoStores({ endpoint })
  })
  afterAll(() => stores?.close())

  test('E1: FractiTable has on-demand billing, the keys PK and SK, and three indexes that project all attributes', async () => {
    expect(expensesTable.name).toBe('FractiTable')
    const name = `${expensesTable.name}-${process.pid}`
    await stores.create({ ...expensesTable, name }, 1)
    const client = connect({ endpoint })
    const { Table } = await client.describeTable({ TableName: name })
    client.destroy()
    const keyed = (pk: string, sk: string) => [
      { AttributeName: pk, KeyType: 'HASH' },
      { AttributeName: sk, KeyType: 'RANGE' },
    ]
    expect(Table).toMatchObject({
      BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
      KeySchema: keyed('PK', 'SK'),
    })
    expect(
      Table?.AttributeDefinitions?.map(
        ({ AttributeName, AttributeType }) => `${AttributeName} ${AttributeType}`,
      ).sort(),
    ).toEqual(
      ['PK', 'SK', 'GSI1PK', 'GSI1SK', 'GSI2PK', 'GSI2SK', 'GSI3PK', 'GSI3SK']
        .map((attribute) => `${attribute} S`)
        .sort(),
    )
    const indexes = Table?.GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => ({
      IndexName,
      KeySchema,
      Projection,
    }))
    expect(indexes?.sort((a, b) => String(a.IndexName).localeCompare(String(b.IndexName)))).toEqual(
      [1, 2, 3].map((n) => ({
        IndexName: `GSI${n}`,
        KeySchema: keyed(`GSI${n}PK`, `GSI${n}SK`),
        Projection: { ProjectionType: 'ALL' },
      })),
    )
  })
})
