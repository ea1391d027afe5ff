import { dayOf } from '../../projections/meals/day.ts'
import { mealIdOf, uidOf } from '../../projections/meals/keys.ts'
import type { Event } from '../../schemas/event.ts'
import type { MealLoggedData } from '../../schemas/generated/meals.ts'
import type { WriteWorkload } from '../record.ts'
import { mealEvents } from './benchmark-events.ts'

const HOUR_MS = 3_600_000
const [DAYS, MEALS_PER_DAY] = [120, 6]

/** Returns six meals of one person on one day, two hours apart. */
const dayOfMeals = (day: number): readonly Event[] =>
  [...mealEvents({ events: 2 * MEALS_PER_DAY, users: 1, seed: day })]
    .filter(({ type }) => type === 'MealLogged')
    .slice(0, MEALS_PER_DAY)
    .map((event, nth) => {
      const [data, person, eatenAt] = [
        event.data as MealLoggedData,
        `user-${day}`,
        Date.UTC(2024, 0, 1 + day, 7 + 2 * nth),
      ]
      const meta = { ...event.meta, key: person, actorId: person, subjectId: person, recordedAt: eatenAt }
      return {
        ...event,
        meta,
        data: {
          ...data,
          eatenAt,
          mealId: mealIdOf(new Date(eatenAt).toISOString(), uidOf(data.mealId)),
          userDate: dayOf(eatenAt, data.utcOffsetMinutes),
        },
      }
    })

export const mealsWorkloads = (): readonly WriteWorkload[] => [
  {
    name: 'a meal',
    opening: [],
    events: Array.from({ length: DAYS }, (_, day) => dayOfMeals(day)).flat(),
    batch: { name: `a day of ${MEALS_PER_DAY} meals`, ms: 12 * HOUR_MS },
  },
]
