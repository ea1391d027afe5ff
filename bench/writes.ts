import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { dynamoStores, type DynamoStore } from '../processors/adapters/dynamodb/store.ts'
import { writeUnits } from '../processors/adapters/dynamodb/units.ts'
import { advance } from '../processors/engine/advance.ts'
import { decidersOf, type Decider, type Heard } from '../processors/engine/decide.ts'
import { meals } from '../processors/meals/domain.ts'
import type { Item } from '../projections/item.ts'
import type { DaySummaryItem, MealItem } from '../projections/meals/items.ts'
import { dayOf } from '../projections/meals/day.ts'
import { mealIdOf, uidOf } from '../projections/meals/keys.ts'
import { mealsTable } from '../projections/meals/table.ts'
import { tableName } from '../projections/table.ts'
import type { Event } from '../schemas/event.ts'
import type { MealLoggedData } from '../schemas/generated/meals.ts'
import { startServices } from './services.ts'
import { perSecond, printTable, ratio } from './table.ts'
import { mealEvents } from './workload.ts'

const DAYS = 120
const MEALS_A_DAY = 6
/** Only a name: the source document's way writes to it by the plain client. */
const THEIRS = 103
const [decider] = decidersOf(meals, { outbox: undefined, timers: () => [] }) as [Decider]

interface Spent {
  readonly seconds: number
  readonly domain: number
  readonly bookkeeping: number
}

/** Days of six meals, each a day of another user, as they lie in the log. */
const days = (first: number): readonly (readonly Heard[])[] => {
  const all = [...mealEvents({ events: DAYS * MEALS_A_DAY * 2, users: DAYS, seed: 7 })].filter(({ type }) => type === 'MealLogged')
  const byUser = new Map<string, Heard[]>()
  for (const [index, event] of all.entries()) {
    const list = byUser.get(event.meta.key) ?? []
    if (list.length < MEALS_A_DAY) list.push({ event: onOneDay(event, list.length), partition: 0, offset: first + index })
    byUser.set(event.meta.key, list)
  }
  return [...byUser.values()]
}

/** The meals of a user, every two hours of one day, as the 4 AM rule sees it: no pointers from days. */
const onOneDay = (event: Event, nth: number): Event => {
  const data = event.data as MealLoggedData
  const eatenAt = Date.UTC(2024, 0, 1, 7 + 2 * nth)
  return { ...event, data: { ...data, eatenAt, mealId: mealIdOf(new Date(eatenAt).toISOString(), uidOf(data.mealId)), userDate: dayOf(eatenAt, data.utcOffsetMinutes) } }
}

const timed = async (store: DynamoStore, work: () => Promise<void>): Promise<Spent> => {
  const before = store.units()
  const began = performance.now()
  await work()
  const after = store.units()
  return { seconds: (performance.now() - began) / 1000, domain: after.domain - before.domain, bookkeeping: after.bookkeeping - before.bookkeeping }
}

const ours = (store: DynamoStore, batches: readonly (readonly Heard[])[]) =>
  timed(store, async () => {
    for (const heard of batches) {
      const last = heard.at(-1) as Heard
      await advance({ store, spans: [{ decider, key: last.event.meta.key, heard }], checkpoint: { partition: 0, from: heard[0]?.offset ?? 0, offset: last.offset + 1 } })
    }
  })

/** The source document's way: one transaction a meal, the meal put and the totals added to the summary (M16). */
const theirs = async (client: DynamoDBDocumentClient, table: string, items: ReadonlyMap<Heard, { readonly meal: MealItem; readonly before: DaySummaryItem | undefined; readonly after: DaySummaryItem }>): Promise<Spent> => {
  const began = performance.now()
  let domain = 0
  for (const { meal, before, after } of items.values()) {
    await client.send(new TransactWriteCommand({ TransactItems: [{ Put: { TableName: table, Item: meal } }, { Update: { TableName: table, Key: { PK: after.PK, SK: after.SK }, ...adding(meal) } }] }))
    domain += writeUnits({ spec: mealsTable, touches: [{ after: meal }, { before, after }], mode: 'transaction' }).domain
  }
  return { seconds: (performance.now() - began) / 1000, domain, bookkeeping: 0 }
}

const adding = (meal: MealItem) => ({
  UpdateExpression: 'ADD totalCalories :c, totalProtein :p, totalCarbs :b, totalFat :f, mealCount :one SET updatedAt = :at',
  ExpressionAttributeValues: { ':c': meal.calories, ':p': meal.protein, ':b': meal.carbs, ':f': meal.fat, ':one': 1, ':at': meal.createdAt },
})

/** The same items the folds write, event by event, so that both ways write alike. */
const itemsOf = (batches: readonly (readonly Heard[])[]) => {
  const summaries = new Map<string, DaySummaryItem>()
  const found = new Map<Heard, { meal: MealItem; before: DaySummaryItem | undefined; after: DaySummaryItem }>()
  for (const heard of batches.flat()) {
    const get = <I extends Item>(key: { PK: string; SK: string }) => summaries.get(`${key.PK} ${key.SK}`) as Item as I | undefined
    const { items = [] } = decider.projection.folds[heard.event.type]?.(heard.event, get) ?? {}
    const [meal, after] = [items[0] as MealItem, items[1] as DaySummaryItem]
    found.set(heard, { meal, before: summaries.get(`${after.PK} ${after.SK}`), after })
    summaries.set(`${after.PK} ${after.SK}`, after)
  }
  return found
}

/** Events a second and write units an event into DynamoDB Local, beside one transaction a meal; our bookkeeping apart. */
export const writesBench = async (): Promise<void> => {
  const services = await startServices()
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const stores = dynamoStores({ endpoint: services.dynamodb, region: 'local', credentials })
  const client = new DynamoDBClient({ endpoint: services.dynamodb, region: 'local', credentials })
  try {
    const [trickleTable, burstTable] = [await stores.create(mealsTable, 101), await stores.create(mealsTable, 102)]
    await stores.create(mealsTable, THEIRS)
    const batches = days(0)
    const single = batches.flat().map((heard) => [heard])
    const trickle = await ours(trickleTable, single)
    const source = await theirs(DynamoDBDocumentClient.from(client), tableName(mealsTable, THEIRS), itemsOf(batches))
    const burst = await ours(burstTable, batches)
    report(batches.flat().length, { trickle, source, burst })
  } finally {
    client.destroy()
    await stores.close()
    await services.stop()
  }
}

const report = (events: number, { trickle, source, burst }: Record<'trickle' | 'source' | 'burst', Spent>) => {
  const row = (name: string, { seconds, domain, bookkeeping }: Spent) => [name, perSecond(events, seconds), (domain / events).toFixed(2), ratio(domain / source.domain), (bookkeeping / events).toFixed(2)]
  printTable(`writes: ${events} meals into DynamoDB Local; units by the documented rules`, [
    ['', 'events/s', 'write units/event', 'ratio to one transaction a meal', 'our bookkeeping/event'],
    row('one transaction a meal (source document)', source),
    row('trickle: one event at a time', trickle),
    row(`burst: a day of ${MEALS_A_DAY} meals of one user at once`, burst),
  ])
}
