import { ACCESS_KINDS, TOKEN_INDEX, TTL } from '../access/table.ts'
import type { TableSpec } from '../table.ts'
import {
  activeAlerts, beerKegs, beers, calibrations, claims, devicePointers, devices, discrepancies, goneBeers, goneMembers, graces, kegs, libraryNames, libraryWords, locationSettings, members, owners, pastAlerts, pastCalibrations, pours,
  quarantineCounts, quarantined, taps, tapStates, tares, telemetry, telemetryPointers, timelines,
} from './keys.ts'

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
    ...[
      tapStates, taps, kegs, tares, devices, telemetry, calibrations, pastCalibrations, activeAlerts, pastAlerts, graces, beers, goneBeers, beerKegs, libraryNames, libraryWords, pours, quarantined, quarantineCounts,
      locationSettings, timelines, owners, members, goneMembers, devicePointers, telemetryPointers, discrepancies, claims,
    ].map(({ kind }) => kind),
    ...ACCESS_KINDS,
  ],
}
