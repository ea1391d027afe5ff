import { DAY_RULE_VERSION, dayOf } from '../../projections/meals/day.ts'
import { mealIdOf } from '../../projections/meals/keys.ts'
import type { Event } from '../../schemas/event.ts'

/** The size of a load: random meals of many users over many days, in the order of time. Some are corrected, and a few are deleted. */
export interface MealsLoad {
  readonly events: number
  readonly users: number
  readonly seed?: number
}

const FIRST = Date.UTC(2024, 0, 1)
const DISHES = ['Oats', 'Chili', 'Rice', 'Salad', 'Eggs', 'Soup', 'Bread', 'Curry', 'Pasta', 'Yoghurt']
const MEALS_PER_DAY = 4

export function* mealEvents({ events, users, seed = 1 }: MealsLoad): Generator<Event> {
  const random = mulberry(seed)
  const lastMealIds = new Map<number, string>()
  const step = 86_400_000 / MEALS_PER_DAY / users
  for (let index = 0; index < events; index += 1) {
    const user = index % users
    const at = Math.floor(FIRST + index * step)
    const draw = random()
    const mealId = lastMealIds.get(user)
    if (draw < 0.04 && mealId !== undefined)
      yield corrected({ index, user, at, mealId, calories: whole(random, 900_000) })
    else if (draw < 0.05 && mealId !== undefined) yield deleted({ index, user, at, mealId })
    else {
      const meal = logged({ index, user, at, random })
      lastMealIds.set(user, (meal.data as { mealId: string }).mealId)
      yield meal
    }
  }
}

interface EventPosition {
  readonly index: number
  readonly user: number
  readonly at: number
}

const idOf = (index: number) => `00000000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`

const metaOf = ({ index, user, at }: EventPosition) => ({
  eventId: idOf(index),
  key: `user-${String(user).padStart(6, '0')}`,
  occurredAt: at,
  recordedAt: at + 40,
  source: 'bench',
  correlationId: null,
  causationId: null,
  actorId: `user-${String(user).padStart(6, '0')}`,
  subjectId: `user-${String(user).padStart(6, '0')}`,
  request: null,
})

const logged = (position: EventPosition & { readonly random: () => number }): Event => {
  const { at, index, random } = position
  return {
    type: 'MealLogged',
    meta: metaOf(position),
    data: {
      mealId: mealIdOf(new Date(at).toISOString(), idOf(index)),
      eatenAt: at,
      tz: 'Europe/Berlin',
      utcOffsetMinutes: 60,
      userDate: dayOf(at, 60),
      dayOverridden: false,
      dayRuleVersion: DAY_RULE_VERSION,
      calories: whole(random, 900_000),
      protein: whole(random, 60_000),
      carbs: whole(random, 120_000),
      fat: whole(random, 50_000),
      extended: [{ name: 'fiber', amount: whole(random, 12_000) }],
      dropped: [],
      registryVersion: 1,
      importId: null,
      rowHash: null,
    },
    personal: {
      mealSummary: `${DISHES[Math.floor(random() * 10)]} and ${DISHES[Math.floor(random() * 10)]}`,
      emoji: '🥣',
      notes: null,
    },
  }
}

const corrected = (position: EventPosition & { readonly mealId: string; readonly calories: number }): Event => ({
  type: 'MealCorrected',
  meta: metaOf(position),
  data: {
    mealId: position.mealId,
    expectedRevision: null,
    eatenAt: null,
    tz: null,
    utcOffsetMinutes: null,
    userDate: null,
    dayOverridden: null,
    dayRuleVersion: DAY_RULE_VERSION,
    calories: position.calories,
    protein: null,
    carbs: null,
    fat: null,
    extended: null,
    dropped: null,
    registryVersion: null,
  },
  personal: null,
})

const deleted = (position: EventPosition & { readonly mealId: string }): Event => ({
  type: 'MealDeleted',
  meta: metaOf(position),
  data: { mealId: position.mealId },
  personal: null,
})

const whole = (random: () => number, below: number): number => Math.floor(random() * below)

/** A small random generator with a seed (mulberry32). */
const mulberry = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
