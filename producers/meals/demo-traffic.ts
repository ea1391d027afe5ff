import { isoOf } from '../../projections/instant.ts'
import { mealIdOf } from '../../projections/meals/keys.ts'
import { createdId } from '../ids.ts'
import { createRandom, type Random } from '../demo/random.ts'
import type { SimulatedRequest } from '../demo/request.ts'

export interface Traffic {
  readonly seed: number
  readonly users: readonly string[]
  /** Epoch milliseconds. The meals are eaten in the two weeks before this time. */
  readonly now: number
}

interface Person {
  readonly user: string
  readonly tz: string
  readonly appetite: number
  /** The person's latest meals, the newest last. `deleted` is true while the meal is deleted. */
  readonly meals: { readonly id: string; deleted: boolean }[]
}

const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Asia/Tokyo',
  'Australia/Adelaide',
  'America/Sao_Paulo',
  'Africa/Lagos',
] as const
const NUTRIENTS = ['fiber', 'sodium', 'sugar'] as const
/** A dish with the nutrition of one portion: kilocalories, then grams of protein, carbs, fat and each of NUTRIENTS. */
type Dish = readonly [
  name: string,
  emoji: string,
  calories: number,
  protein: number,
  carbs: number,
  fat: number,
  ...nutrients: number[],
]
const DISHES: readonly [Dish, ...Dish[]] = [
  ['Oats with berries', '🥣', 380, 13, 62, 8, 9, 0.01, 12],
  ['Scrambled eggs on toast', '🍳', 420, 24, 30, 22, 4, 0.6, 3],
  ['Lentil soup', '🍲', 350, 20, 52, 6, 15, 0.9, 6],
  ['Chicken with rice', '🍗', 640, 45, 70, 18, 3, 0.8, 2],
  ['Pasta al pomodoro', '🍝', 560, 17, 95, 11, 6, 0.7, 11],
  ['Bowl of chili', '🌶️', 510, 33, 44, 21, 14, 1.1, 9],
  ['Salmon and potatoes', '🐟', 590, 38, 45, 27, 5, 0.4, 3],
  ['Apple', '🍎', 95, 0.5, 25, 0.3, 4.4, 0.002, 19],
  ['Yoghurt', '🥛', 120, 9, 12, 3.5, 0, 0.1, 12],
  ['Handful of nuts', '🥜', 190, 6, 6, 17, 2.5, 0.001, 1.5],
]
/** The times at which people eat, in minutes after midnight (UTC). One of them is at night, at 1:30. */
const MEALTIMES = [450, 510, 745, 800, 1140, 1200, 960, 90] as const
const DAY_MS = 86_400_000
const DAYS = 14

/** Generates requests without end. People set goals, log meals, correct them, delete them by mistake, and read their charts. */
export function* mealsTraffic({ seed, users, now }: Traffic): Generator<SimulatedRequest, never> {
  const random = createRandom(seed)
  const people: Person[] = users.map((user) => ({
    user,
    tz: random.pick(ZONES),
    appetite: 0.7 + random.next() * 0.6,
    meals: [],
  }))
  let serial = 0
  const keyed = () => ({ 'idempotency-key': `demo-${seed}-${now.toString(36)}-${(serial += 1)}` })
  for (const person of people) yield* settingUp(person, random, keyed)
  for (;;) {
    const person = people[random.whole(0, people.length - 1)]
    if (person) yield* something(person, { random, keyed, now })
  }
}

type Keyed = () => { 'idempotency-key': string }

function* settingUp({ user, appetite }: Person, random: Random, keyed: Keyed): Generator<SimulatedRequest> {
  for (const name of NUTRIENTS) {
    const body = { unit: 'g', goal: random.whole(20, 60) }
    yield { user, method: 'PUT', path: `/v1/nutrients/${name}`, headers: keyed(), body }
  }
  const body = { calories: Math.round(2100 * appetite), protein: 110, carbs: 240, fat: random.chance(0.2) ? 0 : 70 }
  yield { user, method: 'PATCH', path: '/v1/targets', headers: keyed(), body }
}

interface Scene {
  readonly random: Random
  readonly keyed: Keyed
  readonly now: number
}

function* something(person: Person, scene: Scene): Generator<SimulatedRequest> {
  const { user, meals } = person
  const { random, keyed, now } = scene
  const meal = meals[random.whole(0, meals.length - 1)]
  const dice = random.next()
  if (dice < 0.62 || meal === undefined) return yield eating(person, scene)
  const path = `/v1/meals/${meal.id}`
  if (dice < 0.7)
    return yield {
      user,
      method: 'GET',
      path: `/v1/summaries?from=${dayAt(now - DAYS * DAY_MS)}&to=${dayAt(now + DAY_MS)}`,
      headers: {},
    }
  if (dice < 0.78)
    return yield {
      user,
      method: 'GET',
      path: `/v1/meals?day=${dayAt(now - random.whole(0, DAYS) * DAY_MS)}`,
      headers: {},
    }
  if (dice < 0.8) return yield { user, method: 'GET', path: '/v1/days-logged', headers: {} }
  if (meal.deleted) {
    meal.deleted = false
    return yield { user, method: 'POST', path: `${path}/restore`, headers: keyed() }
  }
  if (dice < 0.95) return yield { user, method: 'PATCH', path, headers: keyed(), body: correction(random, now) }
  meal.deleted = true
  return yield { user, method: 'DELETE', path, headers: keyed() }
}

const dayAt = (ms: number): string => isoOf(ms).slice(0, 10)

const eating = ({ user, tz, appetite, meals }: Person, { random, keyed, now }: Scene): SimulatedRequest => {
  const midnight = Math.floor(now / DAY_MS) * DAY_MS - random.whole(1, DAYS) * DAY_MS
  const eatenAt = midnight + (random.pick(MEALTIMES) + random.whole(-20, 20)) * 60_000 + random.whole(0, 59) * 1000
  const [mealSummary, emoji, calories, protein, carbs, fat, ...extra] = random.pick(DISHES)
  const portion = appetite * (0.6 + random.next() * 0.8)
  const of = (amount: number) => Math.round(amount * portion * 10) / 10
  const headers = keyed()
  meals.push({ id: mealIdOf(isoOf(eatenAt), createdId(user, headers['idempotency-key'], MEALS)), deleted: false })
  if (meals.length > REMEMBERED) meals.shift()
  const extendedNutrients = Object.fromEntries(NUTRIENTS.map((name, at) => [name, of(extra[at] ?? 0)]))
  const snapshot = random.chance(0.3)
    ? { registrySnapshot: { version: NUTRIENTS.length, nutrients: [...NUTRIENTS] } }
    : {}
  const body = {
    eatenAt: isoOf(eatenAt),
    tz,
    mealSummary,
    emoji,
    calories: of(calories),
    protein: of(protein),
    carbs: of(carbs),
    fat: of(fat),
    extendedNutrients,
    ...snapshot,
  }
  return { user, method: 'POST', path: MEALS, headers, body }
}

const MEALS = '/v1/meals'

const REMEMBERED = 200

const correction = (random: Random, now: number): Readonly<Record<string, unknown>> => {
  if (random.chance(0.6)) return { calories: random.whole(80, 900), reason: 'weighed it' }
  if (random.chance(0.5)) return { notes: random.pick(['with friends', 'too salty', 'second helping', '']) }
  return { eatenAt: isoOf(now - random.whole(1, DAYS) * DAY_MS - random.whole(0, 1_000) * 1000) }
}
