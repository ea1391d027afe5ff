import type { Importer } from '../importing.ts'
import type { MealLoggedData } from '../../schemas/generated/meals.ts'
import { mealsQueries } from './queries.ts'
import { upcast } from './upcast.ts'

/** Imports the rows of a meals table in the order of the file, because they do not depend on each other. */
export const mealsImporter: Importer = {
  read(row, origin) {
    const result = upcast(row, origin)
    return result.kind !== 'events'
      ? result
      : { kind: 'events', events: result.events.map(({ user, ...event }) => ({ ...event, key: user, person: user })) }
  },
  completion: {
    counts: ['MealLogged', 'LegacyMealAdopted'],
    event: ({ importId, source, count }) => ({ type: 'MealsImported', data: { importId, count, source } }),
    isImportedBy: async ({ key, data }, importId, reader) =>
      (await mealsQueries(reader).meal(key, (data as Pick<MealLoggedData, 'mealId'>).mealId))?.importId === importId,
  },
}
