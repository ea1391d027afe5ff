import fc from 'fast-check'
import { FORGOTTEN, type Forgotten } from '../../../schemas/event.ts'
import type { MealsEvent } from '../../../schemas/generated/meals.ts'
import type { CommonEvent } from '../../../schemas/generated/common.ts'
import {
  adopted,
  at,
  chili,
  corrected,
  deleted,
  idOf,
  imported,
  logged,
  nutrientChanged,
  patIssued,
  patRevoked,
  patUsed,
  reassigned,
  restored,
  targetsChanged,
  usageSampled,
} from './events.ts'

// There are few users, instants, days and names, so that events affect each other. Every event has its own id.

const user = fc.constantFrom('ada', 'bob')
const eatenAt = fc.constantFrom(
  ...['2026-11-15T23:30', '2026-11-16T03:59', '2026-11-16T08:00', '2026-11-16T12:30'].map((time) =>
    at(`${time}:00.000Z`),
  ),
)
const uid = fc.constantFrom('u1', 'u2')
const mealId = fc.tuple(eatenAt, uid).map(([instant, name]) => idOf(instant, name))
const offset = fc.constantFrom(0, -300, 60, 840)
const day = fc.constantFrom('2026-11-14', '2026-11-15', '2026-11-16', '2026-11-17')
const amount = fc.constantFrom(0, 1, 100, 300, 12_345)
const nutrient = fc.constantFrom('fiber', 'salt', 'constructor')
const extended = fc.uniqueArray(fc.record({ name: nutrient, amount }), { maxLength: 3, selector: ({ name }) => name })
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
const personal = fc.oneof(fc.constant(chili), fc.constant<Forgotten>(FORGOTTEN))
const occurredAt = fc.integer({ min: at('2026-11-16T00:00:00.000Z'), max: at('2026-11-17T00:00:00.000Z') })
const meta = fc.record({ key: user, occurredAt, source: fc.constantFrom('test', 'import') })
const macros = { calories: amount, protein: amount, carbs: amount, fat: amount }
const someMacros = { calories: maybe(amount), protein: maybe(amount), carbs: maybe(amount), fat: maybe(amount) }
const patId = fc.constantFrom('p1', 'p2')

const aMeal = fc.record({
  meta,
  eatenAt,
  uid,
  utcOffsetMinutes: offset,
  ...macros,
  extended,
  registryVersion: maybe(fc.constant(1)),
  personal,
})
const chosenDay = fc.record({ userDate: day, dayOverridden: fc.constant(true) })
const aLogged = fc
  .oneof(
    aMeal,
    fc.tuple(aMeal, chosenDay).map(([meal, chosen]) => ({ ...meal, ...chosen })),
  )
  .map(logged)
const aCorrected = fc
  .record({
    meta,
    mealId,
    expectedRevision: maybe(fc.constantFrom(1, 2)),
    eatenAt: maybe(eatenAt),
    utcOffsetMinutes: maybe(offset),
    userDate: maybe(day),
    dayOverridden: maybe(fc.boolean()),
    ...someMacros,
    extended: maybe(extended),
    registryVersion: maybe(fc.constant(1)),
  })
  .map(corrected)

/** Generates the events that users of the app can cause, in any order. */
const anEvent: fc.Arbitrary<MealsEvent | CommonEvent> = fc.oneof(
  { weight: 6, arbitrary: aLogged },
  { weight: 4, arbitrary: aCorrected },
  { weight: 3, arbitrary: fc.record({ meta, mealId }).map(deleted) },
  { weight: 3, arbitrary: fc.record({ meta, mealId }).map(restored) },
  { weight: 2, arbitrary: fc.record({ meta, mealId, to: day }).map(reassigned) },
  { weight: 1, arbitrary: fc.record({ meta, eatenAt, uid, userDate: maybe(day), ...macros, extended }).map(adopted) },
  { weight: 1, arbitrary: fc.record({ meta, ...someMacros, effectiveFromDate: day }).map(targetsChanged) },
  {
    weight: 1,
    arbitrary: fc.record({ meta, name: nutrient, goal: maybe(amount), removed: fc.boolean() }).map(nutrientChanged),
  },
  { weight: 1, arbitrary: fc.record({ meta, patId }).map(patIssued) },
  { weight: 1, arbitrary: fc.record({ meta, patId }).map(patRevoked) },
  { weight: 1, arbitrary: fc.record({ meta, patId, date: day }).map(patUsed) },
  {
    weight: 1,
    arbitrary: fc.record({ meta, date: day, reads: amount, weight: fc.constantFrom(1, 4) }).map(usageSampled),
  },
  { weight: 1, arbitrary: fc.record({ meta, importId: fc.constantFrom('i1', 'i2') }).map(imported) },
)
export const aHistory = fc.array(anEvent, { maxLength: 40, size: 'max' })
