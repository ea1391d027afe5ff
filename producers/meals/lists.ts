import type { Paging } from '../../projections/entity.ts'
import type { Page } from '../../projections/table.ts'
import type { MealItem } from '../../projections/meals/items.ts'
import type { DaySpan, MealsQueries } from '../../projections/meals/queries.ts'
import { dateIn, instantOf } from '../http/instants.ts'
import { badCursor } from '../http/lists.ts'
import { mistake, Problem } from '../http/problem.ts'
import type { Call } from '../http/route.ts'
import { queriesOf } from './params.ts'

const date = { type: 'string', maxLength: 10 } as const

export const mealsQuery = {
  day: { ...date, description: 'A logical day.' },
  from: { type: 'string', maxLength: 40, description: 'First logical day, or first instant (RFC 3339).' },
  to: { type: 'string', maxLength: 40, description: 'Last logical day (inclusive), or last instant (exclusive).' },
} as const

export const spanQuery = { from: date, to: date } as const

const [FIRST_DAY, LAST_DAY] = ['0001-01-01', '9998-12-31']

/** The first and the last day, both inclusive. Default: the first and the last possible day. */
export const spanOf = ({ from, to }: { from?: string; to?: string }): DaySpan => {
  const span = {
    from: from === undefined ? FIRST_DAY : dateIn(from, 'querystring/from'),
    to: to === undefined ? LAST_DAY : dateIn(to, 'querystring/to'),
  }
  if (span.from > span.to) throw backwards()
  return span
}

const backwards = () =>
  mistake(400, {
    pointer: 'querystring/to',
    code: 'bad-range',
    detail: 'querystring/to is before querystring/from. Swap them.',
  })

export interface MealsQuery {
  readonly day?: string
  readonly from?: string
  readonly to?: string
}

const HOW = 'Send ?day=, or ?from=&to= with two days or two instants.'
const isDate = (text: string) => text.length === FIRST_DAY.length

export const pageOfMeals = (
  call: Pick<Call<unknown, MealsQuery>, 'caller' | 'query'>,
  paging: Paging,
): Promise<Page<MealItem>> => {
  const {
    caller: { user },
    query: { day, from, to },
  } = call
  const queries = queriesOf(call)
  if (day !== undefined && from === undefined && to === undefined)
    return queries.mealsOfDay(user, dateIn(day, 'querystring/day'), paging)
  if (day !== undefined || from === undefined || to === undefined || isDate(from) !== isDate(to))
    throw new Problem(400, 'bad-range', HOW)
  if (isDate(from)) return mealsOfDays(queries, user, { span: spanOf({ from, to }), ...paging })
  const span = { from: instantOf(from, 'querystring/from'), to: instantOf(to, 'querystring/to') }
  if (span.from > span.to) throw backwards()
  return queries.mealsBetween(user, span, paging)
}

interface OfDays extends Paging {
  readonly span: DaySpan
}

/**
 * Reads the meals day by day. The key of a meal contains the time of the meal, but a user can assign the meal to another day. So the meals of
 * several days are not one range of keys. Reads only the days in the list of logged days, because all other days have no meals.
 */
const mealsOfDays = async (
  queries: MealsQueries,
  user: string,
  { span, limit, cursor }: OfDays,
): Promise<Page<MealItem>> => {
  const position = cursor === undefined ? { day: span.from, within: '' } : positionIn(cursor, span)
  const items: MealItem[] = []
  let { within } = position
  let next: Page<string> | undefined
  do {
    next = await queries.daysLogged(
      user,
      { from: position.day, to: span.to },
      { limit: PAGE, ...(next?.cursor === undefined ? {} : { cursor: next.cursor }) },
    )
    for (const day of next.items) {
      if (items.length === limit) return { items, cursor: cursorAt(day, '') }
      const page = await queries.mealsOfDay(user, day, {
        limit: limit - items.length,
        ...(within !== '' && day === position.day ? { cursor: within } : {}),
      })
      within = ''
      items.push(...page.items)
      if (page.cursor !== undefined) return { items, cursor: cursorAt(day, page.cursor) }
    }
  } while (next.cursor !== undefined)
  return { items }
}

const PAGE = 100

const cursorAt = (day: string, within: string): string => Buffer.from(`${day} ${within}`).toString('base64url')

const positionIn = (cursor: string, span: DaySpan): { day: string; within: string } => {
  const [day = '', within = ''] = Buffer.from(cursor, 'base64url').toString().split(' ')
  if (/^\d{4}-\d\d-\d\d$/.test(day) && day >= span.from && day <= span.to) return { day, within }
  return badCursor()
}
