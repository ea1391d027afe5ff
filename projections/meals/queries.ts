import { userPartition } from '../access/keys.ts'
import { accessQueries } from '../access/queries.ts'
import type { Key } from '../item.ts'
import type { Page, Query, Reader } from '../table.ts'
import { isoOf } from '../instant.ts'
import type { DaySummaryItem, GoneMealItem, ImportItem, MealItem, TargetsItem } from './items.ts'
import { dayIn, goneMealKey, importKey, mealKey, mealNameOf, MEALS, SUMMARIES, targetsKey } from './keys.ts'
import { goalsBetween, type Goals } from './goals.ts'
import { mealsOfDay } from './of-day.ts'

/** A page of a list: how many, and where the page before ended. */
export type Paging = Pick<Query, 'limit' | 'cursor' | 'reverse'>

/** Where a meal is: there, deleted (and what was), or never heard of. */
export type Standing =
  | { readonly state: 'present'; readonly meal: MealItem }
  | { readonly state: 'deleted'; readonly meal: MealItem | null }
  | { readonly state: 'unknown' }

export interface SummaryOfDay {
  readonly day: string
  readonly summary: DaySummaryItem
  /** The goals that held on that day. */
  readonly goals: Goals | undefined
}

/** Days, both inclusive. */
export interface DaySpan {
  readonly from: string
  readonly to: string
}

/** The access patterns of the meals table, each named as its question. */
export const mealsQueries = (reader: Reader): MealsQueries => {
  const known = queries.get(reader) ?? createQueries(reader)
  queries.set(reader, known)
  return known
}

const queries = new WeakMap<Reader, MealsQueries>()

const createQueries = (reader: Reader) => ({
  /** Instants in epoch milliseconds, `to` exclusive. */
  mealsBetween: (user: string, span: { from: number; to: number }, paging: Paging): Promise<Page<MealItem>> =>
    span.from >= span.to
      ? Promise.resolve({ items: [] })
      : list<MealItem>(reader, { pk: userPartition(user), from: MEALS + isoOf(span.from), to: MEALS + isoOf(span.to), ...paging }),
  mealsOfDay: (user: string, day: string, paging: Omit<Paging, 'reverse'>): Promise<Page<MealItem>> => mealsOfDay(reader, { user, day, ...paging }),
  meal: async (user: string, id: string): Promise<MealItem | undefined> => {
    const standing = await standingOf(reader, user, id)
    return standing.state === 'present' ? standing.meal : undefined
  },
  standing: (user: string, id: string): Promise<Standing> => standingOf(reader, user, id),
  summariesBetween: (user: string, span: DaySpan, paging: Paging): Promise<Page<SummaryOfDay>> => summariesBetween(reader, { user, span, paging }),
  daysLogged: (user: string, span: DaySpan, paging: Paging): Promise<Page<string>> => daysLogged(reader, { user, span, paging }),
  targets: (user: string) => find<TargetsItem>(reader, targetsKey(user)),
  goalsOn: async (user: string, day: string): Promise<Goals | undefined> => (await goalsBetween(reader, user, { from: day, to: day }))(day),
  ...accessQueries(reader),
  importOf: (user: string, importId: string) => find<ImportItem>(reader, importKey(user, importId)),
})

export type MealsQueries = ReturnType<typeof createQueries>

const list = async <I>(reader: Reader, query: Query): Promise<Page<I>> => (await reader.query(query)) as Page<I>

const find = async <I>(reader: Reader, key: Key): Promise<I | undefined> => (await reader.get(key)) as I | undefined

/** A meal that is being moved while we look lies under another key by the time we follow its redirect: look again. */
const LOOKS = 3

const standingOf = async (reader: Reader, user: string, id: string): Promise<Standing> => {
  const name = mealNameOf(id)
  if (name === undefined) return { state: 'unknown' }
  for (let look = 0; look < LOOKS; look++) {
    const [home, left] = await reader.getMany([mealKey(user, name.eaten, name.uid), goneMealKey(user, id)])
    const gone = left as GoneMealItem | undefined
    if (gone?.state === 'deleted') return { state: 'deleted', meal: gone.meal }
    const meal = gone === undefined ? (home as MealItem | undefined) : await find<MealItem>(reader, { PK: gone.PK, SK: gone.to })
    if (meal?.mealId === id) return { state: 'present', meal }
    if (gone === undefined) return { state: 'unknown' }
  }
  return { state: 'unknown' }
}

interface OfDays {
  readonly user: string
  readonly span: DaySpan
  readonly paging: Paging
}

const summaries = (reader: Reader, { user, span, paging }: OfDays): Promise<Page<DaySummaryItem>> =>
  span.from > span.to
    ? Promise.resolve({ items: [] })
    : list<DaySummaryItem>(reader, { pk: userPartition(user), from: SUMMARIES + span.from, to: SUMMARIES + span.to, ...paging })

const summariesBetween = async (reader: Reader, question: OfDays): Promise<Page<SummaryOfDay>> => {
  const { items, ...rest } = await summaries(reader, question)
  const days = items.map(({ SK }) => dayIn(SK, SUMMARIES)).sort()
  const [from, to] = [days[0], days.at(-1)]
  if (from === undefined || to === undefined) return { items: [], ...rest }
  const goals = await goalsBetween(reader, question.user, { from, to })
  return { items: items.map((summary) => ({ day: dayIn(summary.SK, SUMMARIES), summary, goals: goals(dayIn(summary.SK, SUMMARIES)) })), ...rest }
}

/** An emptied day keeps its summary and is not a day logged, so a page is filled from as many reads as it takes. */
const daysLogged = async (reader: Reader, { user, span, paging }: OfDays): Promise<Page<string>> => {
  const days: string[] = []
  let cursor = paging.cursor
  do {
    const page: Page<DaySummaryItem> = await summaries(reader, {
      user,
      span,
      paging: { ...(paging.reverse && { reverse: true }), limit: paging.limit - days.length, ...(cursor !== undefined && { cursor }) },
    })
    days.push(...page.items.filter(({ mealCount }) => mealCount > 0).map(({ SK }) => dayIn(SK, SUMMARIES)))
    cursor = page.cursor
  } while (cursor !== undefined && days.length < paging.limit)
  return { items: days, ...(cursor !== undefined && { cursor }) }
}
