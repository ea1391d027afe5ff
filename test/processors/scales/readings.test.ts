import { describe, expect, test } from 'vitest'
import type { ReadingReported } from '../../../schemas/generated/scales.ts'
import { writeUnits } from '../../../processors/adapters/dynamodb/units.ts'
import { scalesTable } from '../../../projections/scales/table.ts'
import { contents, given, tableOf } from './given.ts'
import {
  assigned,
  bar,
  DEVICE,
  finished,
  HALF_BARREL,
  LOC,
  MINUTE,
  NOW,
  reading,
  registered,
  released,
  SCALE,
  STATE,
  status,
  TAP,
  tapped,
  tapRemoved,
  unassigned,
} from './events.ts'

const QUARANTINE = `QUARANTINE#${LOC} / COUNT#DEVICE#${SCALE}`

describe('ReadingReported', () => {
  test('S3 S21 S46: the newest reading is the state of the tap, with gallons by the gravity of its keg', () => {
    const { items } = given(...bar).when(reading({ weight_lbs: 95.25, level_pct: 50, tare_status: 'ok' }))
    expect(items[STATE]).toMatchObject({
      level_pct: 50,
      weight_lbs: 95.25,
      updated_at: '2026-11-16T12:01:00.000Z',
      tare_status: 'ok',
      keg_id: 'keg-1',
      pouring: false,
    })
    expect(items[STATE]?.['gallons']).toBeCloseTo(((66.25 * 0.45359237) / 1.014) * 0.264172, 12)
  })

  test('S38: a plain reading writes the state and nothing else', () =>
    given(...bar, status({ meta: { occurredAt: NOW } }), reading())
      .when(reading({ at: NOW + 2 * MINUTE }))
      .thenWrites(STATE))

  test('S43: for a scale that sends only its weight, the level is computed from the weight and its keg', () => {
    const { items } = given(...bar).when(reading({ weight_lbs: 95.25, level_pct: null }))
    expect(items[STATE]).toMatchObject({ level_pct: 50 })
    const swap = tapped({ keg_id: 'keg-2', tapped_at: NOW, full_lbs: 95.25, empty_lbs: 0 })
    given(...bar, reading({ weight_lbs: 95.25, level_pct: null }))
      .when(swap)
      .then({ [STATE]: { keg_id: 'keg-2', level_pct: 100 } })
    given(...bar, reading({ weight_lbs: 95.25, level_pct: 50 }))
      .when(swap)
      .then({ [STATE]: { keg_id: 'keg-2', level_pct: 50 } })
    given(registered(), assigned())
      .when(reading({ level_pct: null }))
      .then({ [STATE]: { level_pct: null } })
    given(registered(), assigned(), reading({ weight_lbs: 95.25, level_pct: null }))
      .when(tapped())
      .then({ [STATE]: { level_pct: 50 } })
  })

  test('S-o: without a keg there is the level of the scale, and there are no gallons', () =>
    given(registered(), assigned())
      .when(reading({ level_pct: 61 }))
      .then({ [STATE]: { level_pct: 61, gallons: null, keg_id: null } }))

  test('S-j: stored values are not clamped', () => {
    const { items } = given(...bar).when(reading({ weight_lbs: 20, level_pct: -6.8 }))
    expect(items[STATE]).toMatchObject({ level_pct: -6.8 })
    expect(Number(items[STATE]?.['gallons'])).toBeLessThan(-1)
  })

  test('S-j: a level of the scale that differs by more than two points from that of the weight is a discrepancy, until they differ by at most one, or the keg is gone', () => {
    const DISCREPANCY = `LOCATION#${LOC} / DISCREPANCY#TAP#07`
    const says = (level_pct: number, minutes: number) =>
      reading({ weight_lbs: 95.25, level_pct, at: NOW + minutes * MINUTE })
    given(...bar)
      .when(says(52, 1))
      .then({ [DISCREPANCY]: null })
    for (const level of [52.1, 47.9])
      given(...bar)
        .when(says(level, 1))
        .then({ [DISCREPANCY]: { since: '2026-11-16T12:01:00.000Z', device_level_pct: level, weight_level_pct: 50 } })
    given(...bar, says(52.1, 1))
      .when(says(51.5, 2))
      .then({ [DISCREPANCY]: { since: '2026-11-16T12:01:00.000Z' } })
    given(...bar, says(52.1, 1))
      .when(says(51, 2))
      .then({ [DISCREPANCY]: null })
    given(...bar, says(52.1, 1))
      .when(tapped({ keg_id: 'keg-2', tapped_at: NOW + 2 * MINUTE }))
      .then({ [DISCREPANCY]: null })
  })

  test('S-i: a late reading is only recorded as seen', () => {
    const shown = ({ items }: { readonly items: Readonly<Record<string, object>> }) =>
      Object.fromEntries(
        Object.entries(items).map(([name, item]) => [
          name,
          { ...item, _heard: undefined, _seen: undefined, _pos: undefined },
        ]),
      )
    const before = given(...bar).when(reading({ at: NOW + 5 * MINUTE, seq: 8_001 }))
    const late = given(...bar, reading({ at: NOW + 5 * MINUTE, seq: 8_001 })).when(
      reading({ at: NOW + 4 * MINUTE, weight_lbs: 90 }),
    )
    expect(shown(late)).toEqual(shown(before))
  })

  test('a repeated event changes nothing and writes nothing', () => {
    const once = reading()
    expect(given(...bar, once).when(once).result.items ?? []).toEqual([])
  })

  test('a reading that is repeated later with another age is the same reading', () => {
    const once = reading({ seq: 9_001 })
    given(...bar, once)
      .when(reading({ seq: 9_001, at: NOW + 2 * MINUTE }))
      .thenUnchanged()
  })

  test('the same sequence with another value is quarantined', () =>
    given(...bar, reading({ seq: 9_002 }))
      .when(reading({ seq: 9_002, weight_lbs: 12, at: NOW + 2 * MINUTE }))
      .then({ [STATE]: { weight_lbs: 95.25 }, [QUARANTINE]: { total: 1, reasons: { 'sequence-reused': 1 } } }))

  const many = Array.from({ length: 40 }, (_, n) =>
    reading({ boot: 'b7', seq: n + 1, at: NOW + (n + 1) * MINUTE, weight_lbs: 95 - n / 100 }),
  )
  const later = NOW + 60 * MINUTE

  test('a device that restarts with the same boot is quarantined, however long ago it used a sequence', () => {
    given(...bar, ...many)
      .when(reading({ boot: 'b7', seq: 1, at: later, weight_lbs: 50 }))
      .then({ [STATE]: { weight_lbs: 94.61 }, [QUARANTINE]: { total: 1, reasons: { 'sequence-reused': 1 } } })
    given(...bar, ...many)
      .when(reading({ boot: 'b7', seq: 41, at: later, weight_lbs: 50 }))
      .then({ [STATE]: { weight_lbs: 50 } })
    given(...bar, ...many)
      .when(reading({ boot: 'b8', seq: 1, at: later, weight_lbs: 50 }))
      .then({ [STATE]: { weight_lbs: 50 } })
  })

  test('a late reading that is repeated with another age is the same reading', () => {
    const late = (at: number) => reading({ boot: 'b7', seq: 99, at, weight_lbs: 12 })
    given(...bar, ...many, late(NOW + MINUTE))
      .when(late(later))
      .then({ [STATE]: { weight_lbs: 94.61 }, [QUARANTINE]: null })
  })

  test('S-i: a reading from before the swap belongs to the old keg, also if it arrives later', () => {
    const swap = tapped({
      keg_id: 'keg-2',
      sg: 1,
      tapped_at: NOW + 10 * MINUTE,
      meta: { occurredAt: NOW + 10 * MINUTE },
    })
    given(...bar, swap)
      .when(reading({ at: NOW + 9 * MINUTE }))
      .then({ [STATE]: { keg_id: 'keg-1' } })
    given(...bar, swap)
      .when(reading({ at: NOW + 11 * MINUTE }))
      .then({ [STATE]: { keg_id: 'keg-2' } })
  })

  test('after a swap the level is not measured until the first reading of the new keg', () => {
    const swap = tapped({
      keg_id: 'keg-2',
      sg: 1,
      tapped_at: NOW + 10 * MINUTE,
      meta: { occurredAt: NOW + 10 * MINUTE },
    })
    const [old, late, fresh] = [5, 9, 11].map((minute) => reading({ at: NOW + minute * MINUTE })) as [
      ReadingReported,
      ReadingReported,
      ReadingReported,
    ]
    given(registered(), assigned())
      .when(tapped())
      .then({ [STATE]: { level_measured: false } })
    given(...bar)
      .when(old)
      .then({ [STATE]: { level_measured: true } })
    given(...bar, old)
      .when(swap)
      .then({ [STATE]: { level_measured: false } })
    given(...bar, old, swap)
      .when(late)
      .then({ [STATE]: { level_measured: false } })
    given(...bar, old, swap, late)
      .when(fresh)
      .then({ [STATE]: { level_measured: true } })
    given(...bar, old, swap, fresh)
      .when(late)
      .then({ [STATE]: { level_measured: true } })
    given(...bar, old, swap, fresh)
      .when(finished({ keg_id: 'keg-2', at: NOW + 12 * MINUTE }))
      .then({ [STATE]: { level_measured: false } })
    given(...bar, old, fresh)
      .when(swap)
      .then({ [STATE]: { keg_id: 'keg-2', level_measured: true } })
  })

  test('S-i: a buffered reading belongs to the tap to which the device was assigned', () =>
    given(...bar, assigned({ tap: '08', meta: { occurredAt: NOW + 10 * MINUTE } }))
      .when(reading({ at: NOW + 9 * MINUTE }))
      .then({ [STATE]: { weight_lbs: 95.25 }, 'LOCATION#loc-001 / TAP#08#STATE': null }))

  test('a device without a tap is quarantined, and counted', () =>
    given(registered())
      .when(reading())
      .then({ [STATE]: null, [QUARANTINE]: { total: 1, reasons: { 'no-tap': 1 } } }))

  test('a reading for a removed tap is quarantined', () =>
    given(...bar, tapRemoved({ meta: { occurredAt: NOW + MINUTE } }))
      .when(reading({ at: NOW + 2 * MINUTE }))
      .then({ [STATE]: null, [QUARANTINE]: { total: 1 } }))

  test('a reading from before the removal does not create the tap again', () =>
    given(...bar, tapRemoved({ meta: { occurredAt: NOW + 5 * MINUTE } }))
      .when(reading({ at: NOW + 2 * MINUTE }))
      .then({ [STATE]: null, [TAP]: null, [QUARANTINE]: null }))

  test('a device that was released is quarantined', () =>
    given(...bar, released({ meta: { occurredAt: NOW + MINUTE } }))
      .when(reading({ at: NOW + 2 * MINUTE }))
      .then({ [QUARANTINE]: { reasons: { 'unknown-device': 1 } } }))

  test('a device whose registration is not folded yet is registered by its first reading', () =>
    given()
      .when(reading())
      .then({ [DEVICE]: { status: 'registered', loc_id: LOC, epoch: 1 } }))

  test('a reading of an earlier epoch is quarantined', () =>
    given(registered({ epoch: 2 }))
      .when(reading({ epoch: 1 }))
      .then({ [DEVICE]: null, [QUARANTINE]: { reasons: { 'unknown-device': 1 } } }))

  test('a reading with a clock in 1970 or 2099 changes no other reading', () => {
    given(...bar)
      .when(reading({ at: 0 }))
      .then({ [STATE]: { updated_at: null } })
    given(...bar, reading())
      .when(reading({ at: -5 }))
      .thenUnchanged()
  })

  test('S38: the state is at most one write unit of 1 KB, with the longest names', () => {
    const device_id = 'd'.repeat(64)
    const loc = 'l'.repeat(64)
    const meta = { key: loc }
    const keg = tapped({ keg_id: 'k'.repeat(64), meta })
    const readings = Array.from({ length: 40 }, (_, n) =>
      reading({
        device_id,
        boot: 'b'.repeat(64),
        seq: 2 ** 53 - 100 + n,
        at: NOW + n * 10_000 + 1,
        weight_lbs: 120.123456789 - n * 0.7654321,
        level_pct: n % 2 === 0 ? 10 / 3 : null,
        tare_status: 's'.repeat(32),
        meta,
      }),
    )
    const table = tableOf([registered({ device_id, meta }), assigned({ device_id, meta }), keg, ...readings])
    const state = contents(table)[`LOCATION#${loc} / TAP#07#STATE`]
    expect(state).toMatchObject({ pouring: true })
    expect(writeUnits({ spec: scalesTable, touches: [{ before: state, after: state }], mode: 'single' }).domain).toBe(1)
  })
})

describe('the state after a change of the keg', () => {
  test('S56: a new keg has a pending tare, and the newest reading still belongs to the old keg', () =>
    given(...bar, reading())
      .when(tapped({ keg_id: 'keg-2', tapped_at: NOW + 2 * MINUTE }))
      .then({ [STATE]: { tare_status: 'pending', keg_id: 'keg-1', weight_lbs: 95.25 } }))

  test('a swap that is recorded late gets the readings after it', () =>
    given(...bar, reading({ at: NOW + 9 * MINUTE }))
      .when(tapped({ keg_id: 'keg-2', tapped_at: NOW + 8 * MINUTE, ...HALF_BARREL, sg: 1 }))
      .then({ [STATE]: { keg_id: 'keg-2' } }))

  test('a tap without a keg has only a level', () =>
    given(...bar, finished({ at: NOW + MINUTE }))
      .when(reading({ at: NOW + 2 * MINUTE }))
      .then({ [STATE]: { gallons: null, keg_id: null } }))

  test('the removal of a device does not change the state', () =>
    given(...bar, reading())
      .when(unassigned({ meta: { occurredAt: NOW + 2 * MINUTE } }))
      .then({ [STATE]: { weight_lbs: 95.25 } }))
})
