import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ended,
  step,
  type Detector,
  type Level,
  type Poured,
  type Thresholds,
  type Unseen,
} from '../../../processors/scales/pours.ts'

const THRESHOLDS: Thresholds = { pour_min_gallons: 0.05, pour_settle_secs: 30, silent_after_secs: 600 }

const watch = (levels: readonly Level[], thresholds = THRESHOLDS) => {
  const poured: Poured[] = []
  const unseen: Unseen[] = []
  const pouring: boolean[] = []
  let detector: Detector | undefined
  for (const level of levels) {
    const next = step(detector, level, thresholds)
    detector = next.detector
    pouring.push(next.pouring)
    if (next.poured !== undefined) poured.push(next.poured)
    if (next.unseen !== undefined) unseen.push(next.unseen)
  }
  return { poured, unseen, pouring, detector }
}

const every = (seconds: number, ...gallons: readonly number[]): Level[] =>
  gallons.map((level, n) => ({ at: n * seconds * 1000, gallons: level }))

describe('a pour', () => {
  test('is a lasting fall, from the last reading before it to the first that shows the whole fall', () => {
    const { poured } = watch(every(60, 10, 10, 9.875, 9.875))
    expect(poured).toEqual([{ start: 60_000, end: 120_000, gallons: 0.125 }])
  })

  test('of many small steps is one pour', () => {
    const { poured } = watch(every(2, 10, 9.97, 9.94, 9.9, 9.875, ...Array.from({ length: 20 }, () => 9.875)))
    expect(poured).toHaveLength(1)
    expect(poured[0]?.gallons).toBeCloseTo(0.125, 3)
  })

  test('is shown while it is under way', () =>
    expect(watch(every(10, 10, 9.9, 9.8, 9.8, 9.8, 9.8)).pouring).toEqual([false, true, true, true, true, false]))

  test('does not exist if the level comes back', () => expect(watch(every(60, 10, 9, 10, 10, 10)).poured).toEqual([]))

  test('after another pour is a second one', () =>
    expect(watch(every(60, 10, 9.875, 9.875, 9.75, 9.75)).poured.map(({ gallons }) => gallons)).toEqual([0.125, 0.125]))

  test('counts up to the last reading if the keg leaves in the middle', () => {
    const { detector } = watch(every(10, 10, 9.9, 9.8))
    expect(ended(detector, THRESHOLDS).poured).toEqual({ start: 0, end: 20_000, gallons: 10 - 9.8 })
    expect(ended(undefined, THRESHOLDS)).toEqual({})
  })
})

describe('S-f: these are no pours:', () => {
  test('noise', () => expect(watch(every(60, 10, 9.98, 10.02, 9.97, 10.01, 9.99, 9.96, 10.02)).poured).toEqual([]))

  test('a slow drift of any size', () => {
    const overNight = Array.from({ length: 600 }, (_, minute) => 10 - minute * 0.001)
    expect(watch(every(60, ...overNight)).poured).toEqual([])
  })

  test('a drift without readings', () =>
    expect(
      watch([
        { at: 0, gallons: 10 },
        { at: 8 * 3_600_000, gallons: 9.7 },
        { at: 9 * 3_600_000, gallons: 9.7 },
      ]).poured,
    ).toEqual([]))

  test('a refill or another keg, which raises the base', () => {
    const { poured } = watch(every(60, 3, 15.5, 15.5, 15.375, 15.375))
    expect(poured.map(({ gallons }) => gallons)).toEqual([0.125])
  })

  test('an object that lies on the keg for one or two readings', () => {
    for (const levels of [
      [10, 11, 10, 10, 10],
      [10, 11, 11, 10, 10, 10],
      [10, 10.1, 10, 10],
      [10, 11, 10, 11, 10, 11, 11, 10, 10],
    ])
      expect(watch(every(60, ...levels)), levels.join(' ')).toMatchObject({ poured: [], detector: { base: 10 } })
    expect(watch(every(5, 10, 11, 11, 11, 11, 10, 10, 10)).poured).toEqual([])
  })

  test('a keg that is lifted off', () => expect(watch(every(60, 10, 10, -3.5, -3.5, 15.5, 15.5)).poured).toEqual([]))

  test('a level that falls faster than a tap pours', () => expect(watch(every(60, 12, 12, 5, 5, 5)).poured).toEqual([]))
})

describe('an object on the keg for one or two readings', () => {
  const whole = [{ start: 60_000, end: 120_000, gallons: 0.5 }]

  test('right after a pour does not change the pour', () => {
    for (const levels of [
      [10, 10, 9.5, 11, 9.5, 9.5],
      [10, 10, 9.5, 11, 11, 9.5, 9.5],
      [10, 10, 9.5, 9.9, 9.5, 9.5],
      [10, 10, 9.5, 9.9, 9.9, 9.5],
    ])
      expect(watch(every(60, ...levels)).poured, levels.join(' ')).toEqual(whole)
  })

  test('does not hide a pour', () => {
    for (const levels of [
      [10, 11, 9.5, 9.5],
      [10, 11, 11, 9.5, 9.5],
    ])
      expect(watch(every(60, ...levels)).poured, levels.join(' ')).toMatchObject([{ gallons: 0.5 }])
  })

  test('that stays is the new base, also for pours that begin meanwhile', () => {
    expect(watch(every(60, 10, 11, 11, 11, 10.5, 10.5)).poured).toMatchObject([{ gallons: 0.5 }])
    expect(watch(every(60, 10, 11, 10.75, 10.5, 10.5)).poured).toMatchObject([{ gallons: 0.5 }])
  })

  test('the part of a fall that comes back and stays is not part of the pour', () =>
    expect(watch(every(60, 10, 10, 9, 9.3, 9.3, 9.3, 9.3)).poured.map(({ gallons }) => gallons.toFixed(6))).toEqual([
      '0.700000',
    ]))
})

describe('beer that left while the scale was silent', () => {
  const HOUR = 3_600_000

  test('is unseen and no pour, from the last reading before the silence to the first one after it', () => {
    const { poured, unseen } = watch([
      { at: 0, gallons: 10 },
      { at: HOUR, gallons: 7 },
      { at: HOUR + 60_000, gallons: 7 },
    ])
    expect(poured).toEqual([])
    expect(unseen).toEqual([{ start: 0, end: HOUR, gallons: 3 }])
  })

  test('is separate from the pour that was under way, which ended at the last level that was read', () => {
    const { poured, unseen } = watch([
      { at: 0, gallons: 10 },
      { at: 60_000, gallons: 9.5 },
      { at: HOUR, gallons: 7 },
    ])
    expect(poured).toEqual([{ start: 0, end: 60_000, gallons: 0.5 }])
    expect(unseen).toEqual([{ start: 60_000, end: HOUR, gallons: 2.5 }])
  })

  test('is 0 if the level fell by less than a pour or rose, or if the scale was only slow', () => {
    for (const gallons of [9.96, 10, 12])
      expect(
        watch([
          { at: 0, gallons: 10 },
          { at: HOUR, gallons },
        ]).unseen,
      ).toEqual([])
    const slow = watch([
      { at: 0, gallons: 10 },
      { at: 600_000, gallons: 7 },
      { at: 1_200_000, gallons: 7 },
    ])
    expect([slow.poured.map(({ gallons }) => gallons), slow.unseen]).toEqual([[3], []])
  })

  test('is all beer that left, at any speed: there is no drift in a silence', () => {
    const before = every(60, 12, 12, 12)
    for (const [hours, gallons] of [
      [48, 8],
      [10, 11.1],
      [1, 11.94],
    ] as const) {
      const after = before.map((_, n): Level => ({ at: hours * HOUR + n * 60_000, gallons }))
      expect(watch([...before, ...after]), `${hours} h`).toMatchObject({
        poured: [],
        unseen: [{ start: 120_000, end: hours * HOUR, gallons: 12 - gallons }],
      })
    }
  })

  test('in small falls adds up over several silences', () =>
    expect(watch(every(900, 10, 9.97, 9.94, 9.91, 9.88)).unseen.map(({ gallons }) => gallons.toFixed(6))).toEqual([
      '0.060000',
      '0.060000',
    ]))

  test('is counted from the new level after a refill, also if every reading is after a silence', () => {
    const { poured, unseen, detector } = watch(every(900, 3, 3, 12, 12, 11, 10, 9, 8, 7, 6, 5, 4))
    expect([poured, unseen.reduce((sum, { gallons }) => sum + gallons, 0), detector]).toEqual([
      [],
      8,
      { at: 9_900_000, base: 4 },
    ])
    expect(watch(every(900, 10, 11, 10, 11, 11, 10)).unseen).toEqual([])
  })

  test("S19: how long a silence is, is the location's setting", () =>
    expect(
      watch(
        [
          { at: 0, gallons: 10 },
          { at: HOUR, gallons: 7 },
          { at: 2 * HOUR, gallons: 7 },
        ],
        { ...THRESHOLDS, silent_after_secs: 7200 },
      ),
    ).toMatchObject({ poured: [{ gallons: 3 }], unseen: [] }))
})

describe('readings that are not newer', () => {
  test('are ignored', () => {
    const { detector } = watch(every(60, 10, 9.9))
    expect(step(detector, { at: 60_000, gallons: 5 }, THRESHOLDS)).toEqual({ detector, pouring: true })
    expect(step(detector, { at: 0, gallons: 5 }, THRESHOLDS)).toEqual({ detector, pouring: true })
  })
})

test('other thresholds over the same readings give other pours', () => {
  const readings = every(60, 10, 9.96, 9.96, 9.8, 9.8)
  expect(watch(readings).poured).toHaveLength(1)
  expect(watch(readings, { ...THRESHOLDS, pour_min_gallons: 0.03 }).poured).toHaveLength(2)
  expect(watch(readings, { ...THRESHOLDS, pour_min_gallons: 1 }).poured).toHaveLength(0)
})

const aNight = fc
  .array(
    fc.record({
      secs: fc.integer({ min: 1, max: 7200 }),
      gallons: fc.double({ min: -4, max: 16, noNaN: true }).map((gallons) => gallons + 0),
    }),
    { maxLength: 40 },
  )
  .map((steps) => {
    let at = 0
    return steps.map(({ secs, gallons }): Level => ({ at: (at += secs * 1000), gallons }))
  })

describe('any readings', () => {
  test('a pour has at least the minimum volume and a positive duration, and no two pours overlap', () =>
    fc.assert(
      fc.property(aNight, (levels) => {
        let before = -1
        for (const { start, end, gallons } of watch(levels).poured) {
          expect(gallons).toBeGreaterThanOrEqual(THRESHOLDS.pour_min_gallons)
          expect(end).toBeGreaterThan(start)
          expect(start).toBeGreaterThanOrEqual(before)
          before = end
        }
      }),
    ))

  test('the state of the detector is small and survives JSON unchanged', () =>
    fc.assert(
      fc.property(aNight, (levels) => {
        const text = JSON.stringify(watch(levels).detector ?? {})
        expect(text.length).toBeLessThan(240)
        expect(JSON.parse(text)).toEqual(watch(levels).detector ?? {})
      }),
    ))

  test('the pours of a keg without rises are at most the beer that left it', () =>
    fc.assert(
      fc.property(aNight, (levels) => {
        const sorted = levels
          .map(({ at }, n) => ({ at, gallons: [...levels].sort((a, b) => b.gallons - a.gallons)[n]?.gallons ?? 0 }))
          .filter(({ gallons }) => gallons > 0)
        const { poured, unseen } = watch(sorted)
        const total = [...poured, ...unseen].reduce((sum, { gallons }) => sum + gallons, 0)
        expect(total).toBeLessThanOrEqual((sorted[0]?.gallons ?? 0) - (sorted.at(-1)?.gallons ?? 0) + 1e-9)
      }),
    ))

  test('an object on the keg for one or two readings changes no pour', () => {
    const aStep = fc.record({
      poured: fc.constantFrom(0, 0, 0, 0.125, 0.3),
      laid: fc.option(fc.record({ gallons: fc.constantFrom(0.0625, 0.25, 1, 5), readings: fc.constantFrom(1, 2) }), {
        nil: undefined,
      }),
    })
    return fc.assert(
      fc.property(fc.array(aStep, { maxLength: 20 }), (steps) => {
        let [left, at] = [12, 0]
        const [plain, disturbed]: [Level[], Level[]] = [[{ at, gallons: left }], [{ at, gallons: left }]]
        for (const { poured, laid } of steps) {
          left -= poured
          for (const reading of [0, 1, 2, 3]) {
            const level: Level = { at: (at += 60_000), gallons: left }
            plain.push(level)
            disturbed.push(
              laid !== undefined && reading > 0 && reading <= laid.readings
                ? { at, gallons: left + laid.gallons }
                : level,
            )
          }
        }
        // Skips inputs in which the object weighs about as much as the poured beer: then the object hides the pour.
        const isClear = steps.every(
          ({ poured, laid }) =>
            laid === undefined || poured === 0 || Math.abs(poured - laid.gallons) >= THRESHOLDS.pour_min_gallons,
        )
        fc.pre(isClear)
        expect(watch(disturbed).poured).toEqual(watch(plain).poured)
      }),
    )
  })
})
