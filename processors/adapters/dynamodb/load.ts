import type { KeysAndAttributes } from '@aws-sdk/client-dynamodb'
import { keyOf, type Key, type Stored } from '../../../projections/item.ts'
import { isStorableKey } from '../../engine/rows/storable.ts'
import { NOTHING_DONE, PARTLY_DONE } from './attempts.ts'
import { toStored, type Attributes } from './codec.ts'
import { all } from './gate.ts'
import { abortedBy, type Table } from './table.ts'

const MAX_GETS = 100

/**
 * Loads items with strong consistency, in the order of the keys. Fetches each key once. A missing item is undefined. A key that is too large is
 * not requested, because DynamoDB would reject the whole request. Its item is undefined.
 */
export const load = async (table: Table, keys: readonly Key[]): Promise<readonly (Stored | undefined)[]> => {
  const distinct = [...new Map(keys.map((key) => [keyOf(key), key])).values()].filter(isStorableKey)
  const found = new Map<string, Stored>()
  const batches: Promise<void>[] = []
  for (let from = 0; from < distinct.length; from += MAX_GETS)
    batches.push(loadBatch(table, distinct.slice(from, from + MAX_GETS), found))
  await all(batches)
  return keys.map((key) => found.get(keyOf(key)))
}

const loadBatch = (
  { name, client, gate, attempts, tally }: Table,
  keys: readonly Key[],
  found: Map<string, Stored>,
): Promise<void> => {
  let left: KeysAndAttributes['Keys'] = keys.map(({ PK, SK }) => ({ PK: { S: PK }, SK: { S: SK } }))
  return attempts(`a read of ${name}`, async (_, signal) => {
    const answer = await gate(() =>
      client.batchGetItem({ RequestItems: { [name]: { Keys: left, ConsistentRead: true } } }, abortedBy(signal)),
    )
    const items = answer.Responses?.[name] ?? []
    for (const attributes of items) {
      const item = toStored(attributes)
      found.set(keyOf(item), item)
      tally.loaded(item)
    }
    left = answer.UnprocessedKeys?.[name]?.Keys ?? []
    if (left.length === 0) return undefined
    return items.length > 0 ? PARTLY_DONE : NOTHING_DONE
  })
}

/** All items in pages, checkpoints included. Strongly consistent. */
export async function* scan({ name, client, gate, attempts }: Table): AsyncGenerator<readonly Stored[]> {
  let start: Attributes | undefined
  do {
    const page = await attempts(`a scan of ${name}`, () =>
      gate(() =>
        client.scan({
          TableName: name,
          ConsistentRead: true,
          ...(start === undefined ? {} : { ExclusiveStartKey: start }),
        }),
      ),
    )
    start = page.LastEvaluatedKey
    if (page.Items !== undefined && page.Items.length > 0) yield page.Items.map(toStored)
  } while (start !== undefined)
}
