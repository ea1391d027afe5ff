import { ACCESS_KINDS, TOKEN_INDEX, TTL } from '../access/table.ts'
import type { TableSpec } from '../table.ts'

/** The range keys of the indexes keep apart what the source document would have mixed up (S-d). */
export const DEVICE_INDEX = 'device-index'
export const BATTERY_INDEX = 'location-battery-index'

export const scalesTable: TableSpec = {
  name: 'scale-sense',
  ttl: TTL,
  indexes: [
    TOKEN_INDEX,
    { name: DEVICE_INDEX, pk: 'device_id', sk: 'PK', project: 'all' },
    { name: BATTERY_INDEX, pk: 'battery_loc_id', sk: 'battery_pct', number: true, project: 'all' },
  ],
  watched: true,
  kinds: [
    { name: 'tap state', pk: 'LOCATION#', sk: 'TAP#' },
    { name: 'keg', pk: 'KEG#', sk: 'META' },
    { name: 'tare', pk: 'KEG#', sk: 'TARE' },
    { name: 'device', pk: 'DEVICE#', sk: 'META' },
    { name: 'telemetry', pk: 'DEVICE#', sk: 'TELEMETRY' },
    { name: 'calibration', pk: 'DEVICE#', sk: 'CAL' },
    { name: 'active alert', pk: 'ALERT#', sk: 'ACTIVE#' },
    { name: 'alert history', pk: 'ALERT#', sk: 'HIST#' },
    { name: 'grace', pk: 'FIRING#' },
    { name: 'beer', pk: 'BEER#', sk: 'META' },
    { name: 'beer keg weights', pk: 'BEER#', sk: 'KEG#' },
    { name: 'beer in the library', pk: 'BEERLIB#' },
    { name: 'pour', pk: 'LOCATION#', sk: 'POUR#' },
    { name: 'quarantined', pk: 'QUARANTINE#' },
    { name: 'settings', pk: 'LOCATION#', sk: 'SETTINGS' },
    ...ACCESS_KINDS,
  ],
}
