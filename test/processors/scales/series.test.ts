import { describe, expect, test } from 'vitest'
import { gallonsOf } from '../../../projections/scales/gallons.ts'
import type { Event } from '../../../schemas/event.ts'
import type { FoldedSequences } from '../../../projections/scales/items.ts'
import { isFolded, withFolded } from '../../../processors/scales/folded-sequences.ts'
import { bootHashOf } from '../../../processors/scales/recent-readings.ts'
import { contents, tableOf } from './given.ts'
import { measuredBy } from './points.ts'
import {
  assigned,
  bar,
  corrected,
  finished,
  HALF_BARREL,
  LOC,
  MINUTE,
  NOW,
  reading,
  registered,
  released,
  SCALE,
  silence,
  STATE,
  tapped,
  tapRemoved,
  telemetry,
  unassigned,
} from './events.ts'

const TAP_ID = 'loc-001#TAP#07'
const DIMS = { tap_id: TAP_ID, loc_id: LOC, device_id: SCALE }

const readings = (events: readonly Event[]) => measuredBy(events).points.filter(({ measure }) => measure === 'reading')
const pours = (events: readonly Event[]) => measuredBy(events).points.filter(({ measure }) => measure === 'pour')
const kegsOf = (events: readonly Event[]) => readings(events).map(({ values }) => values['keg_id'])

/** Readings of these weights, one minute apart. */
const weighed = (from: number, ...weights: readonly number[]) =>
  weights.map((weight_lbs, index) => reading({ at: from + index * MINUTE, weight_lbs }))

describe('readings', () => {
  test('S18: a reading is one point with all its values and the gallons of the keg that was on the tap', () => {
    expect(readings([...bar, reading({ at: NOW + MINUTE, weight_lbs: 95.25, level_pct: 50 })])).toEqual([
      {
        measure: 'reading',
        dims: DIMS,
        at: NOW + MINUTE,
        version: 4,
        values: {
          level_pct: 50,
          gallons: gallonsOf({ weight_lbs: 95.25, ...HALF_BARREL, sg: 1.014 }),
          weight_lbs: 95.25,
          battery_pct: 80,
          battery_v: 3.9,
          keg_id: 'keg-1',
        },
      },
    ])
  })

  test('S43: for a scale that sends only its weight, the level is computed from it', () => {
    expect(readings([...bar, reading({ weight_lbs: 95.25, level_pct: null })])).toMatchObject([
      { values: { level_pct: 50 } },
    ])
    expect(readings([registered(), assigned(), reading({ weight_lbs: 95.25, level_pct: null })])).toMatchObject([
      { values: { level_pct: null } },
    ])
  })

  test('S17, S-o: without a keg the point belongs to the tap and has no gallons', () => {
    expect(readings([registered(), assigned(), reading()])).toMatchObject([
      { dims: DIMS, values: { gallons: null, keg_id: null, level_pct: 50 } },
    ])
  })

  test('a device without a tap, or one that was released, or whose tap was removed, makes no point', () => {
    expect(readings([registered(), reading()])).toEqual([])
    expect(
      readings([...bar, released({ meta: { occurredAt: NOW + MINUTE } }), reading({ at: NOW + 2 * MINUTE })]),
    ).toEqual([])
    expect(
      readings([...bar, tapRemoved({ meta: { occurredAt: NOW + MINUTE } }), reading({ at: NOW + 2 * MINUTE })]),
    ).toEqual([])
    expect(
      readings([...bar, unassigned({ meta: { occurredAt: NOW + MINUTE } }), reading({ at: NOW + 2 * MINUTE })]),
    ).toEqual([])
  })

  test('S-i: a reading from before the removal of the tap is a point of its keg, and does not restore the tap', () => {
    const events = [...bar, tapRemoved({ meta: { occurredAt: NOW + 5 * MINUTE } }), reading({ at: NOW + MINUTE })]
    expect(kegsOf(events)).toEqual(['keg-1'])
    expect(contents(measuredBy(events).table)).not.toHaveProperty([STATE])
  })

  test('S-i: a late reading is a point of the keg that was on the tap when it was measured, and does not change the state', () => {
    const swap = tapped({ keg_id: 'keg-2', tapped_at: NOW + 30 * MINUTE, meta: { occurredAt: NOW + 30 * MINUTE } })
    const events = [
      ...bar,
      reading({ at: NOW + 10 * MINUTE }),
      swap,
      reading({ at: NOW + 40 * MINUTE }),
      reading({ at: NOW + 20 * MINUTE }),
    ]
    expect(kegsOf(events)).toEqual(['keg-1', 'keg-2', 'keg-1'])
    expect(contents(measuredBy(events).table)[STATE]).toMatchObject({
      keg_id: 'keg-2',
      updated_at: new Date(NOW + 40 * MINUTE).toISOString(),
    })
  })

  test('a repeated reading, also late and with another age, is no second point', () => {
    const first = reading({ at: NOW + MINUTE })
    const again = (at: number) => ({ ...first, data: { ...first.data, at } })
    const many = weighed(NOW + 2 * MINUTE, ...Array.from({ length: 40 }, () => 90))
    expect(readings([...bar, first, again(NOW + MINUTE + 500), ...many, again(NOW + MINUTE + 900)])).toHaveLength(41)
  })

  test('a reading without a number is no point', () => {
    expect(
      readings([
        registered(),
        assigned(),
        reading({ weight_lbs: null, level_pct: null, battery_pct: null, battery_v: null }),
      ]),
    ).toEqual([])
  })
})

test('S39: the battery of a telemetry message is one point of its own, on the tap of its device', () => {
  const batteries = (...events: readonly Event[]) =>
    measuredBy([...bar, ...events])
      .points.filter(({ measure }) => measure === 'battery')
      .map(({ at, dims, values }) => [at, dims, values])
  const once = telemetry({ at: NOW + MINUTE })
  const battery = [NOW + MINUTE, DIMS, { battery_pct: 80, battery_v: 3.9 }]
  expect(batteries(once)).toEqual([battery])
  expect(batteries(once, reading({ at: NOW + 2 * MINUTE }), telemetry({ at: NOW + 3 * MINUTE }))).toEqual([battery])
  expect(batteries(telemetry({ battery_pct: null, battery_v: null }))).toEqual([])
  expect(batteries(unassigned(), telemetry({ at: NOW + MINUTE }))).toEqual([])
  expect(
    readings([...bar, telemetry({ at: NOW + MINUTE, seq: 77 }), reading({ at: NOW + MINUTE, seq: 77 })]),
  ).toHaveLength(1)
})

describe('pours', () => {
  const poured = [...bar, ...weighed(NOW + MINUTE, 95, 95, 93.9, 93.9, 93.9)]

  test('S-f: a fall of the level that settles is one point, at its start', () => {
    expect(pours(poured)).toMatchObject([{ dims: DIMS, at: NOW + 2 * MINUTE, values: { keg_id: 'keg-1', sg: 1.014 } }])
    const [pour] = pours(poured)
    expect(pour?.values['gallons']).toBeCloseTo((1.1 * 0.45359237 * 0.264172) / 1.014, 9)
  })

  test('the pours equal those of the fold of the scales, also with a swap or a silence in the middle of a pour', () => {
    const swap = tapped({ keg_id: 'keg-2', tapped_at: NOW + 4 * MINUTE, meta: { occurredAt: NOW + 4 * MINUTE } })
    for (const between of [
      swap,
      silence({ meta: { occurredAt: NOW + 20 * MINUTE } }),
      unassigned({ meta: { occurredAt: NOW + 20 * MINUTE } }),
    ]) {
      const events = [
        ...bar,
        ...weighed(NOW + MINUTE, 95, 95, 93.9),
        between,
        assigned({ meta: { occurredAt: NOW + 20 * MINUTE } }),
        ...weighed(NOW + 21 * MINUTE, 93, 93, 91.5, 91.5, 91.5),
      ]
      const items = Object.values(contents(tableOf(events))).filter(({ SK }) => SK.startsWith('POUR#'))
      expect(items.length).toBeGreaterThan(1)
      expect(
        pours(events).map(({ at, values }) => [new Date(at).toISOString(), values['gallons'], values['keg_id']]),
      ).toEqual(items.map(({ start, gallons, keg_id }) => [start, gallons, keg_id]))
    }
  })
})

test('S-m: a correction moves no point, and later points belong to the other keg', () => {
  const events = [
    ...bar,
    reading({ at: NOW + MINUTE }),
    corrected({ meta: { occurredAt: NOW + 2 * MINUTE } }),
    reading({ at: NOW + 3 * MINUTE }),
  ]
  expect(kegsOf(events)).toEqual(['keg-1', 'keg-9'])
})

test('every reading is in the time of exactly one keg, whatever was recorded late', () => {
  const events = [
    ...bar,
    ...weighed(NOW + MINUTE, 95, 95, 95),
    tapped({ keg_id: 'keg-2', tapped_at: NOW + 2.5 * MINUTE, meta: { occurredAt: NOW + 9 * MINUTE } }),
    ...weighed(NOW + 10 * MINUTE, 90, 90),
    finished({ keg_id: 'keg-2', at: NOW + 12 * MINUTE }),
    ...weighed(NOW + 13 * MINUTE, 20),
  ]
  const points = readings(events)
  expect(points).toHaveLength(6)
  expect(new Set(points.map(({ at }) => at)).size).toBe(6)
})

describe('folded sequences', () => {
  const one = (seq: number, boot = 'b1') => ({ device_id: SCALE, boot, seq })
  const foldedOf = (...seqs: readonly number[]) =>
    seqs.reduce((lives: readonly FoldedSequences[], seq) => withFolded(lives, one(seq)), [])

  test('are stored as ranges, in any order', () => {
    expect(foldedOf(1, 2, 3, 7, 6, 5)).toEqual([
      {
        life: bootHashOf(one(1)),
        ranges: [
          [1, 3],
          [5, 7],
        ],
      },
    ])
    expect(foldedOf(1, 3, 2)).toEqual([{ life: bootHashOf(one(1)), ranges: [[1, 3]] }])
    expect([1, 2, 3, 4].map((seq) => isFolded(foldedOf(1, 3), one(seq)))).toEqual([true, false, true, false])
  })

  test('are bounded: a reading can be counted twice, and none is lost', () => {
    const lives = foldedOf(...Array.from({ length: 100 }, (_, index) => index * 2))
    expect(lives[0]?.ranges).toHaveLength(12)
    expect([isFolded(lives, one(0)), isFolded(lives, one(198))]).toEqual([false, true])
  })

  test('of another boot are separate, and those of earlier boots are stored for a while', () => {
    const lives = withFolded(foldedOf(1, 2), one(1, 'b2'))
    expect([isFolded(lives, one(1)), isFolded(lives, one(1, 'b2')), isFolded(lives, one(2, 'b2'))]).toEqual([
      true,
      true,
      false,
    ])
    expect(['b3', 'b4', 'b5'].reduce((all, boot) => withFolded(all, one(1, boot)), lives)).toHaveLength(3)
  })
})
