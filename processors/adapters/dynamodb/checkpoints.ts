import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import type { Checkpoint } from '../../engine/store.ts'
import type { Attributes } from './codec.ts'
import { CHECKPOINTS, type Table } from './table.ts'

/** One item a partition, all under one key, so that one query lists them. */
export const saveCheckpoint = (table: Table, { partition, offset }: Checkpoint): Promise<void> => {
  const { name, client, gate, attempts, tally } = table
  const key = { PK: CHECKPOINTS, SK: `P#${partition}` }
  return attempts(`the checkpoint of partition ${partition} in ${name}`, async () => {
    try {
      await gate(() =>
        client.putItem({
          TableName: name,
          Item: { PK: { S: key.PK }, SK: { S: key.SK }, partition: { N: `${partition}` }, offset: { N: `${offset}` } },
          ConditionExpression: 'attribute_not_exists(PK) OR #offset < :offset',
          ExpressionAttributeNames: { '#offset': 'offset' },
          ExpressionAttributeValues: { ':offset': { N: `${offset}` } },
        }),
      )
    } catch (error) {
      // It stands there or further already: it never goes backwards.
      if (!(error instanceof ConditionalCheckFailedException)) throw error
    }
    tally.wrote([{ ...key, partition, offset }])
  })
}

export const listCheckpoints = async (table: Table): Promise<ReadonlyMap<number, number>> => {
  const { name, client, gate, attempts } = table
  const offsets = new Map<number, number>()
  let start: Attributes | undefined
  do {
    const page = await attempts(`the checkpoints of ${name}`, () =>
      gate(() =>
        client.query({
          TableName: name,
          ConsistentRead: true,
          KeyConditionExpression: 'PK = :pk',
          ExpressionAttributeValues: { ':pk': { S: CHECKPOINTS } },
          ...(start === undefined ? {} : { ExclusiveStartKey: start }),
        }),
      ),
    )
    for (const item of page.Items ?? []) offsets.set(Number(item['partition']?.N), Number(item['offset']?.N))
    start = page.LastEvaluatedKey
  } while (start !== undefined)
  return offsets
}
