import { isoOf } from '../instant.ts'
import type { Point, SeriesSpec } from '../series.ts'
import type { TableSpec } from '../table.ts'
import { TTL } from '../access/table.ts'

/** What the fold of the series remembers: of the same shape as the scales' own items. */
export const seriesTable: TableSpec = { name: 'scale-sense-series', ttl: TTL, indexes: [] }

/** S16, S17. */
export const readingsOfKeg = (keg: string): string => `READINGS#keg#${keg}`
export const readingsOfTap = (tapId: string): string => `READINGS#${tapId}`
export const poursOfTap = (tapId: string): string => `POURS#${tapId}`
/** The silences of the scale, each with the beer that left in it: 0 if none did. */
export const unseenOfTap = (tapId: string): string => `UNSEEN#${tapId}`

/** What is told of a battery apart from readings. */
export const batteryOfTap = (tapId: string): string => `BATTERY#${tapId}`

const MONTH_SECONDS = 30 * 24 * 60 * 60

/**
 * S18, S66: one multi-measure record a reading. The keg is no dimension but a value, as it was known then: which keg's a point is
 * is told by the tap's timeline, which a correction changes for the past as well, and no point has to move (S-m).
 */
export const kegReadings: SeriesSpec = {
  database: 'scale-sense',
  name: 'keg-readings',
  dims: ['tap_id', 'loc_id', 'device_id'],
  measures: {
    reading: { level_pct: 'number', gallons: 'number', weight_lbs: 'number', battery_pct: 'number', battery_v: 'number', keg_id: 'text' },
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
