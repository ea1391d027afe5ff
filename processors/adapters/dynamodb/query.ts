import type { QueryCommandInput } from '@aws-sdk/client-dynamodb'
import { isReturned, type Item } from '../../../projections/item.ts'
import type { IndexSpec, Page, Query } from '../../../projections/table.ts'
import { Fault } from '../../../schemas/fault.ts'
import { toItem, type Attributes } from './codec.ts'
import { cursorAfter, keyFromCursor } from './cursor.ts'
import { abortedBy, isReserved, type Table } from './table.ts'

/** The minimum number of items of a further request. Further requests are needed if expired items left the page incomplete. */
const REFILL = 100

/** Reads one page of items that have not expired. Reads one item more than the limit, so the page gets a cursor only if another item follows. */
export const readPage = async (table: Table, query: Query, now: () => number): Promise<Page> => {
  const { spec } = table
  const index = indexOf(table, query)
  const names = ['PK', 'SK', ...(index === undefined ? [] : [index.pk, index.sk])]
  let start = keyFromCursor(query, names)
  if (isEmpty(query)) return { items: [] }
  const input = inputOf(table, query, index)
  const found: Attributes[] = []
  for (let limit = query.limit + 1; ; limit = Math.max(query.limit + 1 - found.length, REFILL)) {
    const page = await request(table, {
      ...input,
      Limit: limit,
      ...(start === undefined ? {} : { ExclusiveStartKey: start }),
    })
    for (const attributes of page.Items ?? [])
      if (isReturned(toItem(attributes), query, { ttl: spec.ttl, now: now() })) found.push(attributes)
    start = page.LastEvaluatedKey
    if (start === undefined || found.length > query.limit) break
  }
  const items = found.slice(0, query.limit).map((attributes) => projectedItem(table, index, attributes))
  const last = found[query.limit - 1]
  if (found.length <= query.limit || last === undefined) return { items }
  return { items, cursor: cursorAfter(query, Object.fromEntries(names.map((name) => [name, last[name] ?? { S: '' }]))) }
}

const request = ({ name, client, gate, attempts }: Table, input: QueryCommandInput) =>
  attempts(`a query of ${name}`, (_, signal) => gate(() => client.query(input, abortedBy(signal))))

const indexOf = ({ name, spec }: Table, { index }: Query): IndexSpec | undefined => {
  if (index === undefined) return undefined
  const found = spec.indexes.find((candidate) => candidate.name === index)
  if (found === undefined)
    throw new Fault('unknown-index', `The table ${name} has no index ${index}. Use an index of its TableSpec.`)
  return found
}

const isEmpty = ({ pk, from, to, limit }: Query): boolean =>
  limit < 1 || pk === '' || isReserved(pk) || to === '' || (from !== undefined && to !== undefined && isAfter(from, to))

const isAfter = (a: string | number, b: string | number): boolean =>
  typeof a === 'number' || typeof b === 'number' ? a > b : Buffer.compare(Buffer.from(a), Buffer.from(b)) > 0

const valueOf = (bound: string | number): Attributes[string] =>
  typeof bound === 'number' ? { N: String(bound) } : { S: bound }

const inputOf = ({ name }: Table, query: Query, index: IndexSpec | undefined): QueryCommandInput => {
  const range = rangeOf(query)
  return {
    TableName: name,
    ...(index === undefined ? { ConsistentRead: true } : { IndexName: index.name }),
    ScanIndexForward: query.reverse !== true,
    KeyConditionExpression: ['#pk = :pk', ...range.conditions].join(' AND '),
    ExpressionAttributeNames: {
      '#pk': index?.pk ?? 'PK',
      ...(range.conditions.length > 0 ? { '#sk': index?.sk ?? 'SK' } : {}),
    },
    ExpressionAttributeValues: { ':pk': { S: query.pk }, ...range.values },
  }
}

const rangeOf = ({
  prefix,
  from = '',
  to,
}: Query): { readonly conditions: readonly string[]; readonly values: Attributes } => {
  if (prefix !== undefined && prefix !== '')
    return { conditions: ['begins_with(#sk, :prefix)'], values: { ':prefix': { S: prefix } } }
  if (from !== '' && to !== undefined)
    return { conditions: ['#sk BETWEEN :from AND :to'], values: { ':from': valueOf(from), ':to': valueOf(to) } }
  if (from !== '') return { conditions: ['#sk >= :from'], values: { ':from': valueOf(from) } }
  if (to !== undefined) return { conditions: ['#sk <= :to'], values: { ':to': valueOf(to) } }
  return { conditions: [], values: {} }
}

/**
 * Returns the attributes that the query must return. Every index contains the TTL attribute, so this function removes it unless the index lists it in
 * `project`.
 */
const projectedItem = ({ spec }: Table, index: IndexSpec | undefined, attributes: Attributes): Item => {
  const item = toItem(attributes)
  if (index === undefined || index.project === 'all' || index.project.includes(spec.ttl)) return item
  const { [spec.ttl]: _, ...rest } = item
  return rest as Item
}
