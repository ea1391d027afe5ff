import { describe, expect, test } from 'vitest'
import { given } from './given.ts'
import {
  assigned,
  bar,
  corrected,
  DEVICE,
  finished,
  HALF_BARREL,
  KEG,
  LOC,
  MINUTE,
  NOW,
  reading,
  registered,
  SCALE,
  STATE,
  TAP,
  tapped,
  tapRemoved,
  TIMELINE,
  unassigned,
  voided,
} from './events.ts'

const at = (minutes: number) => NOW + minutes * MINUTE
const said = (minutes: number) => ({ meta: { occurredAt: at(minutes) } })

describe('DeviceAssigned', () => {
  test('S2 S36 S44: the tap exists, with its device in the index and its id with its location', () =>
    given(registered())
      .when(assigned())
      .then({
        [TAP]: { loc_id: LOC, tap_id: 'loc-001#TAP#07', device_id: SCALE, keg_id: null, beer_id: null },
        [DEVICE]: { tap: '07' },
      }))

  test('S-d: of a location’s items only the tap has the device’s id as attribute', () => {
    const { items } = given(...bar).when(reading())
    expect(
      Object.entries(items)
        .filter(([name, item]) => name.startsWith('LOCATION#') && 'device_id' in item)
        .map(([name]) => name),
    ).toEqual([TAP])
  })

  test('a device has one tap: it leaves the previous tap', () => {
    const when = given(...bar).when(assigned({ tap: '08', ...said(1) }))
    when.then({ 'LOCATION#loc-001 / TAP#08': { device_id: SCALE }, [DEVICE]: { tap: '08' } })
    expect(when.items[TAP]).not.toHaveProperty('device_id')
  })

  test('a tap has one device: the previous device leaves', () =>
    given(...bar, registered({ device_id: 'B' }))
      .when(assigned({ device_id: 'B', ...said(1) }))
      .then({ [TAP]: { device_id: 'B' }, [DEVICE]: { tap: null }, 'DEVICE#B / META': { tap: '07' } }))

  test('if clocks differ, the last event applies: a tap has one device', () =>
    given(...bar, registered({ device_id: 'B' }))
      .when(assigned({ device_id: 'B', ...said(-9) }))
      .then({ [TAP]: { device_id: 'B' }, [DEVICE]: { tap: null }, 'DEVICE#B / META': { tap: '07' } }))

  test('a repeated event changes nothing, also after a move', () => {
    const first = assigned(said(1))
    given(registered(), first, assigned({ tap: '08', ...said(2) }))
      .when(first)
      .thenUnchanged()
  })

  test('of a device that is not the location’s it changes nothing', () => {
    given().when(assigned()).thenUnchanged()
    given(registered())
      .when(assigned({ tap: '7' }))
      .thenUnchanged()
  })
})

describe('DeviceUnassigned', () => {
  test('the tap has no device', () => {
    const when = given(...bar).when(unassigned(said(1)))
    when.then({ [DEVICE]: { tap: null }, [TAP]: { keg_id: 'keg-1' } })
    expect(when.items[TAP]).not.toHaveProperty('device_id')
  })

  test('from another tap than its own, only the event’s name is stored', () =>
    given(...bar)
      .when(unassigned({ tap: '08', ...said(1) }))
      .then({ [DEVICE]: { tap: '07' } }))
})

describe('TapRemoved', () => {
  test('no device is assigned to it, also if a clock was ahead', () =>
    given(...bar)
      .when(tapRemoved(said(-9)))
      .then({ [DEVICE]: { tap: null } }))

  const removal = tapRemoved(said(5))

  test('its keg ends, its device is free, and its timeline stays', () =>
    given(...bar, reading())
      .when(removal)
      .then({
        [TAP]: null,
        [STATE]: null,
        [KEG]: { finished_at: '2026-11-16T12:05:00.000Z' },
        [DEVICE]: { tap: null },
        [TIMELINE]: { since: null },
      }))

  test('a repeated event changes nothing, also after the tap was created again', () => {
    given(...bar, removal)
      .when(removal)
      .thenUnchanged()
    given(...bar, removal, assigned(said(6)))
      .when(removal)
      .thenUnchanged()
  })

  test('a tap that is created again has no history', () => {
    const when = given(...bar, reading(), removal, assigned(said(6))).when(
      reading({ at: at(4) }),
      reading({ at: at(7) }),
    )
    when.then({ [STATE]: { updated_at: '2026-11-16T12:07:00.000Z', keg_id: null } })
  })
})

describe('KegTapped', () => {
  test('S6 S25 S56: the keg is stored, the tap shows it, and its tare is pending', () =>
    given(registered(), assigned())
      .when(tapped())
      .then({
        [KEG]: {
          beer_id: 'guinness',
          keg_type: 'half_barrel',
          tapped_at: '2026-11-16T12:00:00.000Z',
          loc_id: LOC,
          full_lbs: 161.5,
          empty_lbs: 29,
          sg: 1.014,
          tap: '07',
        },
        [TAP]: {
          beer_id: 'guinness',
          keg_id: 'keg-1',
          keg_type: 'half_barrel',
          full_lbs: 161.5,
          empty_lbs: 29,
          device_id: SCALE,
        },
        [STATE]: { tare_status: 'pending', updated_at: null },
      }))

  test('the previous keg ends', () =>
    given(...bar)
      .when(tapped({ keg_id: 'keg-2', tapped_at: at(9) }))
      .then({ [KEG]: { finished_at: '2026-11-16T12:09:00.000Z' }, [TAP]: { keg_id: 'keg-2' } }))

  test('a repeated event changes nothing, also after a swap', () => {
    const first = tapped()
    given(registered(), assigned(), first).when(first).thenUnchanged()
    given(registered(), assigned(), first, tapped({ keg_id: 'keg-2', tapped_at: at(9) }))
      .when(first)
      .thenUnchanged()
  })

  test('recorded late, it ends the previous keg and does not replace the next one', () =>
    given(...bar, tapped({ keg_id: 'keg-3', tapped_at: at(9) }))
      .when(tapped({ keg_id: 'keg-2', tapped_at: at(5) }))
      .then({
        [KEG]: { finished_at: '2026-11-16T12:05:00.000Z' },
        'KEG#keg-2 / META': { finished_at: '2026-11-16T12:09:00.000Z' },
        [TAP]: { keg_id: 'keg-3' },
      }))

  test('a keg has one tap: it leaves the other tap', () => {
    const when = given(...bar).when(tapped({ tap: '08', tapped_at: at(9) }))
    when.then({
      [TAP]: { keg_id: null, beer_id: null },
      'LOCATION#loc-001 / TAP#08': { keg_id: 'keg-1' },
      [KEG]: { tap: '08', tapped_at: '2026-11-16T12:00:00.000Z' },
    })
    expect(when.items[KEG]).not.toHaveProperty('finished_at')
  })

  test('impossible weights and gravities change nothing', () => {
    given(registered())
      .when(tapped({ full_lbs: 20 }))
      .thenUnchanged()
    given(registered())
      .when(tapped({ sg: 0 }))
      .thenUnchanged()
    given(registered())
      .when(tapped({ keg_id: 'a#b' }))
      .thenUnchanged()
  })
})

describe('KegFinished', () => {
  test('the tap is without a keg', () =>
    given(...bar)
      .when(finished({ at: at(5) }))
      .then({
        [KEG]: { finished_at: '2026-11-16T12:05:00.000Z' },
        [TAP]: { keg_id: null, sg: null },
        [STATE]: { tare_status: null },
      }))
  test('a repeated event changes nothing', () =>
    given(...bar, finished())
      .when(finished())
      .thenUnchanged())
  test('for an unknown keg it changes nothing', () =>
    given(...bar)
      .when(finished({ keg_id: 'keg-2' }))
      .thenUnchanged())
})

describe('KegAssignmentCorrected', () => {
  const correction = corrected({ from: at(5) })

  test('S-m: from that instant on the other keg is on the tap, and the newest reading belongs to it', () => {
    const when = given(...bar, reading({ at: at(6) })).when(correction)
    when.then({
      [TAP]: { keg_id: 'keg-9', beer_id: 'modelo', sg: 1.01 },
      [KEG]: { finished_at: '2026-11-16T12:05:00.000Z' },
      [STATE]: { keg_id: 'keg-9', tare_status: 'pending' },
      'KEG#keg-9 / META': { beer_id: 'modelo', tapped_at: '2026-11-16T12:05:00.000Z', tap: '07' },
    })
    expect(when.items[STATE]?.['gallons']).toBeCloseTo(((66.25 * 0.45359237) / 1.01) * 0.264172, 12)
    expect(when.items[KEG]).not.toHaveProperty('corrected_to')
  })

  test('S-m: a keg that was never on the tap points to the right keg', () =>
    given(...bar)
      .when(corrected())
      .then({ [KEG]: { corrected_to: 'keg-9' }, [TAP]: { keg_id: 'keg-9' } }))

  test('S-m: a keg that was on the tap earlier than recorded was tapped then', () => {
    const second = tapped({ keg_id: 'keg-9', tapped_at: at(10) })
    given(...bar, second)
      .when(correction)
      .then({ 'KEG#keg-9 / META': { tapped_at: '2026-11-16T12:05:00.000Z' }, [TAP]: { keg_id: 'keg-9' } })
    given(...bar, second, finished({ keg_id: 'keg-9', at: at(20) }))
      .when(correction)
      .then({ 'KEG#keg-9 / META': { tapped_at: '2026-11-16T12:05:00.000Z', finished_at: '2026-11-16T12:20:00.000Z' } })
    given(...bar, second)
      .when(corrected({ keg_id: 'keg-9', new_keg_id: 'keg-1', from: at(10) }))
      .then({ [KEG]: { tapped_at: '2026-11-16T12:00:00.000Z' } })
  })

  test('a repeated event changes nothing, also after the wrong keg was tapped later', () => {
    given(...bar, correction)
      .when(correction)
      .thenUnchanged()
    given(...bar, correction, tapped({ tapped_at: at(9) }))
      .when(correction)
      .thenUnchanged()
    given(...bar, correction)
      .when(bar[2] ?? correction)
      .thenUnchanged()
  })

  test('the pours that were voided stay voided: the other keg has the voids of the corrected time, once', () => {
    const right = 'KEG#keg-9 / META'
    const voids = [{ from: at(5), to: at(60), reason: 'line cleaning' }]
    given(...bar, voided(), finished({ at: at(90) }))
      .when(correction)
      .then({ [right]: { voids } })
    given(...bar, voided(), correction, corrected({ keg_id: 'keg-9', new_keg_id: 'keg-1', from: at(5) }))
      .when(corrected({ from: at(5), ...said(1) }))
      .then({ [right]: { voids } })
    expect(given(...bar, voided({ to: at(4) })).when(correction).items[right]).not.toHaveProperty('voids')
    given(...bar, voided({ to: at(60) }), finished({ at: at(30) }))
      .when(correction)
      .then({ [right]: { voids: [{ from: at(5), to: at(30), reason: 'line cleaning' }] } })
  })

  test('a keg that was on another tap leaves it', () =>
    given(...bar, tapped({ tap: '08', keg_id: 'keg-9', ...HALF_BARREL }))
      .when(correction)
      .then({ 'LOCATION#loc-001 / TAP#08': { keg_id: null }, [TAP]: { keg_id: 'keg-9' } }))
})

describe('PourVoided', () => {
  test('a keg stores the times in which nothing was poured', () =>
    given(...bar)
      .when(voided())
      .then({ [KEG]: { voids: [{ from: NOW, to: at(60), reason: 'line cleaning' }] } }))
  test('a repeated event changes nothing', () =>
    given(...bar, voided())
      .when(voided())
      .thenUnchanged())
  test('for an unknown keg, or a time that ends before it begins, it changes nothing', () => {
    given(...bar)
      .when(voided({ keg_id: 'keg-7' }))
      .thenUnchanged()
    given(...bar)
      .when(voided({ from: at(9), to: at(8) }))
      .thenUnchanged()
  })
})
