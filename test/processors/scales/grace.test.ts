import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isoOf, msOf } from '../../../projections/instant.ts'
import type { Item } from '../../../projections/item.ts'
import type { Timer } from '../../../projections/projection.ts'
import type { AlertItem } from '../../../projections/scales/items.ts'
import type { Event } from '../../../schemas/event.ts'
import { contents, foldInto, type Table } from './given.ts'
import { bar, metaOf, NOW, reading } from './events.ts'

const GRACE_MS = 300_000
const THRESHOLD = 15
const CLEAR = 20

/** The level of the keg in percent, measured at an instant. */
interface Measured {
  readonly at: number
  readonly level: number
}

/** A message: readings that arrive together. */
interface Message {
  readonly receivedAt: number
  readonly readings: readonly Measured[]
}

/** The times of one alert: when the level fell below the threshold, when the alert fired and when it ended. Without `resolved`, it is active. */
interface Shown {
  readonly started: number
  readonly fired: number
  readonly resolved?: number
}

/**
 * Folds the messages in the order of their arrival. Between two messages, every due timer appends its event, as the timers role does. The processor
 * folds a message `lagMs` after its arrival. A timer that is due before that time, or before the next message arrives, appends its event after the
 * message.
 */
const arrive = (messages: readonly Message[], lagMs = 0): Table => {
  const table: Table = new Map()
  const timers = new Map<string, Timer & { readonly at: number }>()
  let position = 0
  const fold = (event: Event): void => {
    for (const timer of foldInto(table, event, position++).flatMap((result) => result.timers ?? [])) {
      timers.delete(timer.name)
      if (timer.at !== null) timers.set(timer.name, { ...timer, at: timer.at })
    }
  }
  const takeDue = (now: number): Event | undefined => {
    const due = [...timers.values()].filter(({ at }) => at <= now).sort((a, b) => a.at - b.at)[0]
    if (due?.event === undefined) return undefined
    timers.delete(due.name)
    return {
      type: due.event.type,
      meta: metaOf({ occurredAt: due.at, source: 'timer' }),
      data: due.event.data,
      personal: null,
    } as Event
  }
  for (const event of bar) fold(event)
  for (const [n, { receivedAt, readings }] of messages.entries()) {
    for (let event = takeDue(receivedAt); event !== undefined; event = takeDue(receivedAt)) fold(event)
    const behind: Event[] = []
    const foldedAt = Math.min(receivedAt + lagMs, messages[n + 1]?.receivedAt ?? Infinity)
    for (let event = takeDue(foldedAt); event !== undefined; event = takeDue(foldedAt)) behind.push(event)
    for (const { at, level } of readings)
      fold(
        reading({
          at,
          level_pct: level,
          weight_lbs: null,
          battery_pct: null,
          meta: { occurredAt: at, recordedAt: receivedAt },
        }),
      )
    for (const event of behind) fold(event)
  }
  return table
}

const rowsOf = (table: Table, state: AlertItem['state']): readonly AlertItem[] =>
  (Object.values(contents(table)) as readonly Item[] as readonly AlertItem[]).filter(
    ({ SK, type, state: found }) => SK.startsWith('HIST#') && type === 'low_keg' && found === state,
  )

const shownBy = (table: Table): readonly Shown[] =>
  rowsOf(table, 'active').map(({ started_at, fired_at = '' }) => {
    const end = rowsOf(table, 'resolved').find((row) => row.started_at === started_at)
    return {
      started: msOf(started_at),
      fired: msOf(fired_at),
      ...(end?.resolved_at !== undefined && { resolved: msOf(end.resolved_at) }),
    }
  })

/** Returns the expected alerts. An alert fires if the level stays below the threshold for the grace period, at the first reading after this time. */
const expectedOf = (readings: readonly Measured[]): readonly Shown[] => {
  const alerts: Shown[] = []
  let started: number | undefined
  let fired: number | undefined
  for (const { at, level } of readings) {
    if (started !== undefined && fired !== undefined) {
      if (level < CLEAR) continue
      alerts.push({ started, fired, resolved: at })
      started = fired = undefined
    } else if (level >= THRESHOLD) started = undefined
    else if (started === undefined) started = at
    else if (at - started >= GRACE_MS) fired = at
  }
  return started !== undefined && fired !== undefined ? [...alerts, { started, fired }] : alerts
}

const minute = (n: number): number => NOW + n * 60_000
const levels = (...values: readonly number[]): readonly Measured[] =>
  values.map((level, n) => ({ at: minute(n + 1), level }))
const DAY_MS = 86_400_000

describe('a breach of three minutes with a grace of five', () => {
  const breach = levels(50, 10, 10, 10, 40, 40, 40, 40, 40)

  test('S-c: does not fire if the readings arrive at once, late or not, or in several messages', () => {
    const cuts = [[9], [3, 6], [2, 1, 1, 5], [1, 1, 1, 1, 1, 1, 1, 1, 1]]
    for (const lateMs of [0, 600_000, DAY_MS]) {
      for (const between of [0, 30_000, 240_000, 3_600_000]) {
        for (const cut of cuts) {
          let from = 0
          const messages = cut.map((count, n): Message => ({
            receivedAt: minute(9) + lateMs + n * between,
            readings: breach.slice(from, (from += count)),
          }))
          expect(shownBy(arrive(messages)), `${lateMs} ${between} ${cut.join('+')}`).toEqual([])
        }
      }
    }
  })

  test('leaves no alert if the scale lost its connection in the breach and sends the rest a day later', () => {
    const table = arrive([
      { receivedAt: minute(2), readings: breach.slice(0, 2) },
      { receivedAt: minute(2) + DAY_MS, readings: breach.slice(2) },
    ])
    expect(Object.keys(contents(table)).filter((name) => name.includes('low_keg'))).toEqual([])
  })

  test('is not fired between two messages of a buffer by a timer that is due by the wall clock', () => {
    const table = arrive([
      { receivedAt: minute(5) + DAY_MS, readings: breach.slice(0, 3) },
      { receivedAt: minute(9) + DAY_MS, readings: [] },
    ])
    expect(shownBy(table)).toEqual([])
  })

  test('is not fired by a timer event that was appended before the processor folded the message that arms the timer again', () => {
    const messages = [
      { receivedAt: DAY_MS + minute(0), readings: breach.slice(0, 2) },
      { receivedAt: DAY_MS + minute(4.9), readings: breach.slice(2, 3) },
    ]
    expect(shownBy(arrive(messages, 12_000))).toEqual([])
  })
})

const someReadings: fc.Arbitrary<readonly Measured[]> = fc
  .array(
    fc.record({ secs: fc.integer({ min: 1, max: 240 }), level: fc.constantFrom(3, 10, 10, 10, 14.9, 15, 17, 20, 60) }),
    { minLength: 1, maxLength: 40, size: 'max' },
  )
  .map((steps) => {
    let at = NOW
    return steps.map(({ secs, level }) => ({ at: (at += secs * 1000), level }))
  })

/** Cuts readings into messages. A message arrives after its last reading was measured, and after the previous message. */
const cut = (
  readings: readonly Measured[],
  {
    sizes,
    delays,
    notBefore = 0,
  }: { readonly sizes: readonly number[]; readonly delays: readonly number[]; readonly notBefore?: number },
): readonly Message[] => {
  const messages: Message[] = []
  let [from, last] = [0, notBefore]
  for (let n = 0; from < readings.length; n += 1) {
    const part = readings.slice(from, (from += sizes[n % sizes.length] ?? 1))
    last = Math.max(last, part.at(-1)?.at ?? 0) + (delays[n % delays.length] ?? 0)
    messages.push({ receivedAt: last, readings: part })
  }
  return messages
}

const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 })
const delays = (max: number) =>
  fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max })), { minLength: 1, maxLength: 8 })

describe('for any readings', () => {
  test('a buffer that arrives within its grace gives the same alerts in every cut into messages, however late', () =>
    fc.assert(
      fc.property(
        someReadings,
        sizes,
        delays(5_000),
        fc.constantFrom(0, 3_600_000, DAY_MS),
        (readings, parts, pauses, lateMs) => {
          const messages = cut(readings, {
            sizes: parts,
            delays: pauses,
            notBefore: (readings.at(-1)?.at ?? 0) + lateMs,
          })
          expect(shownBy(arrive(messages))).toEqual(expectedOf(readings))
        },
      ),
    ))

  test('no timer fires within a buffer whose messages follow each other within a grace, however far the processor is behind', () =>
    fc.assert(
      fc.property(
        someReadings,
        sizes,
        delays(GRACE_MS - 1),
        fc.integer({ min: 0, max: GRACE_MS - 1 }),
        (readings, parts, pauses, lagMs) => {
          const messages = cut(readings, {
            sizes: parts,
            delays: pauses,
            notBefore: (readings.at(-1)?.at ?? 0) + DAY_MS,
          })
          for (let count = 1; count <= messages.length; count += 1) {
            const arrived = messages.slice(0, count)
            expect(shownBy(arrive(arrived, lagMs)), `${count} messages`).toEqual(
              expectedOf(arrived.flatMap((message) => message.readings)),
            )
          }
        },
      ),
    ))

  test('every alert is in breach for its whole grace and when it fires, and ends later', () =>
    fc.assert(
      fc.property(
        someReadings,
        sizes,
        delays(2 * DAY_MS),
        fc.integer({ min: 0, max: DAY_MS }),
        (readings, parts, pauses, lagMs) => {
          for (const { started, fired, resolved = Infinity } of shownBy(
            arrive(cut(readings, { sizes: parts, delays: pauses }), lagMs),
          )) {
            expect(resolved).toBeGreaterThan(fired)
            expect(fired - started).toBeGreaterThanOrEqual(GRACE_MS)
            expect(readings.find(({ at }) => at === started)?.level, isoOf(started)).toBeLessThan(THRESHOLD)
            for (const { at, level } of readings)
              if (at >= started && at <= fired) expect(level, isoOf(at)).toBeLessThan(THRESHOLD)
          }
        },
      ),
    ))

  test('no lateness loses an alert: at most a timer fires it before the reading that confirms it', () =>
    fc.assert(
      fc.property(
        someReadings,
        sizes,
        delays(2 * DAY_MS),
        fc.integer({ min: 0, max: DAY_MS }),
        (readings, parts, pauses, lagMs) => {
          const shown = shownBy(arrive(cut(readings, { sizes: parts, delays: pauses }), lagMs))
          for (const { fired, resolved } of expectedOf(readings)) {
            expect(
              shown.some((alert) => alert.resolved === resolved && alert.fired <= fired),
              isoOf(fired),
            ).toBe(true)
          }
        },
      ),
    ))
})
