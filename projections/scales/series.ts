import { isoOf } from '../instant.ts'
import type { Point, SeriesSpec } from '../series.ts'
import type { TableSpec } from '../table.ts'
import { TTL } from '../access/table.ts'

/** The table of the series' fold. Its items have the same form as those of the scales. */
export const seriesTable: TableSpec = { name: 'scale-sense-series', ttl: TTL, indexes: [] }

/** S16, S17. */
export const readingsOfKeg = (keg: string): string => `READINGS#keg#${keg}`
export const readingsOfTap = (tapId: string): string => `READINGS#${tapId}`
export const poursOfTap = (tapId: string): string => `POURS#${tapId}`
/** The silences of the scale, each with the beer that left in it: 0 if none did. */
export const unseenOfTap = (tapId: string): string => `UNSEEN#${tapId}`

/** The batteries of telemetry messages. */
export const batteryOfTap = (tapId: string): string => `BATTERY#${tapId}`

const MONTH_SECONDS = 30 * 24 * 60 * 60

/**
 * S18, S66: one multi-measure record per reading. The keg is a value and not a dimension: it is the keg that was
 * recorded at that time. Queries attribute a point by the tap's timeline. A correction changes the timeline, also for
 * the past, and no point has to move (S-m).
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
