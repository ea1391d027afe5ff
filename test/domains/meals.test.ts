import { placesOf } from '../../cli/domains.ts'
import { meals } from '../../processors/meals/domain.ts'
import { mealsEdge } from '../../producers/meals.ts'
import { domainContract } from '../contracts/domain.ts'
import { as, BREAKFAST as EATEN, openMemoryEdge } from '../producers/memory-edge.ts'
import { aHistory } from '../processors/meals/arbitrary.ts'
import { BREAKFAST, ID, NOW } from '../processors/meals/said.ts'

domainContract({
  domain: meals,
  partition: placesOf('meals'),
  pools: {
    keys: ['ada', 'bob'],
    fields: () => ({ mealId: [ID], uid: ['u1'], eatenAt: [BREAKFAST, NOW], userDate: ['2026-11-16', '2026-11-15'], name: ['fiber'] }),
  },
  history: aHistory,
  edge: {
    parts: mealsEdge,
    open: async () => {
      const edge = await openMemoryEdge({ limits: { usageSample: null } })
      const { token, say } = await as(edge, 'ada')
      const { body: { id } } = await say('POST', '/v1/meals', EATEN)
      const day = '2026-11-16'
      return { edge, token, values: { id: [id], name: ['fiber'], day: [day], from: [day], to: [day], userDate: [day], effectiveFromDate: [day], eatenAt: [EATEN.eatenAt], tz: [EATEN.tz], mealSummary: ['Soup'], revision: [1] } }
    },
  },
})
