import type { QueryCommandInput } from '@aws-sdk/client-dynamodb'
import { isExpired, type Item } from '../../../projections/item.ts'
import type { IndexSpec, Page, Query } from '../../../projections/table.ts'
import { Fault } from '../../../schemas/fault.ts'
import { toItem, type Attributes } from './codec.ts'
import { cursorAfter, keyFromCursor } from './cursor.ts'
import { abortedBy, isReserved, type Table } from './table.ts'

/** Once items turned out expired, ask for more at a time than the page still needs. */
const REFILL = 100

/** One page of what has not expired. One more than asked for is sought, so that a cursor means there is more. */
export const query = async (table: Table, asked: Query, now: () => number): Promise<Page> => {
  const { spec } = table
  const index = indexOf(table, asked)
  const names = ['PK', 'SK', ...(index === undefined ? [] : [index.pk, index.sk])]
  let start = keyFromCursor(asked, names)
  if (isEmpty(asked)) return { items: [] }
  const request = requestOf(table, asked, index)
  const found: Attributes[] = []
  for (let limit = asked.limit + 1; ; limit = Math.max(asked.limit + 1 - found.length, REFILL)) {
    const page = await ask(table, { ...request, Limit: limit, ...(start === undefined ? {} : { ExclusiveStartKey: start }) })
    for (const attributes of page.Items ?? []) if (!isExpired(toItem(attributes), spec.ttl, now())) found.push(attributes)
    start = page.LastEvaluatedKey
    if (start === undefined || found.length > asked.limit) break
  }
  const items = found.slice(0, asked.limit).map((attributes) => shown(table, index, attributes))
  const last = found[asked.limit - 1]
  if (found.length <= asked.limit || last === undefined) return { items }
  return { items, cursor: cursorAfter(asked, Object.fromEntries(names.map((name) => [name, last[name] ?? { S: '' }]))) }
}

const ask = ({ name, client, gate, attempts }: Table, input: QueryCommandInput) => attempts(`a query of ${name}`, (_, signal) => gate(() => client.query(input, abortedBy(signal))))

const indexOf = ({ name, spec }: Table, { index }: Query): IndexSpec | undefined => {
  if (index === undefined) return undefined
  const found = spec.indexes.find((one) => one.name === index)
  if (found === undefined) throw new Fault('unknown-index', `The table ${name} has no index ${index}. Ask one that its TableSpec names.`)
  return found
}

const isEmpty = ({ pk, from, to, limit }: Query): boolean =>
  limit < 1 || pk === '' || isReserved(pk) || to === '' || (from !== undefined && to !== undefined && isAfter(from, to))

const isAfter = (a: string | number, b: string | number): boolean =>
  typeof a === 'number' || typeof b === 'number' ? a > b : Buffer.compare(Buffer.from(a), Buffer.from(b)) > 0

const valueOf = (bound: string | number): Attributes[string] => (typeof bound === 'number' ? { N: String(bound) } : { S: bound })

const requestOf = ({ name }: Table, asked: Query, index: IndexSpec | undefined): QueryCommandInput => {
  const range = rangeOf(asked)
  return {
    TableName: name,
    ...(index === undefined ? { ConsistentRead: true } : { IndexName: index.name }),
    ScanIndexForward: asked.reverse !== true,
    KeyConditionExpression: ['#pk = :pk', ...range.conditions].join(' AND '),
    ExpressionAttributeNames: { '#pk': index?.pk ?? 'PK', ...(range.conditions.length > 0 ? { '#sk': index?.sk ?? 'SK' } : {}) },
    ExpressionAttributeValues: { ':pk': { S: asked.pk }, ...range.values },
  }
}

const rangeOf = ({ prefix, from = '', to }: Query): { readonly conditions: readonly string[]; readonly values: Attributes } => {
  if (prefix !== undefined && prefix !== '') return { conditions: ['begins_with(#sk, :prefix)'], values: { ':prefix': { S: prefix } } }
  if (from !== '' && to !== undefined) return { conditions: ['#sk BETWEEN :from AND :to'], values: { ':from': valueOf(from), ':to': valueOf(to) } }
  if (from !== '') return { conditions: ['#sk >= :from'], values: { ':from': valueOf(from) } }
  if (to !== undefined) return { conditions: ['#sk <= :to'], values: { ':to': valueOf(to) } }
  return { conditions: [], values: {} }
}

/** The TTL attribute lies in every index for our sake; it is shown only where the index names it. */
const shown = ({ spec }: Table, index: IndexSpec | undefined, attributes: Attributes): Item => {
  const item = toItem(attributes)
  if (index === undefined || index.project === 'all' || index.project.includes(spec.ttl)) return item
  const { [spec.ttl]: _, ...rest } = item
  return rest as Item
}
