import type { Importer } from '../importing.ts'
import { upcast } from './upcast.ts'

/** Rows of a meals table are each a user's own: they are said as they lie. */
export const mealsImporter: Importer = {
  read(row, origin) {
    const said = upcast(row, origin)
    return said.kind !== 'events' ? said : { kind: 'events', events: said.events.map(({ user, ...event }) => ({ ...event, key: user, person: user })) }
  },
  ended: {
    counts: ['MealLogged', 'LegacyMealAdopted'],
    event: ({ importId, source, count }) => ({ type: 'MealsImported', data: { importId, count, source } }),
  },
}
