import { describe, expect, test } from 'vitest'
import { barLive } from '../../../producers/scales/live.ts'
import type { Item } from '../../../projections/item.ts'
import type { Event } from '../../../schemas/event.ts'
import { contents, given, tableOf } from './given.ts'
import {
  acknowledged,
  assigned,
  bar,
  corrected,
  DEVICE,
  finished,
  grace,
  LOC,
  MINUTE,
  NOW,
  reading,
  registered,
  released,
  SCALE,
  settings,
  silence,
  STATE,
  tapped,
  telemetry,
  unassigned,
} from './events.ts'

const ACTIVE = `ALERT#${LOC} / ACTIVE#low_keg#TAP#07`
const FIRING = `FIRING#${LOC}#TAP#07 / low_keg`
const at = (minutes: number) => NOW + minutes * MINUTE
const hist = (minutes: number, type: string, entity: string, state: string) =>
  `ALERT#${LOC} / HIST#${new Date(at(minutes)).toISOString()}#${type}#${entity}#${state}`

const low = (minutes: number, level_pct = 10) => reading({ at: at(minutes), level_pct, weight_lbs: null })
const breached = [...bar, low(1)]
const fired = [...breached, low(6)]

describe('low keg', () => {
  test('S14 S-b S-c: a breach is pending for its grace, in a row of its location’s tap that expires a day later', () => {
    const when = given(...bar).when(low(1))
    when.then({
      [ACTIVE]: {
        type: 'low_keg',
        entity: 'TAP#07',
        state: 'pending',
        value: 10,
        threshold: 15,
        started_at: '2026-11-16T12:01:00.000Z',
      },
      [FIRING]: { loc_id: LOC, fire_at: '2026-11-16T12:06:00.000Z', ttl: at(6) / 1000 + 86_400 },
    })
    expect(when.timers).toContainEqual({
      name: 'grace:low_keg:TAP#07',
      at: at(6),
      event: { type: 'GraceElapsed', key: LOC, data: { type: 'low_keg', entity: 'TAP#07', started_at: at(1) } },
    })
  })

  test('S-c S50 S51: the first reading after the grace that is still low fires the alert, ends the grace and is in the history', () => {
    given(...breached)
      .when(low(5))
      .then({ [ACTIVE]: { state: 'pending' } })
    const when = given(...breached).when(low(6, 9))
    when.then({
      [ACTIVE]: { state: 'active', fired_at: '2026-11-16T12:06:00.000Z', value: 9 },
      [FIRING]: null,
      [hist(6, 'low_keg', 'TAP#07', 'active')]: { state: 'active' },
    })
    expect(when.timers).toContainEqual({ name: 'grace:low_keg:TAP#07', at: null })
  })

  test('S-c: the alert of a silent scale fires by its timer', () =>
    given(...breached)
      .when(grace({ meta: { occurredAt: at(6) } }))
      .then({ [ACTIVE]: { state: 'active', fired_at: '2026-11-16T12:06:00.000Z' }, [FIRING]: null }))

  test('S-c: the timer of a late reading waits for a whole grace after its receipt, and again after each late reading', () => {
    const late = (minutes: number, receivedAt: number, level = 10) =>
      reading({
        at: at(minutes),
        level_pct: level,
        weight_lbs: null,
        meta: { occurredAt: at(minutes), recordedAt: at(receivedAt) },
      })
    expect(given(...bar).when(late(1, 61)).timers).toContainEqual(
      expect.objectContaining({ name: 'grace:low_keg:TAP#07', at: at(66) }),
    )
    expect(given(...bar, late(1, 61)).when(late(2, 63)).timers).toContainEqual(
      expect.objectContaining({ name: 'grace:low_keg:TAP#07', at: at(68) }),
    )
    expect(given(...breached).when(low(2)).timers).toEqual([])
  })

  describe('fired by the timer, before readings of that time arrive', () => {
    const byTimer = [...breached, grace({ meta: { occurredAt: at(6) } })]
    const active = hist(6, 'low_keg', 'TAP#07', 'active')

    test('a recovery within the grace removes the firing: there is no alert, and none in the history', () => {
      given(...byTimer)
        .when(low(4, 40))
        .then({ [ACTIVE]: null, [active]: null, [hist(4, 'low_keg', 'TAP#07', 'resolved')]: null })
      expect(given(...byTimer).when(low(4, 40)).items[STATE]).not.toHaveProperty('_low')
    })

    test('a late reading in breach that was measured after the grace moves the firing to its own time', () => {
      const lateTimer = [...breached, grace({ meta: { occurredAt: at(30) } })]
      given(...lateTimer)
        .when(low(8, 9))
        .then({
          [ACTIVE]: { state: 'active', fired_at: '2026-11-16T12:08:00.000Z', value: 9 },
          [hist(30, 'low_keg', 'TAP#07', 'active')]: null,
          [hist(8, 'low_keg', 'TAP#07', 'active')]: { value: 9 },
        })
      given(...lateTimer, low(8, 9))
        .when(low(10, 40))
        .then({
          [ACTIVE]: null,
          [hist(8, 'low_keg', 'TAP#07', 'active')]: {},
          [hist(10, 'low_keg', 'TAP#07', 'resolved')]: { fired_at: '2026-11-16T12:08:00.000Z' },
        })
    })

    test('a reading from after the firing resolves it', () =>
      given(...byTimer)
        .when(low(7, 40))
        .then({ [ACTIVE]: null, [active]: {}, [hist(7, 'low_keg', 'TAP#07', 'resolved')]: {} }))

    test('a swap before the firing that is recorded late removes the firing', () =>
      given(...byTimer)
        .when(tapped({ keg_id: 'keg-2', tapped_at: at(3), meta: { occurredAt: at(9) } }))
        .then({ [ACTIVE]: null, [active]: null }))

    test('an acknowledgement makes the firing final: the alert ends after it', () =>
      given(...byTimer, acknowledged({ meta: { occurredAt: at(7) } }))
        .when(low(4, 40))
        .then({
          [ACTIVE]: null,
          [active]: {},
          [`ALERT#${LOC} / HIST#2026-11-16T12:07:00.001Z#low_keg#TAP#07#resolved`]: {
            fired_at: '2026-11-16T12:06:00.000Z',
            resolved_at: '2026-11-16T12:07:00.001Z',
          },
        }))

    test('neither the history nor the live feed shows bookkeeping', () => {
      const shown = barLive.show(given(...bar).when(...breached.slice(bar.length)).items[ACTIVE] as Item)
      expect(shown).toMatchObject({ state: 'pending' })
      expect(Object.keys(shown).filter((name) => name.startsWith('_'))).toEqual([])
      expect(
        Object.keys(given(...bar).when(...byTimer.slice(bar.length)).items[active] ?? {}).filter((name) =>
          name.startsWith('_'),
        ),
      ).toEqual([])
    })
  })

  test('the timer of a grace that has ended fires nothing', () => {
    given(...breached, low(2, 40))
      .when(grace({ meta: { occurredAt: at(6) } }))
      .then({ [ACTIVE]: null })
    given(...breached, low(2, 40), low(3))
      .when(grace({ meta: { occurredAt: at(6) } }))
      .then({ [ACTIVE]: { state: 'pending', started_at: '2026-11-16T12:03:00.000Z' } })
    given(...fired)
      .when(grace({ meta: { occurredAt: at(6) } }))
      .thenUnchanged()
  })

  test('S-c: a recovery within the grace leaves nothing', () => {
    const { items } = given(...breached).when(low(3, 40))
    expect(Object.keys(items).filter((name) => /ALERT|FIRING/.test(name))).toEqual([])
    expect(items[STATE]).not.toHaveProperty('_low')
  })

  test('S-n: a pending alert ends at the threshold, because an alert must be in breach when it fires', () => {
    given(...breached)
      .when(low(3, 15))
      .then({ [ACTIVE]: null, [FIRING]: null })
    given(...breached, low(3, 15))
      .when(grace({ meta: { occurredAt: at(6) } }))
      .then({ [ACTIVE]: null })
    given(...breached, low(3, 15))
      .when(low(6))
      .then({ [ACTIVE]: { state: 'pending', started_at: '2026-11-16T12:06:00.000Z' } })
  })

  test('a timer ends an alert if the location lowered the threshold below the value meanwhile; the next breach has a grace of its own', () => {
    const lowered = [...breached, settings({ low_keg_pct: 5 }), grace({ meta: { occurredAt: at(6) } })]
    const { items, timers } = given(...breached, settings({ low_keg_pct: 5 })).when(
      grace({ meta: { occurredAt: at(6) } }),
    )
    expect(Object.keys(items).filter((name) => /ALERT|FIRING/.test(name))).toEqual([])
    expect(items[STATE]).not.toHaveProperty('_low')
    expect(timers).toEqual([{ name: 'grace:low_keg:TAP#07', at: null }])
    given(...lowered)
      .when(low(7))
      .then({ [ACTIVE]: null, [FIRING]: null })
    given(...lowered)
      .when(low(7, 4))
      .then({ [ACTIVE]: { state: 'pending', started_at: '2026-11-16T12:07:00.000Z' } })
  })

  test('a timer decides by the newest value', () => {
    given(...breached)
      .when(low(2, 13))
      .then({ [ACTIVE]: { state: 'pending', value: 13, started_at: '2026-11-16T12:01:00.000Z' } })
    given(...breached, low(2, 13))
      .when(grace({ meta: { occurredAt: at(6) } }))
      .then({ [ACTIVE]: { state: 'active', value: 13 } })
    given(...breached, low(2, 13), settings({ low_keg_pct: 12 }))
      .when(grace({ meta: { occurredAt: at(6) } }))
      .then({ [ACTIVE]: null, [FIRING]: null })
  })

  test('S-c: a timer event from before a late reading armed the timer again fires nothing and leaves the timer armed', () => {
    const late = (minutes: number, receivedAt: number) =>
      reading({
        at: at(minutes),
        level_pct: 10,
        weight_lbs: null,
        meta: { occurredAt: at(minutes), recordedAt: at(receivedAt) },
      })
    const buffer = [...bar, late(1, 61), late(2, 65)]
    const when = given(...buffer).when(grace({ meta: { occurredAt: at(66) } }))
    when.then({ [ACTIVE]: { state: 'pending' }, [FIRING]: {} })
    expect(when.timers).toEqual([])
    given(...buffer)
      .when(grace({ meta: { occurredAt: at(70) } }))
      .then({ [ACTIVE]: { state: 'active' } })
  })

  test('S-n: the alert resolves five points above the threshold, not before', () => {
    given(...fired)
      .when(low(7, 19.9))
      .then({ [ACTIVE]: { state: 'active' } })
    given(...fired)
      .when(low(7, 20))
      .then({
        [ACTIVE]: null,
        [hist(7, 'low_keg', 'TAP#07', 'resolved')]: { state: 'resolved', resolved_at: '2026-11-16T12:07:00.000Z' },
      })
  })

  test('S49: while the alert is open, readings write only the state', () =>
    given(...fired)
      .when(low(7))
      .thenWrites(STATE))

  test('S12: a swap resolves the alert', () =>
    given(...fired)
      .when(tapped({ keg_id: 'keg-2', tapped_at: at(8) }))
      .then({ [ACTIVE]: null, [hist(8, 'low_keg', 'TAP#07', 'resolved')]: {} }))

  test('a keg that left the tap is not low', () =>
    given(...bar, finished({ at: at(1) }))
      .when(low(2))
      .then({ [ACTIVE]: null }))

  test('a late reading of the keg before does not make the new one low', () =>
    given(...bar, tapped({ keg_id: 'keg-2', tapped_at: at(9) }))
      .when(low(8))
      .then({ [ACTIVE]: null, [STATE]: { keg_id: 'keg-1' } }))

  test('S19: the threshold and the grace are the location’s', () => {
    given(...bar, settings({ low_keg_pct: 30, grace_period_secs: 60 }))
      .when(low(1, 25))
      .then({ [ACTIVE]: { threshold: 30 }, [FIRING]: { fire_at: '2026-11-16T12:02:00.000Z' } })
    given(...bar, settings({ grace_period_secs: 0 }))
      .when(low(1))
      .then({ [ACTIVE]: { state: 'active' }, [FIRING]: null })
  })

  test('without a level, the weight decides', () =>
    given(...bar)
      .when(reading({ level_pct: null, weight_lbs: 35 }))
      .then({ [ACTIVE]: { state: 'pending' } }))
})

describe('a correction of the keg', () => {
  // A sixth barrel weighs 16.5 lbs empty and 61 lbs full, so 40 lbs are 52.8 %. In a half barrel, 40 lbs are 8.3 %.
  const SIXTH = { keg_type: 'sixth', full_lbs: 61, empty_lbs: 16.5 }
  const weighed = (minutes: number, weight_lbs: number) => reading({ at: at(minutes), level_pct: null, weight_lbs })
  const correction = (more = {}) => corrected({ ...SIXTH, meta: { occurredAt: at(20) }, ...more })
  const light = [...bar, ...[1, 3, 5, 7, 9].map((minutes) => weighed(minutes, 40))]
  const active = (events: readonly Event[]) => contents(tableOf(events))[ACTIVE]

  test('ends the low-keg alert if the corrected level is not in breach, at the time of the correction', () => {
    expect(active(light)).toMatchObject({ state: 'active' })
    given(...light)
      .when(correction())
      .then({
        [ACTIVE]: null,
        [hist(20, 'low_keg', 'TAP#07', 'resolved')]: { resolved_at: '2026-11-16T12:20:00.000Z' },
      })
    expect(active([...light, correction(), weighed(21, 40)])).toBeUndefined()
  })

  test('ends the alert if the reading was of another keg than the one that is on the tap now', () =>
    expect(active([...light, correction({ from: at(15) })])).toBeUndefined())

  test('leaves the alert open if the corrected level is in breach, too', () =>
    expect(active([...light, correction({ full_lbs: 400 })])).toMatchObject({ state: 'active' }))

  test('begins an alert if only the corrected level is in breach, with the whole grace', () => {
    const heavier = corrected({ from: at(0), keg_id: 'keg-2', meta: { occurredAt: at(20) } })
    expect(
      active([...bar, tapped({ keg_id: 'keg-2', ...SIXTH, tapped_at: NOW }), weighed(1, 40), heavier]),
    ).toMatchObject({ state: 'pending', started_at: '2026-11-16T12:20:00.000Z' })
  })
})

describe('AlertAcknowledged', () => {
  const ack = acknowledged({ meta: { occurredAt: at(7) } })

  test('S-n: a member acknowledges it', () =>
    given(...fired)
      .when(ack)
      .then({
        [ACTIVE]: { state: 'acknowledged', acknowledged_by: 'ada', acknowledged_at: '2026-11-16T12:07:00.000Z' },
        [hist(7, 'low_keg', 'TAP#07', 'acknowledged')]: {},
      }))

  test('a repeated event changes nothing', () =>
    given(...fired, ack)
      .when(ack)
      .thenDuplicate())

  test('an acknowledged alert resolves, too', () =>
    given(...fired, ack)
      .when(low(8, 50))
      .then({ [ACTIVE]: null, [hist(8, 'low_keg', 'TAP#07', 'resolved')]: { acknowledged_by: 'ada' } }))

  test('refused if no alert is active', () => {
    given(...bar)
      .when(ack)
      .thenRefused('alert-not-found')
    given(...breached)
      .when(ack)
      .thenRefused('alert-not-found')
    given(...bar)
      .when(acknowledged({ type: 'nonsense', entity: '' }))
      .thenRefused('alert-not-found')
  })

  test('refused if it refers to the previous alert', () =>
    given(...fired, ack, low(8, 50), low(9), low(14))
      .when(ack)
      .thenRefused('alert-not-found'))
})

describe('low battery', () => {
  const BATTERY = `ALERT#${LOC} / ACTIVE#low_battery#DEVICE#${SCALE}`
  const battery = (minutes: number, battery_pct: number) => reading({ at: at(minutes), battery_pct })

  test('S12 S37: a device has alerts like a keg', () => {
    given(...bar)
      .when(battery(1, 12))
      .then({
        [BATTERY]: { state: 'pending', threshold: 20, value: 12 },
        [`FIRING#${LOC}#DEVICE#${SCALE} / low_battery`]: {},
        [DEVICE]: { _low_battery: true },
      })
    given(...bar, battery(1, 12))
      .when(battery(6, 12))
      .then({ [BATTERY]: { state: 'active' } })
    given(...bar, battery(1, 12), battery(6, 12))
      .when(battery(7, 25))
      .then({ [BATTERY]: null, [hist(7, 'low_battery', `DEVICE#${SCALE}`, 'resolved')]: {} })
  })

  test('a timer ends the alert if the location lowered the threshold below the charge meanwhile', () => {
    const timer = grace({ type: 'low_battery', entity: `DEVICE#${SCALE}`, meta: { occurredAt: at(6) } })
    const { items } = given(...bar, battery(1, 12), settings({ low_battery_pct: 10 })).when(timer)
    expect(items[BATTERY]).toBeUndefined()
    expect(items[DEVICE]).not.toHaveProperty('_low_battery')
    given(...bar, battery(1, 12), settings({ low_battery_pct: 10 }), timer)
      .when(battery(7, 9))
      .then({ [BATTERY]: { state: 'pending' }, [DEVICE]: { _low_battery: true } })
  })

  test('telemetry messages count, in the order of time', () => {
    const message = telemetry({ at: at(2), battery_pct: 12 })
    given(...bar)
      .when(message)
      .then({ [BATTERY]: { state: 'pending' } })
    given(...bar, message, battery(3, 90))
      .when(message)
      .thenUnchanged()
    given(...bar, battery(3, 90))
      .when(message)
      .then({ [BATTERY]: null })
  })

  test('if two telemetry messages have the same time, the later one in the log counts, and a repeated one does not', () => {
    const [charged, empty] = [
      telemetry({ at: at(2), seq: 1, battery_pct: 90 }),
      telemetry({ at: at(2), seq: 2, battery_pct: 12 }),
    ]
    given(...bar, charged)
      .when(empty)
      .then({ [BATTERY]: { state: 'pending', value: 12 } })
    given(...bar, empty)
      .when(charged)
      .then({ [BATTERY]: null })
    given(...bar, charged, empty)
      .when(charged)
      .thenUnchanged()
    given(...bar, charged, empty, battery(1, 90))
      .when(charged)
      .thenUnchanged()
  })

  test('the alert ends when the device is released', () =>
    given(...bar, battery(1, 12), battery(6, 12))
      .when(released({ meta: { occurredAt: at(7) } }))
      .then({ [BATTERY]: null }))
})

describe('silent device', () => {
  const SILENT = `ALERT#${LOC} / ACTIVE#silent_device#DEVICE#${SCALE}`
  const due = (minutes: number) => silence({ meta: { occurredAt: at(minutes) } })
  const timer = (minutes: number | null) =>
    expect.objectContaining({ name: `silence:${SCALE}`, at: minutes === null ? null : at(minutes) })

  test('silence is counted from the assignment to a tap', () =>
    expect(given(registered()).when(assigned()).timers).toEqual([timer(10)]))

  test('a reading sets no timer', () => expect(given(...bar).when(reading()).timers).toEqual([]))

  test('when its timer fires, it is armed again by the newest reading', () => {
    const when = given(...bar, reading({ at: at(7) })).when(due(10))
    when.then({ [SILENT]: null })
    expect(when.timers).toEqual([timer(17)])
  })

  test('S-c: no reading for long enough fires the alert at once, and once', () => {
    const when = given(...bar, reading({ at: at(1) })).when(due(11))
    when.then({
      [SILENT]: { state: 'active', started_at: '2026-11-16T12:01:00.000Z', threshold: 600, value: 600 },
      [hist(11, 'silent_device', `DEVICE#${SCALE}`, 'active')]: {},
    })
    expect(when.timers).toContainEqual(timer(null))
    given(...bar, reading({ at: at(1) }), due(11))
      .when(due(11))
      .thenUnchanged()
  })

  test('any reading resolves the alert, and the timer is armed again from the receipt', () => {
    const when = given(...bar, due(11)).when(reading({ at: at(12), meta: { occurredAt: at(12), recordedAt: at(15) } }))
    when.then({ [SILENT]: null, [hist(15, 'silent_device', `DEVICE#${SCALE}`, 'resolved')]: {} })
    expect(when.timers).toContainEqual(timer(25))
    expect(when.items[DEVICE]).not.toHaveProperty('_silent')
  })

  test('S51: a device that sends its stored readings after a silence ends its alert when the server receives them, and never in the instant it fired', () => {
    given(...bar, due(11))
      .when(reading({ at: at(3), meta: { occurredAt: at(3), recordedAt: at(12) } }))
      .then({
        [SILENT]: null,
        [hist(12, 'silent_device', `DEVICE#${SCALE}`, 'resolved')]: {
          fired_at: '2026-11-16T12:11:00.000Z',
          resolved_at: '2026-11-16T12:12:00.000Z',
        },
      })
    given(...bar, due(11))
      .when(reading({ at: at(3), meta: { occurredAt: at(3), recordedAt: at(11) } }))
      .then({
        [SILENT]: null,
        [`ALERT#${LOC} / HIST#2026-11-16T12:11:00.001Z#silent_device#DEVICE#${SCALE}#resolved`]: {
          resolved_at: '2026-11-16T12:11:00.001Z',
        },
      })
  })

  test('a move that is recorded late begins no silence that has ended already', () => {
    const moved = [...bar, due(11), assigned({ tap: '08', meta: { occurredAt: at(-1) } })]
    const when = given(...moved).when(due(11))
    when.then({ [SILENT]: null })
    // The alert ended one millisecond after it fired. The time without readings is counted from this end on.
    expect(when.timers).toContainEqual(expect.objectContaining({ name: `silence:${SCALE}`, at: at(21) + 1 }))
    given(...moved)
      .when(due(22))
      .then({ [SILENT]: { state: 'active' }, [hist(22, 'silent_device', `DEVICE#${SCALE}`, 'active')]: {} })
  })

  test('silence of a device that was assigned before its registration is counted from the registration', () => {
    const late = [registered({ meta: { occurredAt: at(30) } }), assigned()]
    const when = given(...late).when(due(30))
    when.then({ [SILENT]: null })
    expect(when.timers).toContainEqual(timer(40))
    given(...late)
      .when(due(40))
      .then({ [SILENT]: { state: 'active', started_at: '2026-11-16T12:30:00.000Z' } })
  })

  test('a device without a tap has no silence timer', () => {
    expect(given(...bar).when(unassigned({ meta: { occurredAt: at(2) } })).timers).toContainEqual(timer(null))
    given(...bar, unassigned({ meta: { occurredAt: at(2) } }))
      .when(due(11))
      .then({ [SILENT]: null })
    given(...bar, due(11))
      .when(unassigned({ meta: { occurredAt: at(12) } }))
      .then({ [SILENT]: null, [hist(12, 'silent_device', `DEVICE#${SCALE}`, 'resolved')]: {} })
  })

  test('S19: the location sets the time', () =>
    given(...bar, settings({ silent_after_secs: 3600 }))
      .when(due(11))
      .then({ [SILENT]: null }))
})
