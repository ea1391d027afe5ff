import { mealsRecord } from '../../domains/meals.ts'
import { domainContract } from '../../testing/contract/contract.ts'
import { as } from '../producers/person.ts'
import { BREAKFAST as EATEN } from '../producers/meals/edge.ts'
import { aHistory } from '../processors/meals/arbitrary.ts'
import { BREAKFAST, ID, NOW } from '../processors/meals/events.ts'

domainContract({
  record: mealsRecord,
  pools: {
    keys: ['ada', 'bob'],
    fields: () => ({
      mealId: [ID],
      uid: ['u1'],
      eatenAt: [BREAKFAST, NOW],
      userDate: ['2026-11-16', '2026-11-15'],
      name: ['fiber'],
    }),
  },
  history: aHistory,
  http: {
    prepare: async (edge) => {
      const { token, sendCommand } = await as(edge, 'ada')
      const {
        body: { id },
      } = await sendCommand('POST', '/v1/meals', EATEN)
      const day = '2026-11-16'
      return {
        token,
        values: {
          id: [id],
          name: ['fiber'],
          day: [day],
          from: [day],
          to: [day],
          userDate: [day],
          effectiveFromDate: [day],
          eatenAt: [EATEN.eatenAt],
          tz: [EATEN.tz],
          mealSummary: ['Soup'],
          revision: [1],
        },
      }
    },
  },
})
