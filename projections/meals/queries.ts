import { getAll, oncePerReader, type Paging } from '../entity.ts'
import type { Page, Reader } from '../table.ts'
import { isoOf } from '../instant.ts'
import type { DaySummaryItem, MealItem } from './items.ts'
import { dayIn, goneMeals, mealNameOf, meals, summaries } from './keys.ts'
import { goalsBetween, type Goals } from './goals.ts'
import { mealsOfDay } from './of-day.ts'

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

/** The access patterns of the meals table that read more than one item or entity. */
export const mealsQueries = oncePerReader((reader) => ({
  /** Instants in epoch milliseconds, `to` exclusive. */
  mealsBetween: (user: string, span: { from: number; to: number }, paging: Paging): Promise<Page<MealItem>> =>
    span.from >= span.to ? Promise.resolve({ items: [] }) : meals.page(reader, user, { from: isoOf(span.from), to: isoOf(span.to), ...paging }),
  mealsOfDay: (user: string, day: string, paging: Omit<Paging, 'reverse'>): Promise<Page<MealItem>> => mealsOfDay(reader, { user, day, ...paging }),
  meal: async (user: string, id: string): Promise<MealItem | undefined> => {
    const standing = await standingOf(reader, user, id)
    return standing.state === 'present' ? standing.meal : undefined
  },
  standing: (user: string, id: string): Promise<Standing> => standingOf(reader, user, id),
  summariesBetween: (user: string, span: DaySpan, paging: Paging): Promise<Page<SummaryOfDay>> => summariesBetween(reader, { user, span, paging }),
  daysLogged: (user: string, span: DaySpan, paging: Paging): Promise<Page<string>> => daysLogged(reader, { user, span, paging }),
}))

export type MealsQueries = ReturnType<typeof mealsQueries>

/** A meal that is being moved while we look lies under another key by the time we follow its redirect: look again. */
const LOOKS = 3

const standingOf = async (reader: Reader, user: string, id: string): Promise<Standing> => {
  const name = mealNameOf(id)
  if (name === undefined) return { state: 'unknown' }
  for (let look = 0; look < LOOKS; look++) {
    const [home, gone] = await getAll(reader, [meals.key(user, name.eaten, name.uid), goneMeals.key(user, id)])
    if (gone?.state === 'deleted') return { state: 'deleted', meal: gone.meal }
    const meal = gone === undefined ? home : ((await reader.get({ PK: gone.PK, SK: gone.to })) as MealItem | undefined)
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
  span.from > span.to
    ? Promise.resolve({ items: [] })
    : summaries.page(reader, user, { ...span, ...paging })

const summariesBetween = async (reader: Reader, question: OfDays): Promise<Page<SummaryOfDay>> => {
  const { items, ...rest } = await summariesOf(reader, question)
  const days = items.map(({ SK }) => dayIn(SK, summaries)).sort()
  const [from, to] = [days[0], days.at(-1)]
  if (from === undefined || to === undefined) return { items: [], ...rest }
  const goals = await goalsBetween(reader, question.user, { from, to })
  return { items: items.map((summary) => ({ day: dayIn(summary.SK, summaries), summary, goals: goals(dayIn(summary.SK, summaries)) })), ...rest }
}

/** An emptied day keeps its summary and is not a day logged, so a page is filled from as many reads as it takes. */
const daysLogged = async (reader: Reader, { user, span, paging }: OfDays): Promise<Page<string>> => {
  const days: string[] = []
  let cursor = paging.cursor
  do {
    const page: Page<DaySummaryItem> = await summariesOf(reader, {
      user,
      span,
      paging: { ...(paging.reverse && { reverse: true }), limit: paging.limit - days.length, ...(cursor !== undefined && { cursor }) },
    })
    days.push(...page.items.filter(({ mealCount }) => mealCount > 0).map(({ SK }) => dayIn(SK, summaries)))
    cursor = page.cursor
  } while (cursor !== undefined && days.length < paging.limit)
  return { items: days, ...(cursor !== undefined && { cursor }) }
}
