import { isoOf } from '../instant.ts'
import type { Point, SeriesSpec } from '../series.ts'
import type { TableSpec } from '../table.ts'
import { TTL } from '../access/table.ts'

/** The table of the fold that writes the series. Its items have the same form as the items of the scales table. */
export const seriesTable: TableSpec = { name: 'scale-sense-series', ttl: TTL, indexes: [] }

/** The partition of the readings of a keg. Readings without a keg are in the partition of their tap (S16, S17). */
export const readingsOfKeg = (keg: string): string => `READINGS#keg#${keg}`
export const readingsOfTap = (tapId: string): string => `READINGS#${tapId}`
export const poursOfTap = (tapId: string): string => `POURS#${tapId}`
/** The partition of the times in which the scale of a tap sent nothing. Each point contains the gallons that left the keg in this time, or 0. */
export const unseenOfTap = (tapId: string): string => `UNSEEN#${tapId}`

/** The partition of the battery values in telemetry messages. */
export const batteryOfTap = (tapId: string): string => `BATTERY#${tapId}`

const MONTH_SECONDS = 30 * 24 * 60 * 60

/**
 * A reading is one record with all its values (S18, S66). The keg is a value and not a dimension, because it is only the
 * keg that was known when the reading was folded. Queries take the keg of a point from the timeline of the tap. A
 * correction changes the timeline, also for the past, so no point must move (S-m).
 */
export const kegReadings: SeriesSpec = {
  database: 'scale-sense',
  name: 'keg-readings',
  dims: ['tap_id', 'loc_id', 'device_id'],
  measures: {
    reading: {
      level_pct: 'number',
      gallons: 'number',
      weight_lbs: 'number',
      battery_pct: 'number',
      battery_v: 'number',
      keg_id: 'text',
    },
    battery: { battery_pct: 'number', battery_v: 'number' },
    pour: { gallons: 'number', sg: 'number', ended_at: 'number', keg_id: 'text' },
    unseen: { gallons: 'number', sg: 'number', ended_at: 'number', keg_id: 'text' },
  },
  rows: { key: (point) => ({ PK: partitionOf(point), SK: isoOf(point.at) }), ttlSeconds: MONTH_SECONDS },
}

const partitionOf = ({ measure, dims, values }: Point): string => {
  const tapId = dims['tap_id'] ?? ''
  if (measure === 'pour') return poursOfTap(tapId)
  if (measure === 'unseen') return unseenOfTap(tapId)
  if (measure === 'battery') return batteryOfTap(tapId)
  return typeof values['keg_id'] === 'string' ? readingsOfKeg(values['keg_id']) : readingsOfTap(tapId)
}
