import type { Importer } from '../importing.ts'
import type { MealLoggedData } from '../../schemas/generated/meals.ts'
import { mealsQueries } from './queries.ts'
import { upcast } from './upcast.ts'

/** Rows of a meals table do not depend on each other, so they keep the order of the file. */
export const mealsImporter: Importer = {
  read(row, origin) {
    const said = upcast(row, origin)
    return said.kind !== 'events' ? said : { kind: 'events', events: said.events.map(({ user, ...event }) => ({ ...event, key: user, person: user })) }
  },
  ended: {
    counts: ['MealLogged', 'LegacyMealAdopted'],
    event: ({ importId, source, count }) => ({ type: 'MealsImported', data: { importId, count, source } }),
    isImportedBy: async ({ key, data }, importId, reader) => (await mealsQueries(reader).meal(key, (data as Pick<MealLoggedData, 'mealId'>).mealId))?.importId === importId,
  },
}
