import type { WriteWorkload } from '../record.ts'
import { expenseEvents, groupEvents } from './benchmark-events.ts'

const HOUR_MS = 3_600_000

export const expensesWorkloads = (): readonly WriteWorkload[] => {
  const trip = { group: 'trip', members: 8, expenses: 500, sharers: 4, from: Date.UTC(2026, 10, 1), everyMs: HOUR_MS }
  return [
    {
      name: `an expense of ${trip.sharers} people`,
      opening: groupEvents(trip),
      events: [...expenseEvents(trip)],
      batch: { name: 'batches of 500', ms: trip.expenses * HOUR_MS },
    },
  ]
}
