import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { checkpointMoved, requireCheckpoint } from '../../engine/run/fencing.ts'
import type { Checkpoint, Span } from '../../engine/ports/store.ts'
import type { Attributes } from './codec.ts'
import { CHECKPOINTS, type Table } from './table.ts'

const keyOf = (partition: number): Attributes => ({ PK: { S: CHECKPOINTS }, SK: { S: `P#${partition}` } })

const offsetOf = (item: Attributes | undefined): number => Number(item?.['offset']?.N ?? 0)

/** True if the commit moves the checkpoint, so that the new checkpoint must be written. */
export const isMoved = ({ from, offset }: Checkpoint): boolean => from !== offset

/** True if a commit must read the checkpoint first. False for a commit that only moves the checkpoint: the condition of that write checks it. */
export const isConfirmed = (spans: readonly Span[], checkpoint: Checkpoint): boolean =>
  spans.length > 0 || !isMoved(checkpoint)

/**
 * Throws `checkpoint-moved` if the stored checkpoint is not the one that the commit expects. To be called before the items of the commit are written,
 * so that nothing is written to a table that was deleted and created again.
 */
export const confirmCheckpoint = async (
  { name, client, gate, attempts }: Table,
  checkpoint: Checkpoint,
): Promise<void> => {
  const { Item } = await attempts(`the checkpoint of partition ${checkpoint.partition} in ${name}`, () =>
    gate(() => client.getItem({ TableName: name, Key: keyOf(checkpoint.partition), ConsistentRead: true })),
  )
  requireCheckpoint(name, checkpoint, offsetOf(Item))
}

/** Writes the checkpoint of a partition. All checkpoints have the same partition key, so that one query lists them. */
export const saveCheckpoint = async (table: Table, checkpoint: Checkpoint): Promise<void> => {
  const { partition, from, offset } = checkpoint
  if (!isMoved(checkpoint)) return
  const { name, client, gate, attempts, tally } = table
  await attempts(`the checkpoint of partition ${partition} in ${name}`, async () => {
    try {
      await gate(() =>
        client.putItem({
          TableName: name,
          Item: { ...keyOf(partition), partition: { N: `${partition}` }, offset: { N: `${offset}` } },
          // The condition also accepts `offset`, because an earlier attempt may have stored it although its answer was lost.
          ConditionExpression:
            from === 0 ? 'attribute_not_exists(PK) OR #offset IN (:from, :offset)' : '#offset IN (:from, :offset)',
          ExpressionAttributeNames: { '#offset': 'offset' },
          ExpressionAttributeValues: { ':from': { N: `${from}` }, ':offset': { N: `${offset}` } },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      )
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error
      throw checkpointMoved(name, checkpoint, offsetOf(error.Item))
    }
    tally.put([{ PK: CHECKPOINTS, SK: `P#${partition}`, partition, offset }])
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
    for (const item of page.Items ?? []) offsets.set(Number(item['partition']?.N), offsetOf(item))
    start = page.LastEvaluatedKey
  } while (start !== undefined)
  return offsets
}
