import { getAll, oncePerReader, type Paging } from '../entity.ts'
import type { Page, Reader } from '../table.ts'
import { isoOf } from '../instant.ts'
import type { DaySummaryItem, MealItem } from './items.ts'
import { dayIn, goneMeals, mealNameOf, meals, summaries } from './keys.ts'
import { goalsBetween, type Goals } from './goals.ts'
import { mealsOfDay } from './of-day.ts'

/**
 * The state of a meal. `unknown`: the meal never existed. For a deleted meal, `meal` is null if the delete was folded
 * before the create.
 */
export type MealState =
  | { readonly state: 'present'; readonly meal: MealItem }
  | { readonly state: 'deleted'; readonly meal: MealItem | null }
  | { readonly state: 'unknown' }

export interface SummaryOfDay {
  readonly day: string
  readonly summary: DaySummaryItem
  /** The goals that applied on that day. */
  readonly goals: Goals | undefined
}

/** The first and the last day, both inclusive. */
export interface DaySpan {
  readonly from: string
  readonly to: string
}

/** The queries of the meals table that read more than one item or entity. */
export const mealsQueries = oncePerReader((reader) => ({
  /** The meals between two instants in epoch milliseconds. `to` is exclusive. */
  mealsBetween: (user: string, span: { from: number; to: number }, paging: Paging): Promise<Page<MealItem>> =>
    span.from >= span.to
      ? Promise.resolve({ items: [] })
      : meals.page(reader, user, { from: isoOf(span.from), to: isoOf(span.to), ...paging }),
  mealsOfDay: (user: string, day: string, paging: Omit<Paging, 'reverse'>): Promise<Page<MealItem>> =>
    mealsOfDay(reader, { user, day, ...paging }),
  meal: async (user: string, id: string): Promise<MealItem | undefined> => {
    const found = await mealStateOf(reader, user, id)
    return found.state === 'present' ? found.meal : undefined
  },
  mealState: (user: string, id: string): Promise<MealState> => mealStateOf(reader, user, id),
  summariesBetween: (user: string, span: DaySpan, paging: Paging): Promise<Page<SummaryOfDay>> =>
    summariesBetween(reader, { user, span, paging }),
  daysLogged: (user: string, span: DaySpan, paging: Paging): Promise<Page<string>> =>
    daysLogged(reader, { user, span, paging }),
}))

export type MealsQueries = ReturnType<typeof mealsQueries>

/**
 * The maximum number of attempts to read a meal. A meal can move between the read of its redirect and the read of the
 * meal. Then the query reads both again.
 */
const MOST_ATTEMPTS = 3

const mealStateOf = async (reader: Reader, user: string, id: string): Promise<MealState> => {
  const name = mealNameOf(id)
  if (name === undefined) return { state: 'unknown' }
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const [atFirstKey, gone] = await getAll(reader, [meals.key(user, name.eaten, name.uid), goneMeals.key(user, id)])
    if (gone?.state === 'deleted') return { state: 'deleted', meal: gone.meal }
    const meal =
      gone === undefined ? atFirstKey : ((await reader.get({ PK: gone.PK, SK: gone.to })) as MealItem | undefined)
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

const summariesOf = (reader: Reader, { user, span, paging }: OfDays): Promise<Page<DaySummaryItem>> =>
  span.from > span.to ? Promise.resolve({ items: [] }) : summaries.page(reader, user, { ...span, ...paging })

const summariesBetween = async (reader: Reader, query: OfDays): Promise<Page<SummaryOfDay>> => {
  const { items, ...rest } = await summariesOf(reader, query)
  const days = items.map(({ SK }) => dayIn(SK, summaries)).sort()
  const [from, to] = [days[0], days.at(-1)]
  if (from === undefined || to === undefined) return { items: [], ...rest }
  const goals = await goalsBetween(reader, query.user, { from, to })
  return {
    items: items.map((summary) => ({
      day: dayIn(summary.SK, summaries),
      summary,
      goals: goals(dayIn(summary.SK, summaries)),
    })),
    ...rest,
  }
}

/** The days with at least one meal. A day that has lost its meals still has a summary, so one page can need several reads. */
const daysLogged = async (reader: Reader, { user, span, paging }: OfDays): Promise<Page<string>> => {
  const days: string[] = []
  let cursor = paging.cursor
  do {
    const page: Page<DaySummaryItem> = await summariesOf(reader, {
      user,
      span,
      paging: {
        ...(paging.reverse && { reverse: true }),
        limit: paging.limit - days.length,
        ...(cursor !== undefined && { cursor }),
      },
    })
    days.push(...page.items.filter(({ mealCount }) => mealCount > 0).map(({ SK }) => dayIn(SK, summaries)))
    cursor = page.cursor
  } while (cursor !== undefined && days.length < paging.limit)
  return { items: days, ...(cursor !== undefined && { cursor }) }
}
