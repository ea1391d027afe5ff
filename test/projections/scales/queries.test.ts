import { describe, expect, test } from 'vitest'
import { tokenByHash } from '../../../projections/access/queries.ts'
import * as keys from '../../../projections/scales/keys.ts'
import { scalesQueries } from '../../../projections/scales/queries.ts'
import { scalesTable } from '../../../projections/scales/table.ts'
import type { Query } from '../../../projections/table.ts'
import type { Event } from '../../../schemas/event.ts'
import { tableOf } from '../../processors/scales/given.ts'
import {
  acknowledged,
  assigned,
  bar,
  beerDefined,
  calibrated,
  claimed,
  corrected,
  LOC,
  measured,
  memberAdded,
  metaOf,
  MINUTE,
  NOW,
  opened,
  quarantined,
  reading,
  registered,
  released,
  SCALE,
  settings,
  tapped,
  tared,
  telemetry,
  voided,
  weightsSet,
} from '../../processors/scales/events.ts'
import { readerOf } from '../reader.ts'

const at = (minutes: number) => NOW + minutes * MINUTE
const all = { limit: 100 }
const after = (...events: readonly Event[]) => {
  const reader = readerOf(tableOf(events), at(60), () => {}, scalesTable)
  return { reader, ...scalesQueries(reader) }
}
const LBS_A_GALLON = 1.014 / (0.45359237 * 0.264172)
const level = (...gallons: readonly number[]) =>
  gallons.map((left, n) => reading({ at: at(n + 1), level_pct: null, weight_lbs: 29 + left * LBS_A_GALLON }))

describe('a location', () => {
  test('S1 S20: all its taps with their states are one query of one partition', async () => {
    const asked: Query[] = []
    const table = tableOf([...bar, tapped({ tap: '03', keg_id: 'keg-3' }), reading(), ...level(10, 9.8, 9.8)])
    const taps = await scalesQueries(readerOf(table, at(60), (query) => asked.push(query), scalesTable)).taps(LOC)
    expect(taps.map(({ config: { SK }, state }) => [SK, state?.SK])).toEqual([
      ['TAP#03', 'TAP#03#STATE'],
      ['TAP#07', 'TAP#07#STATE'],
    ])
    expect(asked).toEqual([{ pk: 'LOCATION#loc-001', prefix: 'TAP#', limit: 200 }])
  })
  test('S21 S22: one tap with its configuration and its state', async () => {
    expect(await after(...bar, reading()).tap(LOC, '07')).toMatchObject({
      config: { keg_id: 'keg-1', device_id: SCALE },
      state: { weight_lbs: 95.25 },
    })
    expect(await after(...bar).tap(LOC, '08')).toBeUndefined()
  })
  test('S19: settings have defaults until they are set', async () => {
    expect(await after().settings(LOC)).toMatchObject({
      grace_period_secs: 300,
      pour_window_hours: 6,
      low_keg_pct: 15,
      timezone: 'UTC',
    })
    expect(await after(settings({ pour_window_hours: 12 })).settings(LOC)).toMatchObject({
      grace_period_secs: 300,
      pour_window_hours: 12,
    })
  })
  test('its owner and members', async () => {
    const ask = after(opened(), memberAdded())
    expect(await ask.rightsOf(LOC, 'bob')).toMatchObject({ owner: { user_id: 'ada' }, member: { user_id: 'bob' } })
    expect((await keys.members.page(ask.reader, LOC, all)).items.map(({ user_id }) => user_id)).toEqual(['ada', 'bob'])
  })
})

describe('kegs and beers', () => {
  test('S25 S26: the lifecycle of a keg and its tare', async () => {
    const ask = after(...bar, tared({ at: at(1) }))
    expect(await keys.kegs.get(ask.reader, 'keg-1')).toMatchObject({ beer_id: 'guinness', sg: 1.014 })
    expect(await keys.tares.get(ask.reader, 'keg-1')).toMatchObject({ empty_offset: 29.3 })
  })
  test('S23 S24: a beer’s profile, and its keg weights', async () => {
    const ask = after(beerDefined(), weightsSet(), measured())
    expect(await keys.beers.get(ask.reader, null, 'guinness')).toMatchObject({ specific_gravity: 1.014 })
    expect(
      (await keys.beerKegs.page(ask.reader, null, 'guinness', all)).items.map(({ keg_type, measured_count }) => [
        keg_type,
        measured_count,
      ]),
    ).toEqual([
      ['half_barrel', 1],
      ['sixth_barrel', undefined],
    ])
  })
  test('S45 S-p: beers are found by the beginning of a name, in the library of the location and in the global one', async () => {
    const ask = after(
      beerDefined(),
      beerDefined({ beer_id: 'gose', loc_id: LOC, name: 'Gösser', meta: { key: LOC } }),
      beerDefined({ beer_id: 'ipa', name: 'IPA', meta: { key: 'ipa' } }),
    )
    expect((await ask.beersNamed(null, ' GUINN', all)).items.map(({ beer_id }) => beer_id)).toEqual(['guinness'])
    expect((await ask.beersNamed(LOC, 'go', all)).items.map(({ beer_id }) => beer_id)).toEqual(['gose'])
    expect((await ask.beersNamed(null, '', all)).items.map(({ beer_id }) => beer_id)).toEqual(['guinness', 'ipa'])
    expect(await ask.beerFor(LOC, 'guinness')).toMatchObject({ loc_id: null })
  })
})

describe('devices', () => {
  test('S27 S28 S29 S30: a device, its telemetry, its calibration and its past calibrations', async () => {
    const ask = after(...bar, telemetry(), calibrated({ at: at(1) }), calibrated({ at: at(2), factor: 1.1 }))
    expect(await ask.device(SCALE, 1)).toMatchObject({
      meta: { tap: '07' },
      telemetry: { battery_pct: 80 },
      calibration: { factor: 1.1 },
    })
    expect(
      (await keys.pastCalibrations.page(ask.reader, SCALE, 1, { reverse: true, ...all })).items.map(
        ({ factor }) => factor,
      ),
    ).toEqual([1.1, 1.02])
  })
  test('S36 S-d: the tap of a scale, by the index, and no other item with its id', async () => {
    const asked: Query[] = []
    const table = tableOf([claimed(), ...bar, reading(), telemetry(), quarantined()])
    const ask = scalesQueries(readerOf(table, at(60), (query) => asked.push(query), scalesTable))
    expect(await ask.tapOfDevice(SCALE)).toMatchObject({ SK: 'TAP#07' })
    expect(asked).toEqual([{ index: 'device-index', pk: SCALE, prefix: 'LOCATION#', limit: 1 }])
    expect(await after(registered()).tapOfDevice(SCALE)).toBeUndefined()
  })
  test('S37 S-d: the low batteries of a location, the lowest first, and of no other location', async () => {
    const devices = [
      ['A', 12],
      ['B', 5],
      ['C', 80],
      ['D', 20],
    ] as const
    const events = devices.flatMap(([device_id, battery_pct]) => [
      registered({ device_id }),
      telemetry({ device_id, battery_pct }),
    ])
    const ask = after(
      ...events,
      registered({ device_id: 'E', meta: { key: 'loc-002' } }),
      telemetry({ device_id: 'E', battery_pct: 1, meta: { key: 'loc-002' } }),
    )
    expect((await ask.lowBatteries(LOC, 20, all)).items).toEqual([
      { device_id: 'B', epoch: 1 },
      { device_id: 'A', epoch: 1 },
    ])
    expect((await ask.lowBatteries(LOC, 100, { limit: 1 })).items).toHaveLength(1)
  })
  test('the devices that a location owns, with their epochs', async () => {
    expect((await after(...bar, registered({ device_id: 'B', epoch: 3 })).devices(LOC, all)).items).toEqual([
      { device_id: 'B', epoch: 3 },
      { device_id: SCALE, epoch: 1 },
    ])
    expect((await after(...bar, released({ meta: { occurredAt: at(1) } })).devices(LOC, all)).items).toEqual([])
  })
  test('quarantined readings, the newest first, with the reasons counted', async () => {
    const ask = after(quarantined(), quarantined({ seq: 2, at: at(1), reason: 'future' }))
    expect(
      (
        await keys.quarantined.page(ask.reader, LOC, { under: keys.quarantinedAt(SCALE), reverse: true, ...all })
      ).items.map(({ reason }) => reason),
    ).toEqual(['future', 'range'])
    expect(await keys.quarantineCounts.get(ask.reader, LOC, SCALE)).toMatchObject({ total: 2 })
  })
})

describe('alerts', () => {
  const low = (minutes: number, level_pct = 10) => reading({ at: at(minutes), level_pct, weight_lbs: null })

  test('S31 S32 S33: active alerts, past alerts, and grace periods', async () => {
    const pending = after(...bar, low(1))
    expect(await keys.graces.get(pending.reader, LOC, 'TAP#07', 'low_keg')).toMatchObject({
      fire_at: '2026-11-16T12:06:00.000Z',
    })
    const ask = after(...bar, low(1), low(6), acknowledged({ meta: { occurredAt: at(7) } }))
    expect(await keys.graces.get(ask.reader, LOC, 'TAP#07', 'low_keg')).toBeUndefined()
    expect((await keys.activeAlerts.page(ask.reader, LOC, all)).items).toMatchObject([
      { type: 'low_keg', entity: 'TAP#07', state: 'acknowledged' },
    ])
    expect(
      (await keys.pastAlerts.page(ask.reader, LOC, { reverse: true, ...all })).items.map(({ state }) => state),
    ).toEqual(['acknowledged', 'active'])
  })
})

describe('pours', () => {
  const night = [...bar, ...level(10, 10, 9.8, 9.8, 9.5, 9.5)]
  const span = { from: NOW, to: at(60) }

  test('by time, the newest first', async () => {
    const { items } = await after(...night).pours(LOC, span, all)
    expect(items.map(({ start, gallons }) => [start, Number(gallons.toFixed(6))])).toEqual([
      ['2026-11-16T12:04:00.000Z', 0.3],
      ['2026-11-16T12:02:00.000Z', 0.2],
    ])
    expect((await after(...night).pours(LOC, { from: at(3), to: at(60) }, all)).items).toHaveLength(1)
    expect((await after(...night).pours(LOC, span, { limit: 1 })).cursor).toBeDefined()
  })
  test('S-m: a pour belongs to the corrected keg, with the gravity of that keg', async () => {
    const { items } = await after(...night, corrected({ from: at(3) })).pours(LOC, span, all)
    expect(items.map(({ keg_id, gallons }) => [keg_id, Number(gallons.toFixed(6))])).toEqual([
      ['keg-9', Number(((0.3 * 1.014) / 1.01).toFixed(6))],
      ['keg-1', 0.2],
    ])
  })
  test('a void applies to all pours in its time, whatever rule detected them', async () => {
    const { items } = await after(...night, voided({ from: at(3), to: at(9) })).pours(LOC, span, all)
    expect(items.map(({ voided: none }) => none)).toEqual([true, undefined])
  })
  test('a bar without pours has none', async () =>
    expect(await after(assigned()).pours(LOC, span, all)).toEqual({ items: [] }))
})

test('tokens are found as in every domain', async () => {
  const issued: Event = {
    type: 'PatIssued',
    meta: metaOf({ key: SCALE }),
    data: { patId: 'p1', hash: 'ab'.repeat(32), scopes: ['device'] },
    personal: { name: 'tap 7' },
  }
  expect(await tokenByHash(after(issued).reader, 'ab'.repeat(32))).toEqual({ PK: `USER#${SCALE}`, SK: 'PAT#p1' })
})
