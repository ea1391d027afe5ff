import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { writeUnits } from '../../../processors/adapters/dynamodb/units.ts'
import { gallonsOf, levelOf } from '../../../projections/scales/gallons.ts'
import { kegAt, kegNow } from '../../../processors/scales/timeline.ts'
import { canonical, type Item } from '../../../projections/item.ts'
import { isoOf, msOf } from '../../../projections/instant.ts'
import type {
  AlertItem,
  DeviceItem,
  KegItem,
  TapItem,
  TapStateItem,
  TimelineItem,
} from '../../../projections/scales/items.ts'
import { scalesTable } from '../../../projections/scales/table.ts'
import type { Event } from '../../../schemas/event.ts'
import type { ReadingReported } from '../../../schemas/generated/scales.ts'
import { aHistory } from './arbitrary.ts'
import { contents, foldInto, tableOf, type Table } from './given.ts'

const of = <I extends Item>(table: Table, pk: string, sk: string | RegExp): I[] =>
  [...table.values()]
    .map((item) => item as Item as I)
    .filter(({ PK, SK }) => PK.startsWith(pk) && (typeof sk === 'string' ? SK.startsWith(sk) : sk.test(SK)))

const timelineOf = (table: Table, loc: string, tap: string) =>
  table.get(`LOCATION#${loc}\u0000TIMELINE#TAP#${tap}`) as Item as TimelineItem | undefined
const states = (table: Table) => of<TapStateItem>(table, 'LOCATION#', /^TAP#\d\d#STATE$/)
const taps = (table: Table) => of<TapItem>(table, 'LOCATION#', /^TAP#\d\d$/)
const devices = (table: Table) => of<DeviceItem>(table, 'DEVICE#', 'META')
const alerts = (table: Table) => of<AlertItem>(table, 'ALERT#', 'ACTIVE#')
const placeOf = ({ PK, SK }: Item) => ({ loc: PK.slice('LOCATION#'.length), tap: SK.slice(4, 6) })

/** Runs the check after every event of any history. */
const always = (check: (table: Table, event: Event) => void) =>
  fc.assert(
    fc.property(aHistory, (events) => {
      const table: Table = new Map()
      events.forEach((event, position) => {
        foldInto(table, event, position)
        check(table, event)
      })
    }),
  )

describe('after any history', () => {
  test('S-i: the state of a tap equals its newest reading, attributed to the keg of that time, and never becomes older', () => {
    const last = new Map<string, string>()
    const readings = new Map<string, ReadingReported['data']>()
    return fc.assert(
      fc.property(aHistory, (events) => {
        last.clear()
        readings.clear()
        const table: Table = new Map()
        events.forEach((event, position) => {
          if (event.type === 'ReadingReported') {
            const { data } = event as ReadingReported
            for (const name of [`${data.device_id} ${isoOf(data.at)} ${data.weight_lbs} ${data.level_pct}`])
              readings.set(name, data)
          }
          foldInto(table, event, position)
          const there = new Set(states(table).map(({ PK, SK }) => PK + SK))
          for (const name of last.keys()) if (!there.has(name)) last.delete(name)
          for (const state of states(table)) {
            if (state.updated_at === null) continue
            const { loc, tap } = placeOf(state)
            const timeline = timelineOf(table, loc, tap)
            const keg = timeline && kegAt(timeline, msOf(state.updated_at))
            expect(state.keg_id).toBe(keg?.keg_id ?? null)
            expect(state.gallons).toBe(keg === undefined ? null : gallonsOf({ weight_lbs: state.weight_lbs, ...keg }))
            expect(
              readings.has(
                `${state._device} ${state.updated_at} ${state.weight_lbs} ${state._weighed ? null : state.level_pct}`,
              ),
            ).toBe(true)
            if (state._weighed) expect(state.level_pct).toBe(levelOf(state.weight_lbs, keg))
            expect(state.updated_at >= (last.get(state.PK + state.SK) ?? '')).toBe(true)
            last.set(state.PK + state.SK, state.updated_at)
          }
        })
      }),
    )
  })

  test('S49 S50: there is one alert of a type and an entity at most, a grace exactly while it is pending, and each tap and device has the flag of its open alert', () =>
    always((table) => {
      const graces = new Set(of(table, 'FIRING#', '').map(({ PK, SK }) => `${PK}#${SK}`))
      for (const { PK, SK, type, entity, state } of alerts(table)) {
        expect(SK).toBe(`ACTIVE#${type}#${entity}`)
        expect(graces.delete(`FIRING#${PK.slice('ALERT#'.length)}#${entity}#${type}`)).toBe(state === 'pending')
      }
      expect([...graces]).toEqual([])
      const watched = [
        ...states(table)
          .filter(({ _low }) => _low)
          .map((state) => `ALERT#${placeOf(state).loc}|ACTIVE#low_keg#TAP#${placeOf(state).tap}`),
        ...devices(table)
          .filter(({ _silent }) => _silent)
          .map(({ loc_id, device_id }) => `ALERT#${loc_id}|ACTIVE#silent_device#DEVICE#${device_id}`),
        ...devices(table)
          .filter(({ _low_battery }) => _low_battery)
          .map(({ loc_id, device_id }) => `ALERT#${loc_id}|ACTIVE#low_battery#DEVICE#${device_id}`),
      ]
      expect(
        alerts(table)
          .map(({ PK, SK }) => `${PK}|${SK}`)
          .sort(),
      ).toEqual(watched.sort())
    }))

  test('S51: every alert that fired is in the history, which is append-only except for firings that a late reading disproves', () => {
    return fc.assert(
      fc.property(aHistory, (events) => {
        const table: Table = new Map()
        const last = new Map<string, string>()
        events.forEach((event, position) => {
          foldInto(table, event, position)
          const now = of<AlertItem>(table, 'ALERT#', 'HIST#')
          const names = new Map(now.map((item) => [item.PK + item.SK, canonical(item)]))
          for (const [name, text] of last) {
            if (name.endsWith('#active') && !names.has(name)) last.delete(name)
            else expect(names.get(name)).toBe(text)
          }
          for (const [name, text] of names) last.set(name, text)
          for (const { PK, type, entity, fired_at = '', acknowledged_at = fired_at, resolved_at } of now) {
            if (resolved_at === undefined) continue
            expect(resolved_at > fired_at && resolved_at > acknowledged_at).toBe(true)
            expect(last.has(`${PK}HIST#${fired_at}#${type}#${entity}#active`)).toBe(true)
          }
          for (const { PK, type, entity, fired_at } of alerts(table)) {
            if (fired_at !== undefined) expect(last.has(`${PK}HIST#${fired_at}#${type}#${entity}#active`)).toBe(true)
          }
        })
      }),
    )
  })

  test('S2 S6 S36: the items of a tap, its timeline, its kegs and its device agree', () =>
    always((table) => {
      for (const tap of taps(table)) {
        const place = placeOf(tap)
        const keg = kegNow(timelineOf(table, place.loc, place.tap) ?? { kegs: [] })
        expect(tap.keg_id).toBe(keg?.keg_id ?? null)
        const there = devices(table)
          .filter(({ loc_id, tap: under }) => loc_id === place.loc && under === place.tap)
          .map(({ device_id }) => device_id)
        expect(there).toEqual(tap.device_id === undefined ? [] : [tap.device_id])
      }
      const onTap = taps(table).flatMap(({ keg_id }) => keg_id ?? [])
      expect(new Set(onTap).size).toBe(onTap.length)
      const open = of<KegItem>(table, 'KEG#', 'META')
        .filter(({ finished_at }) => finished_at === undefined)
        .map(({ PK }) => PK.slice('KEG#'.length))
      expect(open.sort()).toEqual([...onTap].sort())
    }))

  test('S38: the state of a tap fits one write unit', () =>
    always((table) => {
      for (const state of states(table))
        expect(writeUnits({ spec: scalesTable, touches: [{ after: state }], mode: 'single' }).domain).toBe(1)
    }))

  test('S38: readings and statuses update a device’s battery at most once in five minutes of its time', () =>
    fc.assert(
      fc.property(aHistory, (events) => {
        const table: Table = new Map()
        const written = new Map<string, string>()
        events.forEach((event, position) => {
          foldInto(table, event, position)
          for (const { PK, updated_at } of of<Item & { updated_at: string }>(table, 'DEVICE#', 'TELEMETRY')) {
            const before = written.get(PK)
            if (before !== undefined && before !== updated_at && event.type !== 'TelemetryReported')
              expect(msOf(updated_at) - msOf(before)).toBeGreaterThanOrEqual(300_000)
            written.set(PK, updated_at)
          }
        })
      }),
    ))
})

test('the histories of the properties contain pours, alerts, swaps and quarantined readings', () => {
  const histories = fc.sample(aHistory, { numRuns: 100, seed: 7 })
  const names = histories.flatMap((events) => Object.keys(contents(tableOf(events))))
  for (const [part, least] of [
    [' / POUR#', 10],
    [' / HIST#', 10],
    ['QUARANTINE#', 20],
    ['DISCREPANCY#', 5],
    [' / TARE', 2],
  ] as const) {
    expect(names.filter((name) => name.includes(part)).length, part).toBeGreaterThan(least)
  }
})
