import { meals } from '../../processors/meals/domain.ts'
import { DAY_RULE_VERSION, dayOf } from '../../projections/meals/day.ts'
import { isoOf, utcDateOf } from '../../projections/instant.ts'
import { mealIdOf } from '../../projections/meals/keys.ts'
import { openCodec } from '../../schemas/codec.ts'
import type { Event } from '../../schemas/event.ts'
import type { Random } from '../../simulation/random.ts'
import {
  createEventFactory,
  assignToClients,
  tagTexts,
  type EventDraft,
  type Workload,
} from '../../simulation/workload.ts'
import { tokenHashOf, TOKEN_IDS } from '../../simulation/token-prober.ts'
import { requestOf } from '../../simulation/workload-toy.ts'

const USERS = ['anna', 'ben', 'chloe']
const NUTRIENTS = ['fibre', 'salt', 'zinc']

const codec = openCodec()

interface Diary {
  readonly random: Random
  readonly user: string
  /** Ids of the meals that this user logged, also of deleted and refused meals. */
  readonly meals: string[]
  readonly now: number
}

/** Generates random events for one to three users, with few meals on few days, so that many events are about the same item. */
export const mealsWorkload = (random: Random, length: number): Workload => {
  const factory = createEventFactory(random)
  const users = USERS.slice(0, random.between(1, USERS.length))
  const logged = new Map(users.map((user) => [user, [] as string[]]))
  const events: Event[] = []
  while (events.length < length) {
    const user = random.pick(users)
    const { personal, ...rest } = drawEvent({ random, user, meals: logged.get(user) ?? [], now: factory.now() })
    events.push(
      factory.create({
        ...rest,
        ...(personal ? { personal: tagTexts(personal, events.length) } : {}),
        request: requestOf(random),
      }),
    )
  }
  const isSealed = random.chance(0.5)
  // In some runs all personal data belongs to a part of its user. Forgetting the user forgets the part.
  const hasParts = isSealed && random.chance(0.3)
  const subjectsToForget = isSealed && random.chance(0.6) ? users.slice(0, random.between(1, 2)) : []
  // While a key is parked, its PersonForgotten waits. So if this run forgets people, no key gets an unreadable record, which parks it forever.
  const clients = assignToClients(random, {
    events: hasParts ? events.map(ofPart) : events,
    keys: users,
    ...(subjectsToForget.length > 0 ? { poisoned: [] } : {}),
  })
  return {
    domain: meals,
    codec,
    clients,
    hasOutgoingEvents: false,
    users,
    subjectsToForget,
    ...(isSealed ? { isSealed } : {}),
  }
}

const ofPart = (event: Event): Event => {
  const { subjectId } = event.meta
  return subjectId === null ? event : { ...event, meta: { ...event.meta, subjectId: `${subjectId}~account` } }
}

const drawEvent = (diary: Diary): Omit<EventDraft, 'request'> => {
  const { random, user: key } = diary
  const draw = random.next()
  if (draw < 0.35 || diary.meals.length === 0) return logMeal(diary)
  const mealId = random.chance(0.05) ? '20260105T000000000Z-nobody' : random.pick(diary.meals)
  if (draw < 0.55) return correctMeal(diary, mealId)
  if (draw < 0.64) return { type: 'MealDeleted', key, data: { mealId } }
  if (draw < 0.71) return { type: 'MealRestored', key, data: { mealId } }
  if (draw < 0.77) {
    const to = dayOf(diary.now + random.between(-1, 1) * 86_400_000, 0)
    return {
      type: 'MealDayReassigned',
      key,
      data: { mealId, to, dayRuleVersion: DAY_RULE_VERSION, expectedRevision: maybe(random, revision) },
    }
  }
  if (draw < 0.82) return changeTargets(diary)
  if (draw < 0.88) {
    const data = {
      name: random.pick(NUTRIENTS),
      unit: 'mg',
      goal: maybe(random, milli),
      removed: random.chance(0.3),
      expectedVersion: maybe(random, revision),
    }
    return { type: 'NutrientRegistryChanged', key, data }
  }
  if (draw < 0.95) return drawTokenEvent(diary)
  if (draw < 0.97)
    return {
      type: 'ApiUsageSampled',
      key,
      data: { date: utcDateOf(diary.now), reads: 1, writes: random.between(0, 1), weight: 10 },
    }
  if (draw < 0.98)
    return { type: 'MealsImported', key, data: { importId: `i${random.between(1, 2)}`, count: 1, source: 'csv' } }
  return adoptMeal(diary)
}

const maybe = <T>(random: Random, make: (random: Random) => T): T | null => (random.chance(0.4) ? make(random) : null)
const milli = (random: Random) => random.between(0, 900_000)
const revision = (random: Random) => random.between(0, 3)
const amounts = (random: Random) =>
  NUTRIENTS.filter(() => random.chance(0.4)).map((name) => ({ name, amount: milli(random) }))
const drawTexts = (random: Random) => ({
  mealSummary: random.pick(['soup', 'bread', 'Müsli 🥣']),
  emoji: maybe(random, () => '🍲'),
  notes: maybe(random, () => 'at home'),
})
/** Returns a random instant in the last three days, in steps of half an hour. Some are near midnight, and near 04:00, where a logical day starts. */
const instant = ({ random, now }: Diary) => now - random.between(0, 2) * 86_400_000 - random.between(0, 40) * 1_800_000

const drawMealTime = (diary: Diary) => {
  const { random } = diary
  const eatenAt = instant(diary)
  const utcOffsetMinutes = random.pick([0, 60, -300])
  const dayOverridden = random.chance(0.15)
  const userDate = dayOf(eatenAt + (dayOverridden ? 86_400_000 : 0), utcOffsetMinutes)
  return { eatenAt, tz: 'Etc/UTC', utcOffsetMinutes, userDate, dayOverridden, dayRuleVersion: DAY_RULE_VERSION }
}

const logMeal = (diary: Diary): EventDraft => {
  const { random, user: key } = diary
  // Sometimes repeats a meal, like a client that received no answer.
  if (diary.meals.length > 0 && random.chance(0.1)) return { ...mealOf(diary, random.pick(diary.meals)), key }
  const at = drawMealTime(diary)
  const mealId = mealIdOf(isoOf(at.eatenAt), `m${diary.meals.length}`)
  diary.meals.push(mealId)
  return { ...mealOf(diary, mealId, at), key }
}

const mealOf = (
  diary: Diary,
  mealId: string,
  at = drawMealTime(diary),
): { type: string; data: unknown; personal: unknown } => {
  const { random } = diary
  const main = { calories: milli(random), protein: milli(random), carbs: milli(random), fat: milli(random) }
  const lists = {
    extended: amounts(random),
    dropped: [],
    registryVersion: maybe(random, revision),
    importId: maybe(random, () => 'i1'),
    rowHash: null,
  }
  return { type: 'MealLogged', data: { mealId, ...at, ...main, ...lists }, personal: drawTexts(random) }
}

const correctMeal = (diary: Diary, mealId: string): EventDraft => {
  const { random, user: key } = diary
  const moved = random.chance(0.4)
    ? drawMealTime(diary)
    : {
        eatenAt: null,
        tz: null,
        utcOffsetMinutes: null,
        userDate: null,
        dayOverridden: null,
        dayRuleVersion: DAY_RULE_VERSION,
      }
  const main = { calories: maybe(random, milli), protein: maybe(random, milli), carbs: null, fat: maybe(random, milli) }
  const extended = maybe(random, amounts)
  const data = {
    mealId,
    expectedRevision: maybe(random, revision),
    ...moved,
    ...main,
    extended,
    dropped: extended && [],
    registryVersion: null,
  }
  return {
    type: 'MealCorrected',
    key,
    data,
    personal: {
      mealSummary: maybe(random, () => 'stew'),
      emoji: null,
      notes: null,
      reason: maybe(random, () => 'typo'),
    },
  }
}

const changeTargets = ({ random, user: key, now }: Diary): EventDraft => {
  const main = {
    calories: maybe(random, milli),
    protein: maybe(random, milli),
    carbs: null,
    fat: maybe(random, () => 0),
  }
  const displayUnit = maybe(random, () => random.pick(['kcal', 'kj']))
  return {
    type: 'TargetsChanged',
    key,
    data: {
      expectedVersion: maybe(random, revision),
      ...main,
      displayUnit,
      effectiveFromDate: dayOf(now + random.between(-1, 1) * 86_400_000, 0),
    },
  }
}

const drawTokenEvent = ({ random, user: key, now }: Diary): EventDraft => {
  const patId = random.pick(TOKEN_IDS)
  const draw = random.next()
  if (draw < 0.4)
    return {
      type: 'PatIssued',
      key,
      data: { patId, hash: tokenHashOf(key, patId), scopes: ['read'] },
      personal: { name: 'phone' },
    }
  if (draw < 0.7) return { type: 'PatRevoked', key, data: { patId } }
  return { type: 'PatUsed', key, data: { patId, date: utcDateOf(now) } }
}

const adoptMeal = (diary: Diary): EventDraft => {
  const { random, user: key } = diary
  const at = drawMealTime(diary)
  const mealId = mealIdOf(isoOf(at.eatenAt), `legacy${diary.meals.length}`)
  diary.meals.push(mealId)
  const old = { legacySk: `MEAL#${mealId}`, formatVersion: 3, createdAt: null, importId: 'i1', rowHash: 'h' }
  const data = {
    mealId,
    ...old,
    eatenAt: at.eatenAt,
    userDate: maybe(random, () => at.userDate),
    calories: 1000,
    protein: 0,
    carbs: 0,
    fat: 0,
    extended: [],
  }
  return { type: 'LegacyMealAdopted', key, data, personal: drawTexts(random) }
}
