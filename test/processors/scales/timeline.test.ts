import fc from 'fast-check'
import type { KegOnTap, TapAssignment } from '../../../projections/scales/spans.ts'
import { describe, expect, test } from 'vitest'
import {
  separateTaps,
  withCorrectedKeg,
  withFinishedKeg,
  kegAt,
  kegNow,
  withAssignment,
  tapAt,
  tapNow,
  withTappedKeg,
  type Timeline,
} from '../../../processors/scales/timeline.ts'

const NO_KEGS: Timeline = { kegs: [] }

const keg = (keg_id: string): KegOnTap => ({
  keg_id,
  beer_id: 'guinness',
  keg_type: 'half_barrel',
  full_lbs: 161.5,
  empty_lbs: 29,
  sg: 1.014,
})
const at = (timeline: Timeline, time: number) => kegAt(timeline, time)?.keg_id

describe('the kegs of a tap', () => {
  const swapped = withTappedKeg(withTappedKeg(NO_KEGS, keg('a'), 100), keg('b'), 200)

  test('S-i: a reading from before the swap belongs to the old keg', () => {
    expect([99, 100, 199, 200, 1e12].map((time) => at(swapped, time))).toEqual([undefined, 'a', 'a', 'b', 'b'])
    expect(kegNow(swapped)?.keg_id).toBe('b')
  })

  test('after a finished keg the tap is empty until the next keg', () => {
    const off = withFinishedKeg(swapped, 'b', 300)
    expect([at(off, 299), at(off, 300), kegNow(off)]).toEqual(['b', undefined, undefined])
    expect(at(withTappedKeg(off, keg('c'), 400), 350)).toBeUndefined()
  })

  test('finishing a keg that is not on the tap changes nothing', () => {
    expect(withFinishedKeg(swapped, 'a', 300)).toBe(swapped)
    expect(withFinishedKeg(swapped, 'x', 150)).toBe(swapped)
  })

  test('a keg that is recorded late is inserted between its neighbours', () => {
    const late = withTappedKeg(swapped, keg('c'), 150)
    expect([149, 150, 199, 200].map((time) => at(late, time))).toEqual(['a', 'c', 'c', 'b'])
  })

  test('S-m: from the instant of a correction on the tap has the other keg; before it and after the next swap nothing changes', () => {
    const right = withCorrectedKeg(swapped, { keg_id: 'a', from: 150, keg: keg('c') })
    expect([100, 149, 150, 199, 200].map((time) => at(right, time))).toEqual(['a', 'a', 'c', 'c', 'b'])
  })

  test('S-m: a correction from before the start of the keg replaces the keg completely', () => {
    const right = withCorrectedKeg(swapped, { keg_id: 'b', from: 0, keg: keg('c') })
    expect([at(right, 199), at(right, 200), kegNow(right)?.keg_id]).toEqual(['a', 'c', 'c'])
  })

  test('only the last kegs are stored, and an older keg is not taken for a new one', () => {
    const many = Array.from({ length: 60 }, (_, n) => n).reduce(
      (timeline, n) => withTappedKeg(timeline, keg(`k${n}`), n),
      NO_KEGS,
    )
    expect(many.kegs).toHaveLength(40)
    expect(withTappedKeg(many, keg('k3'), 3)).toBe(many)
  })
})

describe('the assignments of a device', () => {
  const moved = withAssignment(withAssignment([], '01', 100), '02', 200)

  test('S-i: a buffered reading belongs to the tap where the device was', () => {
    expect([99, 100, 199, 200].map((time) => tapAt(moved, time))).toEqual([null, '01', '01', '02'])
    expect(tapNow(moved)).toBe('02')
  })

  test('an unassigned device has no tap', () => {
    const away = withAssignment(moved, null, 300)
    expect([tapAt(away, 299), tapAt(away, 300), tapNow(away)]).toEqual(['02', null, null])
  })
})

test('the last assignment in the log applies, and a device has one tap at a time, whatever the clocks', () =>
  fc.assert(
    fc.property(
      fc.array(fc.record({ tap: fc.constantFrom('01', '02', null), time: fc.integer({ min: 0, max: 12 }) }), {
        minLength: 1,
        maxLength: 12,
      }),
      (tale) => {
        const places = tale.reduce<readonly TapAssignment[]>(
          (told, { tap, time }) => withAssignment(told, tap, time),
          [],
        )
        expect(tapNow(places)).toBe(tale.at(-1)?.tap)
        places.forEach(
          ({ from, to }, index) =>
            expect(to).toBe(places[index + 1]?.from ?? null) ?? expect(from).toBeLessThan(to ?? Infinity),
        )
        expect(withAssignment(places, tale.at(-1)?.tap ?? null, 99)).toBe(places)
      },
    ),
  ))

type Told = { readonly kind: 'tapped' | 'finished' | 'corrected'; readonly keg_id: string; readonly time: number }
const aTale = fc.array(
  fc.record<Told>({
    kind: fc.constantFrom('tapped', 'tapped', 'finished', 'corrected'),
    keg_id: fc.constantFrom('a', 'b', 'c', 'd'),
    time: fc.integer({ min: 0, max: 12 }),
  }),
  { maxLength: 12 },
)

const tell = (timeline: Timeline, { kind, keg_id, time }: Told): Timeline => {
  if (kind === 'tapped') return withTappedKeg(timeline, keg(keg_id), time)
  return kind === 'finished'
    ? withFinishedKeg(timeline, keg_id, time)
    : withCorrectedKeg(timeline, { keg_id, from: time, keg: keg(`${keg_id}'`) })
}

describe('any events', () => {
  test('spans are in the order of time and never overlap, so an instant has one keg', () =>
    fc.assert(
      fc.property(aTale, (tale) => {
        const { kegs } = tale.reduce(tell, NO_KEGS)
        kegs.forEach(({ from, to }, index) => {
          expect(to ?? Infinity).toBeGreaterThanOrEqual(from)
          expect(kegs[index + 1]?.from ?? Infinity).toBeGreaterThanOrEqual(to ?? Infinity)
        })
      }),
    ))

  test('an immediate repetition changes nothing', () =>
    fc.assert(
      fc.property(aTale, (tale) => {
        tale.reduce((timeline, told) => {
          const once = tell(timeline, told)
          expect(tell(once, told)).toEqual(once)
          return once
        }, NO_KEGS)
      }),
    ))

  test('a later repetition of a keg or an assignment changes nothing', () =>
    fc.assert(
      fc.property(aTale, fc.nat(), (tale, pick) => {
        const kegs = tale.reduce(tell, NO_KEGS)
        const swaps = tale.filter(({ kind }) => kind === 'tapped')
        const again = swaps[pick % Math.max(1, swaps.length)]
        if (again !== undefined) expect(tell(kegs, again)).toBe(kegs)
      }),
    ))

  test('S-m: a keg that was recorded on two taps is on one at a time, in any order of the events', () => {
    const keg = { keg_id: 'k', beer_id: 'b', keg_type: 'half_barrel', full_lbs: 161.5, empty_lbs: 29, sg: 1 }
    const on = (...spans: readonly (readonly [number, number | null])[]) => ({
      kegs: spans.map(([from, to]) => ({ ...keg, from, to })),
    })
    expect(separateTaps(on([7, null]), on([5, null]), 'k')).toEqual({ here: on([7, null]), other: on([5, 7]) })
    expect(separateTaps(on([3, null]), on([5, null]), 'k')).toEqual({ here: on([3, 5]), other: on([5, null]) })
    expect(separateTaps(on([5, null]), on([5, null]), 'k')).toEqual({ here: on([5, null]), other: on([5, 5]) })
    const [here, other] = [on([1, 2]), on([5, null])]
    expect(separateTaps(here, other, 'k')).toEqual({ here, other })
    expect(separateTaps(here, other, 'k').other).toBe(other)
  })
})
