import { describe, expect, test } from 'vitest'
import { FORGOTTEN, type Event } from '../../../schemas/event.ts'
import { given } from './given.ts'
import {
  assigned,
  bar,
  calibrated,
  claimed,
  claimReleased,
  DEVICE,
  LOC,
  metaOf,
  MINUTE,
  NOW,
  quarantined,
  reading,
  registered,
  released,
  SCALE,
  status,
  TAP,
  tapRemoved,
  tared,
  TELEMETRY,
  telemetry,
} from './events.ts'

const at = (minutes: number) => NOW + minutes * MINUTE
const occurredAt = (minutes: number) => ({ meta: { occurredAt: at(minutes) } })
const CLAIM = `CLAIM#${SCALE} / DEVICE`
const POINTER = `LOCATION#${LOC} / DEVICE#${SCALE}`

describe('DeviceClaimed', () => {
  const elsewhere = claimed({ loc_id: 'loc-002' })

  test('the first location gets the device, and an event registers it there', () => {
    const when = given().when(claimed())
    when.then({ [CLAIM]: { loc_id: LOC, epoch: 1 } })
    expect(when.result.derived).toEqual([
      { purpose: 'registered:1', event: { type: 'DeviceRegistered', key: LOC, data: { device_id: SCALE, epoch: 1 } } },
    ])
  })

  test('refused while another location owns it', () => given(claimed()).when(elsewhere).thenRefused('device-taken'))
  test('a repeated event changes nothing, also after the release', () => {
    const first = claimed()
    given(first).when(first).thenDuplicate()
    given(first, claimReleased()).when(first).thenDuplicate()
    given(first).when(claimed()).thenDuplicate()
  })
  test('a released device can be claimed again, in a new epoch', () =>
    given(claimed(), claimReleased())
      .when(elsewhere)
      .then({ [CLAIM]: { loc_id: 'loc-002', epoch: 2 } }))
  test('a repeated release does not end the next claim', () =>
    given(claimed(), claimReleased(), elsewhere).when(claimReleased()).thenUnchanged())
  test('refused for an invalid device', () =>
    given()
      .when(claimed({ device_id: 'a/b', meta: { key: 'a/b' } }))
      .thenRefused('device-not-found'))
})

describe('DeviceRegistered', () => {
  test('S8 S27: the device is the location’s', () =>
    given()
      .when(registered())
      .then({
        [DEVICE]: { status: 'registered', loc_id: LOC, device_id: SCALE, epoch: 1, tap: null },
        [POINTER]: { epoch: 1 },
      }))
  test('a repeated event changes nothing', () => given(registered(), status()).when(registered()).thenUnchanged())
  test('a new epoch has new items', () =>
    given(...bar, released(occurredAt(1)))
      .when(registered({ epoch: 2 }))
      .then({
        [`DEVICE#${SCALE}@2 / META`]: { status: 'registered', tap: null },
        [DEVICE]: { status: 'released' },
        [POINTER]: { epoch: 2 },
      }))
})

describe('DeviceReleased', () => {
  test('the device leaves its tap, and its claim ends', () => {
    const when = given(...bar).when(released(occurredAt(1)))
    when.then({ [DEVICE]: { status: 'released', tap: null }, [POINTER]: { released_at: '2026-11-16T12:01:00.000Z' } })
    expect(when.items[TAP]).not.toHaveProperty('device_id')
    expect(when.result.derived).toEqual([
      {
        purpose: 'claim-released:1',
        event: { type: 'DeviceClaimReleased', key: SCALE, data: { device_id: SCALE, loc_id: LOC, epoch: 1 } },
      },
    ])
  })
  test('a repeated event changes nothing, also after another claim', () => {
    const once = released(occurredAt(1))
    given(...bar, once)
      .when(once)
      .thenUnchanged()
    given(...bar, once, registered({ epoch: 2 }))
      .when(once)
      .thenUnchanged()
  })
  test('a repeated assignment does not assign it again', () =>
    given(...bar, released(occurredAt(1)), registered({ epoch: 2 }))
      .when(bar[1] ?? assigned())
      .thenUnchanged())
})

describe('DeviceStatusReported', () => {
  test('S8: birth and last will', () => {
    given(registered())
      .when(status(occurredAt(1)))
      .then({ [DEVICE]: { status: 'online', boot: 'b1', fw: '1.2.0', dropped: 0 } })
    given(registered(), status(occurredAt(1)))
      .when(status({ online: false, boot: null, fw: null, ...occurredAt(2) }))
      .then({ [DEVICE]: { status: 'offline', boot: 'b1', status_at: '2026-11-16T12:02:00.000Z' } })
  })
  test('ignored when late', () =>
    given(registered(), status(occurredAt(2)))
      .when(status({ online: false, ...occurredAt(1) }))
      .then({ [DEVICE]: { status: 'online' } }))
  test('the number of events that a device lost is stored', () =>
    given(registered())
      .when(status({ dropped: 12, ...occurredAt(1) }))
      .then({ [DEVICE]: { dropped: 12 }, [TELEMETRY]: { dropped: 12 } }))
  test('a device that sends a reading is online again', () =>
    given(...bar, status({ online: false, ...occurredAt(1) }))
      .when(reading({ at: at(2) }))
      .then({ [DEVICE]: { status: 'online' } }))
})

describe('telemetry', () => {
  test('S9 S28 S38: a reading updates the battery at most every five minutes', () => {
    given(...bar)
      .when(reading({ at: at(1) }))
      .then({ [TELEMETRY]: { battery_v: 3.9, battery_pct: 80, updated_at: '2026-11-16T12:01:00.000Z', loc_id: LOC } })
    given(...bar, reading({ at: at(1) }))
      .when(reading({ at: at(5), battery_pct: 70 }))
      .then({ [TELEMETRY]: { battery_pct: 80 } })
    given(...bar, reading({ at: at(1) }))
      .when(reading({ at: at(6), battery_pct: 70 }))
      .then({ [TELEMETRY]: { battery_pct: 70 } })
  })
  test('S38: a reading without device data does not delay the next one with it', () => {
    const silent = (minute: number) =>
      reading({ at: at(minute), seq: minute, battery_pct: null, battery_v: null, fw: null, dropped: null })
    given(...bar, silent(1), silent(6), silent(11))
      .when(telemetry({ at: at(12), battery_pct: 7 }))
      .then({ [TELEMETRY]: { battery_pct: 7 } })
  })
  test('ignored when late', () =>
    given(...bar, reading({ at: at(30) }))
      .when(telemetry({ at: at(20), battery_pct: 1 }))
      .then({ [TELEMETRY]: { battery_pct: 80 } }))
  test('S37: a scale that never sent a battery has no attribute for it: DynamoDB refuses null as the key of an index', () =>
    expect(given(...bar).when(reading({ battery_pct: null })).items[TELEMETRY]).not.toHaveProperty('battery_pct'))

  test('S37 S-d: with a battery it is in the index of its location, until it is released', () => {
    given(...bar)
      .when(telemetry())
      .then({ [TELEMETRY]: { battery_loc_id: LOC } })
    expect(given(...bar, telemetry()).when(released(occurredAt(1))).items[TELEMETRY]).not.toHaveProperty(
      'battery_loc_id',
    )
    expect(
      given(...bar, telemetry(), released(occurredAt(1))).when(telemetry({ at: at(60), seq: 2 })).items[TELEMETRY],
    ).not.toHaveProperty('battery_loc_id')
  })
  test('the tare that a scale sends is stored at once', () =>
    given(...bar, telemetry())
      .when(telemetry({ at: at(1), seq: 2, tare_empty_offset: 28.8, tare_full_lbs: 160 }))
      .then({ [TELEMETRY]: { tare_empty_offset: 28.8, tare_full_lbs: 160 } }))

  describe('the last of several telemetry messages within five minutes counts', () => {
    const message = (minute: number, seq: number, battery_pct: number) =>
      telemetry({ at: at(minute), seq, battery_pct, battery_v: battery_pct / 20, fw: `1.${seq}` })

    test('a later one replaces an earlier one at once, with its time', () =>
      given(...bar, message(1, 1, 80), message(2, 2, 70))
        .when(message(3, 3, 60))
        .then({ [TELEMETRY]: { battery_pct: 60, battery_v: 3, fw: '1.3', updated_at: '2026-11-16T12:03:00.000Z' } }))

    test('a message that was measured earlier and arrives late replaces nothing', () =>
      given(...bar, message(3, 3, 60))
        .when(message(2, 2, 70))
        .then({ [TELEMETRY]: { battery_pct: 60, battery_v: 3, fw: '1.3', updated_at: '2026-11-16T12:03:00.000Z' } }))

    test('if two have the same time, the later one in the log counts', () => {
      const tare = (seq: number, tare_full_lbs: number) =>
        telemetry({ at: at(1), seq, battery_pct: seq, tare_full_lbs, dropped: seq })
      given(...bar, tare(1, 160))
        .when(tare(2, 161))
        .then({ [TELEMETRY]: { battery_pct: 2, tare_full_lbs: 161, dropped: 2 } })
    })

    test('a repeated message with another age changes nothing', () => {
      const { before, items } = given(...bar, message(1, 1, 80), message(2, 2, 70)).when(message(3, 1, 80))
      expect(items[TELEMETRY]).toEqual(before[TELEMETRY])
      given(...bar, message(2, 1, 80), message(2, 2, 70))
        .when(message(2, 1, 80))
        .then({ [TELEMETRY]: { battery_pct: 70 } })
    })

    test('a message replaces the battery of a reading too, and a later reading counts only after five minutes', () => {
      given(...bar, reading({ at: at(1) }))
        .when(message(2, 1, 70))
        .then({ [TELEMETRY]: { battery_pct: 70 } })
      given(...bar, message(2, 1, 70))
        .when(reading({ at: at(6), battery_pct: 90 }))
        .then({ [TELEMETRY]: { battery_pct: 70 } })
      given(...bar, message(2, 1, 70))
        .when(reading({ at: at(7), battery_pct: 60 }))
        .then({ [TELEMETRY]: { battery_pct: 60 } })
    })

    test('a status that arrives before a buffered message does not hide its battery', () =>
      given(...bar, message(1, 1, 80), status({ fw: '2.0', ...occurredAt(9) }))
        .when(message(8, 2, 70))
        .then({ [TELEMETRY]: { battery_pct: 70, fw: '2.0', updated_at: '2026-11-16T12:09:00.000Z' } }))
  })

  test('the number of lost events is stored at once, by its time, and delays no later update', () => {
    const lost = (minute: number, dropped: number) =>
      reading({ at: at(minute), battery_pct: null, battery_v: null, dropped })
    given(...bar, telemetry())
      .when(lost(1, 12))
      .then({ [TELEMETRY]: { dropped: 12, updated_at: '2026-11-16T12:00:00.000Z' } })
    given(...bar, telemetry(), lost(3, 12))
      .when(lost(2, 3))
      .then({ [TELEMETRY]: { dropped: 12 } })
    const { before, items } = given(...bar, status(occurredAt(1))).when(lost(3, 0))
    expect(items[TELEMETRY]).toEqual(before[TELEMETRY])
    given(...bar, telemetry(), lost(6, 12))
      .when(telemetry({ at: at(7), seq: 2, battery_pct: 7 }))
      .then({ [TELEMETRY]: { battery_pct: 7 } })
  })
  test('S40: a tare is copied', () => {
    given(...bar)
      .when(tared({ at: at(1) }))
      .then({ [TELEMETRY]: { tare_empty_offset: 29.3 } })
    given(...bar, tared({ at: at(2) }))
      .when(tared({ at: at(1), value_lbs: 5 }))
      .then({ [TELEMETRY]: { tare_empty_offset: 29.3 } })
  })
})

describe('DeviceCalibrated', () => {
  const CURRENT = `DEVICE#${SCALE} / CALIBRATION`
  const first = calibrated({ at: at(1) })

  test('S10 S11 S29 S30: the current calibration and every calibration are stored', () => {
    const { items } = given(...bar, first).when(calibrated({ factor: 1.05, at: at(2) }))
    expect(items[CURRENT]).toMatchObject({
      factor: 1.05,
      offset: -0.4,
      calibrated_at: '2026-11-16T12:02:00.000Z',
      calibrated_by: 'ada',
      loc_id: LOC,
    })
    expect(Object.keys(items).filter((name) => name.includes(' / CAL#'))).toHaveLength(2)
  })
  test('a late event does not replace the current calibration', () =>
    given(...bar, calibrated({ factor: 1.05, at: at(2) }))
      .when(first)
      .then({ [CURRENT]: { factor: 1.05 } }))
  test('a repeated event changes nothing', () =>
    given(...bar, first)
      .when(first)
      .thenDuplicate())
  test('refused for a device that is not the location’s', () => given().when(first).thenRefused('device-not-found'))
})

describe('ReadingQuarantined', () => {
  const COUNT = `QUARANTINE#${LOC} / COUNT#DEVICE#${SCALE}`

  test('it is stored with the reason for thirty days, and counted by device', () => {
    const { items } = given(quarantined()).when(quarantined({ seq: 2, reason: 'future' }))
    expect(items[COUNT]).toMatchObject({ total: 2, reasons: { range: 1, future: 1 } })
    const rows = Object.entries(items)
      .filter(([name]) => name.includes('#AT#'))
      .map(([, item]) => item)
    expect(rows).toHaveLength(2)
    expect(rows[0]).toMatchObject({ reason: 'range', reading: '{"weight_lbs":4000}', ttl: NOW / 1000 + 30 * 86_400 })
  })
  test('a repeated event is counted once', () => {
    const once = quarantined({ boot: null, seq: null, reason: 'malformed' })
    given(once).when(once).thenUnchanged()
  })
  test.each(['', '__proto__'])('the reason %j, which no attribute can have as name, is counted as other', (reason) =>
    given()
      .when(quarantined({ reason }))
      .then({ [COUNT]: { total: 1, reasons: { other: 1 } } }),
  )

  test('without an owning location it is stored with the device', () =>
    given()
      .when(quarantined({ meta: { key: SCALE } }))
      .then({ [`QUARANTINE#${SCALE} / COUNT#DEVICE#${SCALE}`]: { total: 1 } }))
  test('reasons with the names of inherited properties are counted, too', () =>
    given(quarantined())
      .when(quarantined({ reason: 'constructor', seq: 3 }))
      .then({ [COUNT]: { total: 2 } }))
})

describe('a device’s token', () => {
  const issued: Event = {
    type: 'PatIssued',
    meta: metaOf({ key: SCALE, subjectId: 'ada' }),
    data: { patId: 'p1', hash: 'ab'.repeat(32), scopes: ['device'] },
    personal: { name: 'tap 7' },
  }

  test('belongs to the device, and is removed with the person who created it', () => {
    given()
      .when(issued)
      .then({ [`USER#${SCALE} / PAT#p1`]: { name: 'tap 7', scopes: ['device'] } })
    const forgotten: Event = {
      type: 'PersonForgotten',
      meta: metaOf({ key: SCALE }),
      data: {
        items: [
          { pk: `USER#${SCALE}`, sk: 'PAT#p1' },
          { pk: `USER#${SCALE}`, sk: 'PAT#p2' },
        ],
      },
      personal: null,
    }
    given(issued)
      .when(forgotten)
      .then({ [`USER#${SCALE} / PAT#p1`]: null, [`USER#${SCALE} / GONE#PAT#p1`]: {} })
    expect(given({ ...issued, personal: FORGOTTEN }).when(forgotten).items).toEqual(given(issued).when(forgotten).items)
  })
})

test('a reading of a removed tap’s device has no silence timer any more', () =>
  expect(given(...bar).when(tapRemoved(occurredAt(1))).timers).toContainEqual(
    expect.objectContaining({ name: `silence:${SCALE}`, at: null }),
  ))
