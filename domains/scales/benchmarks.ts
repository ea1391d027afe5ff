import type { Item } from '../../projections/item.ts'
import { tapStates, telemetry } from '../../projections/scales/keys.ts'
import type { Event } from '../../schemas/event.ts'
import type { ReadingReportedData } from '../../schemas/generated/scales.ts'
import type { WriteWorkload } from '../record.ts'
import { openingEvents, readingEvents } from './benchmark-events.ts'

const [SECOND_MS, MINUTE_MS] = [1_000, 60_000]

export const scalesWorkloads = (): readonly WriteWorkload[] => [
  readingsOf('a reading per second of one tap', SECOND_MS, { name: 'batches of 500', ms: 1_000 * SECOND_MS }),
  readingsOf('a reading per minute of one tap', MINUTE_MS),
]

const readingsOf = (name: string, everyMs: number, batch?: WriteWorkload['batch']): WriteWorkload => {
  const bars = { locations: 1, taps: 1, readings: 1_000, everyMs, from: Date.UTC(2026, 10, 16) }
  return {
    name,
    opening: openingEvents(bars),
    events: [...readingEvents(bars)],
    sourceItems: updatedItems,
    ...(batch && { batch }),
  }
}

/** The two items that the original design updates per reading: the tap's state, and the telemetry with its entry in the index of batteries. */
const updatedItems = ({ data, meta }: Event): readonly Item[] => {
  const { level_pct, weight_lbs, battery_v, battery_pct, at } = data as ReadingReportedData
  const updated_at = new Date(at).toISOString()
  return [
    {
      ...tapStates.key(meta.key, '01'),
      level_pct,
      gallons: 12.345678,
      weight_lbs,
      updated_at,
      tare_status: 'complete',
    },
    { ...telemetry.key('scale-0', 1), battery_loc_id: meta.key, battery_v, battery_pct, updated_at },
  ]
}
