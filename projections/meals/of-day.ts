import { Fault } from '../../schemas/fault.ts'
import { pages, type Page, type Reader } from '../table.ts'
import { windowOf } from './day.ts'
import { isoOf } from '../instant.ts'
import type { DayPointerItem, MealItem } from './items.ts'
import { dayPointers, eatenOf, meals } from './keys.ts'
import { userPartition } from '../access/keys.ts'

/**
 * A query for the meals of a logical day: the day to which a meal is counted. Most of them were eaten between the start
 * and the end of this day, which is one range of keys. For each other meal, a day pointer (an item) contains its key.
 */
export interface MealsOfDay {
  readonly user: string
  readonly day: string
  readonly limit: number
  readonly cursor?: string
}

/**
 * Reads the meals in the order of their sort keys. The cursor contains the sort key of the last meal, so it stays
 * valid when earlier meals are added or removed.
 */
export const mealsOfDay = async (reader: Reader, query: MealsOfDay): Promise<Page<MealItem>> => {
  const after = query.cursor === undefined ? '' : sortKeyIn(query.cursor, query.day)
  const items: MealItem[] = []
  for await (const meal of merged(inWindow(reader, query, after), pointedAt(reader, query, after))) {
    if (items.length === query.limit) return { items, cursor: cursorAt(query.day, items.at(-1)?.SK ?? '') }
    items.push(meal)
  }
  return { items }
}

async function* inWindow(reader: Reader, { user, day }: MealsOfDay, after: string): AsyncGenerator<MealItem> {
  const window = windowOf(day)
  const start = meals.prefix + isoOf(window.from)
  const from = after > start ? after : start
  // The sort key of a meal continues after the instant. So a meal at the end instant sorts after `to`, and the end is exclusive.
  const to = meals.prefix + isoOf(window.to)
  if (from > to) return
  for await (const items of pages(reader, { pk: userPartition(user), from, to, limit: PAGE })) {
    for (const meal of items as readonly MealItem[]) if (meal.userDate === day && meal.SK > after) yield meal
  }
}

async function* pointedAt(reader: Reader, { user, day }: MealsOfDay, after: string): AsyncGenerator<MealItem> {
  const pk = userPartition(user)
  const from = `${dayPointers.prefix}${day}#${eatenOf(after)}`
  let waiting: DayPointerItem[] = []
  // `$` sorts after `#`, so this bound is after every pointer of the day and before the pointers of later days.
  for await (const items of pages(reader, { pk, from, to: `${dayPointers.prefix}${day}$`, limit: PAGE })) {
    waiting.push(...(items as readonly DayPointerItem[]))
    // Pointers of the same instant are sorted by meal id, but meals by uid. The next page can contain more pointers of
    // the last instant, so the pointers of this instant wait for the next page.
    const last = eatenOf(waiting.at(-1)?.to ?? '')
    yield* mealsAt(reader, { pk, day, after, pointers: waiting.filter(({ to }) => eatenOf(to) !== last) })
    waiting = waiting.filter(({ to }) => eatenOf(to) === last)
  }
  yield* mealsAt(reader, { pk, day, after, pointers: waiting })
}

async function* mealsAt(
  reader: Reader,
  { pk, day, after, pointers }: { pk: string; day: string; after: string; pointers: readonly DayPointerItem[] },
) {
  const sks = pointers
    .map(({ to }) => to)
    .filter((sk) => sk > after)
    .sort()
  const meals = sks.length === 0 ? [] : await reader.getMany(sks.map((SK) => ({ PK: pk, SK })))
  for (const meal of meals as readonly (MealItem | undefined)[]) if (meal?.userDate === day) yield meal
}

/** Merges two sorted streams. A meal that is in both is returned once. */
async function* merged(a: AsyncGenerator<MealItem>, b: AsyncGenerator<MealItem>): AsyncGenerator<MealItem> {
  let [first, second] = await Promise.all([a.next(), b.next()])
  while (!first.done || !second.done) {
    const meal = second.done || (!first.done && first.value.SK <= second.value.SK) ? first.value : second.value
    if (meal === undefined) return
    yield meal
    if (!second.done && second.value.SK === meal.SK) second = await b.next()
    if (!first.done && first.value.SK === meal.SK) first = await a.next()
  }
}

const PAGE = 100

const cursorAt = (day: string, sk: string): string => Buffer.from(`${day} ${sk}`).toString('base64url')

const sortKeyIn = (cursor: string, day: string): string => {
  const [of, sk = ''] = Buffer.from(cursor, 'base64url').toString().split(' ')
  if (of === day && /^MEAL#\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z#[A-Za-z0-9_-]{1,64}$/.test(sk)) return sk
  throw new Fault(
    'bad-cursor',
    `The cursor does not belong to the list of meals of ${day}. Repeat the request without it.`,
  )
}
