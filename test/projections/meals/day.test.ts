import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY_RULE_VERSION, DAY_RULES, dayOf, isElsewhere, windowOf } from '../../../projections/meals/day.ts'
import { dateOf, dayNumberOf, isInstant, isoOf } from '../../../projections/instant.ts'
import { resolveMealTime } from '../../../producers/meals/time.ts'
import { decideDay } from '../../../projections/meals/zone.ts'
import { isZone, utcOffsetOf, zoneName } from '../../../projections/zone.ts'

const at = (iso: string): number => Date.parse(iso)
const dayIn = (tz: string, iso: string): string | undefined => {
  const decision = decideDay({ eatenAt: at(iso), tz })
  return 'refused' in decision ? undefined : decision.userDate
}

describe('the 4 AM rule', () => {
  test('M28: the day begins at 04:00 by the wall clock of the zone', () => {
    expect(dayIn('Europe/Berlin', '2026-11-16T03:59:59.999+01:00')).toBe('2026-11-15')
    expect(dayIn('Europe/Berlin', '2026-11-16T04:00:00.000+01:00')).toBe('2026-11-16')
    expect(dayIn('Asia/Tokyo', '2026-11-16T03:59:00.000+09:00')).toBe('2026-11-15')
  })

  test('M-c: 04:30 in New York on the day clocks go forward belongs to that day', () => {
    expect(dayIn('America/New_York', '2026-03-08T04:30:00.000-04:00')).toBe('2026-03-08')
    const byElapsedTime = isoOf(at('2026-03-08T04:30:00.000-04:00') - 4 * 3_600_000 - 5 * 3_600_000).slice(0, 10)
    expect(byElapsedTime).toBe('2026-03-07')
  })

  test('M-c: 03:30 in New York on the day clocks go back belongs to the day before', () =>
    expect(dayIn('America/New_York', '2026-11-01T03:30:00.000-05:00')).toBe('2026-10-31'))

  test('M-c: both 01:30 of the night clocks go back belong to the day before, an hour apart', () => {
    expect(dayIn('America/New_York', '2026-11-01T01:30:00.000-04:00')).toBe('2026-10-31')
    expect(dayIn('America/New_York', '2026-11-01T01:30:00.000-05:00')).toBe('2026-10-31')
  })

  test.each([
    ['Asia/Kathmandu', '2026-11-16T00:00:00.000Z', 345],
    ['Pacific/Kiritimati', '2026-11-16T00:00:00.000Z', 840],
    ['Etc/GMT+12', '2026-11-16T00:00:00.000Z', -720],
    ['America/New_York', '2026-07-01T00:00:00.500Z', -240],
    ['Australia/Lord_Howe', '2026-01-01T00:00:00.000Z', 660],
    ['UTC', '1969-12-31T23:59:59.999Z', 0],
  ])('M-b: the offset of %s at %s is %i minutes', (tz, instant, minutes) =>
    expect(utcOffsetOf(at(instant), tz)).toBe(minutes),
  )

  test('M-b: in every zone the offset is what its wall clock shows', () => {
    const seasons = ['1975-01-01T00:00:00.000Z', '2026-01-15T12:34:56.789Z', '2026-07-15T23:59:59.999Z'].map(at)
    for (const timeZone of Intl.supportedValuesOf('timeZone')) {
      const clock = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
      for (const instant of seasons) {
        const wall = at(`${clock.format(instant).replace(' ', 'T')}Z`)
        expect(utcOffsetOf(instant, timeZone), timeZone).toBe(
          Math.round((wall - Math.floor(instant / 1000) * 1000) / 60_000),
        )
      }
    }
  })

  test('M-b: a valid zone is distinguished from an invalid one', () => {
    expect(
      ['Europe/Berlin', 'utc', 'Mars/Olympus', '+05:30', '', 'x'.repeat(100), 'Europe/Berlin\u0000'].map(isZone),
    ).toEqual([true, true, false, false, false, false, false])
    expect(decideDay({ eatenAt: 0, tz: 'Mars/Olympus' })).toEqual({ refused: 'tz-unknown' })
  })

  test('M-b: a zone keeps its name in the usual case, and an alias stays an alias', () => {
    expect(['europe/prague', 'EUROPE/PRAGUE', 'Europe/Prague', 'utc'].map(zoneName)).toEqual([
      'Europe/Prague',
      'Europe/Prague',
      'Europe/Prague',
      'UTC',
    ])
    expect(['Asia/Calcutta', 'Asia/Kolkata', 'Etc/UTC', 'Mars/Olympus'].map(zoneName)).toEqual([
      'Asia/Calcutta',
      'Asia/Kolkata',
      'Etc/UTC',
      'Mars/Olympus',
    ])
    expect(resolveMealTime({ eatenAt: 0, tz: 'europe/prague' })).toMatchObject({
      tz: 'Europe/Prague',
      utcOffsetMinutes: 60,
    })
  })

  test('M-b: the day of the client applies if it differs by one day at most, and the difference is flagged', () => {
    const meal = { eatenAt: at('2026-11-16T12:00:00.000Z'), tz: 'UTC' }
    const day = (userDate: string) => decideDay({ ...meal, userDate })
    expect(day('2026-11-16')).toEqual({
      utcOffsetMinutes: 0,
      userDate: '2026-11-16',
      dayOverridden: false,
      dayRuleVersion: 1,
    })
    expect(day('2026-11-15')).toMatchObject({ userDate: '2026-11-15', dayOverridden: true })
    expect(day('2026-11-17')).toMatchObject({ userDate: '2026-11-17', dayOverridden: true })
    expect(day('2026-11-18')).toEqual({ refused: 'user-date-out-of-range' })
    expect(day('2026-02-30')).toEqual({ refused: 'user-date-invalid' })
  })

  test('M-d: rules have versions, and another rule gives other days', () => {
    expect(DAY_RULES[DAY_RULE_VERSION]).toEqual({ startMinutes: 240 })
    const breakfast = at('2026-11-16T04:30:00.000Z')
    expect(dayOf(breakfast, 0)).toBe('2026-11-16')
    expect(dayOf(breakfast, 0, { startMinutes: 300 })).toBe('2026-11-15')
  })

  test('M-k: the window of a day is from 14:00Z the day before to 16:00Z the day after', () => {
    const { from, to } = windowOf('2026-11-16')
    expect([isoOf(from), isoOf(to)]).toEqual(['2026-11-15T14:00:00.000Z', '2026-11-17T16:00:00.000Z'])
  })

  test('M-k: every instant is in the window of its day, in any zone', () =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), fc.integer({ min: -720, max: 840 }), (eatenAt, offset) => {
        const { from, to } = windowOf(dayOf(eatenAt, offset))
        expect(eatenAt >= from && eatenAt < to).toBe(true)
        expect(isElsewhere(dayOf(eatenAt, offset), eatenAt, offset)).toBe(false)
        expect(isElsewhere(dayOf(eatenAt, offset), eatenAt, undefined)).toBe(false)
      }),
    ))
})

describe('instants', () => {
  test('are written as Date writes them', () =>
    fc.assert(
      fc.property(fc.integer({ min: at('0001-01-01T00:00:00.000Z'), max: at('9998-12-31T23:59:59.999Z') }), (ms) => {
        expect(isoOf(ms)).toBe(new Date(ms).toISOString())
        expect(isInstant(ms)).toBe(true)
      }),
      { numRuns: 2000 },
    ))

  test('outside four-digit years become the first or the last such instant', () => {
    expect([isoOf(-9e15), isoOf(9e15)]).toEqual(['0001-01-01T00:00:00.000Z', '9998-12-31T23:59:59.999Z'])
    expect([isInstant(-9e15), isInstant(9e15), isInstant(0.5)]).toEqual([false, false, false])
  })

  test('dates are numbered from 1970 and back', () => {
    fc.assert(
      fc.property(fc.integer({ min: -700_000, max: 2_900_000 }), (day) => {
        expect(dayNumberOf(dateOf(day))).toBe(day)
      }),
    )
    expect(
      ['2026-02-29', '2026-13-01', '2026-1-1', '', '0000-01-01', '9999-01-01', ' 2026-01-01'].map(dayNumberOf),
    ).toEqual(Array(7).fill(undefined))
    expect(dayNumberOf('2028-02-29')).toBe(21_243)
  })
})
