import { Fault } from '../../schemas/fault.ts'
import { pages, type Page, type Reader } from '../table.ts'
import { windowOf } from './day.ts'
import { isoOf } from '../instant.ts'
import type { DayPointerItem, MealItem } from './items.ts'
import { dayPointers, eatenOf, meals } from './keys.ts'
import { userPartition } from '../access/keys.ts'

/** A day is a label, so its meals are not one range: most lie in the window of instants it can hold, and pointers lead to the others. */
export interface MealsOfDay {
  readonly user: string
  readonly day: string
  readonly limit: number
  readonly cursor?: string
}

/** In order of their sort keys. The cursor is the last one's key, so it holds whatever comes or goes before it. */
export const mealsOfDay = async (reader: Reader, question: MealsOfDay): Promise<Page<MealItem>> => {
  const after = question.cursor === undefined ? '' : placeIn(question.cursor, question.day)
  const items: MealItem[] = []
  for await (const meal of merged(inWindow(reader, question, after), pointedAt(reader, question, after))) {
    if (items.length === question.limit) return { items, cursor: cursorAt(question.day, items.at(-1)?.SK ?? '') }
    items.push(meal)
  }
  return { items }
}

async function* inWindow(reader: Reader, { user, day }: MealsOfDay, after: string): AsyncGenerator<MealItem> {
  const window = windowOf(day)
  const start = meals.prefix + isoOf(window.from)
  const from = after > start ? after : start
  // A key at the end itself goes on after the instant, so it is greater: the end is exclusive.
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
  // `$` follows `#`: after every pointer of the day, and before those of other days.
  for await (const items of pages(reader, { pk, from, to: `${dayPointers.prefix}${day}$`, limit: PAGE })) {
    waiting.push(...(items as readonly DayPointerItem[]))
    // Pointers of one instant are in order of ids, meals in order of uids: an instant that may go on in the next page waits for it.
    const last = eatenOf(waiting.at(-1)?.to ?? '')
    yield* mealsAt(reader, { pk, day, after, places: waiting.filter(({ to }) => eatenOf(to) !== last) })
    waiting = waiting.filter(({ to }) => eatenOf(to) === last)
  }
  yield* mealsAt(reader, { pk, day, after, places: waiting })
}

async function* mealsAt(reader: Reader, { pk, day, after, places }: { pk: string; day: string; after: string; places: readonly DayPointerItem[] }) {
  const sks = places.map(({ to }) => to).filter((sk) => sk > after).sort()
  const meals = sks.length === 0 ? [] : await reader.getMany(sks.map((SK) => ({ PK: pk, SK })))
  for (const meal of meals as readonly (MealItem | undefined)[]) if (meal?.userDate === day) yield meal
}

/** Two streams in order as one; a meal that is in both comes once. */
async function* merged(a: AsyncGenerator<MealItem>, b: AsyncGenerator<MealItem>): AsyncGenerator<MealItem> {
  let [one, other] = await Promise.all([a.next(), b.next()])
  while (!one.done || !other.done) {
    const meal = other.done || (!one.done && one.value.SK <= other.value.SK) ? one.value : other.value
    if (meal === undefined) return
    yield meal
    if (!other.done && other.value.SK === meal.SK) other = await b.next()
    if (!one.done && one.value.SK === meal.SK) one = await a.next()
  }
}

const PAGE = 100

const cursorAt = (day: string, sk: string): string => Buffer.from(`${day} ${sk}`).toString('base64url')

const placeIn = (cursor: string, day: string): string => {
  const [of, sk = ''] = Buffer.from(cursor, 'base64url').toString().split(' ')
  if (of === day && /^MEAL#\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z#[A-Za-z0-9_-]{1,64}$/.test(sk)) return sk
  throw new Fault('bad-cursor', `The cursor is not one of the meals of ${day}; begin again without it.`)
}
