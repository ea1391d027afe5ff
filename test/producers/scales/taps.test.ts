import { describe, expect, test } from 'vitest'
import { as } from '../person.ts'
import type { AnswerBody } from '../../../testing/edge/request.ts'
import { GUINNESS, LOC, openBar, openRunningBar, read } from './bar.ts'

describe('taps', () => {
  test('S2 S22 the answer for a tap contains its beer, keg, weights and device', async () => {
    const { getPath, keg } = await openRunningBar()
    expect(await getPath(`${LOC}/taps/07`)).toMatchObject({
      status: 200,
      body: {
        tap: '07',
        beer_id: 'guinness-draught',
        keg_id: keg,
        keg_type: 'half_barrel',
        full_lbs: 161.5,
        empty_lbs: 29,
        sg: 1.014,
        device_id: 'SCALE-0042',
        keg: { id: keg, tap: '07', tapped_at: '2026-11-16T12:00:00.000Z', tare: null },
      },
    })
  })

  test("S44 the tap's id contains its location", async () => {
    const { getPath } = await openRunningBar()
    expect((await getPath(`${LOC}/taps/07`)).body).toMatchObject({ tap_id: 'loc-001#TAP#07' })
  })

  test('S20 all taps of a location are listed with their state', async () => {
    const { edge, getPath, sendCommand } = await openRunningBar()
    await sendCommand('POST', `${LOC}/taps/08/keg`, { beer_id: 'guinness-draught', keg_type: 'sixth_barrel' })
    await read(edge, { weight_lbs: 95.25, level_pct: 50 })
    const { body } = await getPath(`${LOC}/taps`)
    expect(body.items).toMatchObject([
      { tap: '07', state: { level_pct: 50, weight_lbs: 95.25 } },
      { tap: '08', keg_type: 'sixth_barrel' },
    ])
    expect(body).not.toHaveProperty('cursor')
  })

  test('S3 S21 the state is that of the newest reading', async () => {
    const { edge, getPath } = await openRunningBar()
    await read(edge, { weight_lbs: 100, level_pct: 53.5 })
    expect((await getPath(`${LOC}/taps/07`)).body).toMatchObject({
      state: { level_pct: 53.5, weight_lbs: 100, updated_at: '2026-11-16T12:00:00.000Z', pouring: false },
    })
  })

  test('after a keg swap `level_measured` is false until the first reading of the new keg', async () => {
    const { edge, getPath, sendCommand } = await openRunningBar()
    const shown = async () => {
      const [
        { body: tap },
        {
          body: { items },
        },
      ] = [await getPath(`${LOC}/taps/07`), await getPath(`${LOC}/taps`)]
      expect(items[0]?.['level_measured']).toBe(tap['level_measured'])
      expect((tap['state'] as AnswerBody | null)?.['level_measured'] ?? false).toBe(tap['level_measured'])
      return tap['level_measured']
    }
    expect(await shown()).toBe(false)
    await read(edge, { weight_lbs: 95.25, level_pct: 50 })
    expect(await shown()).toBe(true)
    edge.clock.at += 60_000
    await sendCommand('POST', `${LOC}/taps/07/keg`, { beer_id: GUINNESS.beer_id, keg_type: 'half_barrel' })
    expect(await shown()).toBe(false)
    await read(edge, { weight_lbs: 90, level_pct: 46, at: edge.clock.at - 30_000 })
    expect(await shown()).toBe(false)
    edge.clock.at += 60_000
    await read(edge, { weight_lbs: 161.5, level_pct: 100 })
    expect(await shown()).toBe(true)
  })

  test('S-j the shown level is between empty and full, and the measured level is in the answer, too', async () => {
    const { edge, getPath } = await openRunningBar()
    await read(edge, { weight_lbs: 170, level_pct: 106.5 })
    const over = (await getPath(`${LOC}/taps/07`)).body['state'] as {
      level_pct: number
      gallons: number
      raw: { level_pct: number; gallons: number }
    }
    expect(over).toMatchObject({ level_pct: 100, raw: { level_pct: 106.5 } })
    expect(over.gallons).toBe(over.raw.gallons)
    edge.clock.at += 60_000
    await read(edge, { weight_lbs: 25, level_pct: -3 })
    expect((await getPath(`${LOC}/taps/07`)).body['state']).toMatchObject({
      level_pct: 0,
      gallons: 0,
      raw: { level_pct: -3, gallons: expect.toSatisfy((raw: number) => raw < 0) },
    })
    edge.clock.at += 60_000
    await read(edge, { weight_lbs: 95.25, level_pct: 50 })
    expect((await getPath(`${LOC}/taps/07`)).body['discrepancy']).toBeUndefined()
    edge.clock.at += 60_000
    await read(edge, { weight_lbs: 95.25, level_pct: 60 })
    expect((await getPath(`${LOC}/taps/07`)).body['discrepancy']).toEqual({
      since: '2026-11-16T12:03:00.000Z',
      device_level_pct: 60,
      weight_level_pct: 50,
    })
  })

  test('a device is assigned to one tap at a time, and can be removed from it', async () => {
    const { edge, getPath, sendCommand } = await openRunningBar()
    edge.clock.at += 1_000
    expect(await sendCommand('PUT', `${LOC}/taps/09/device`, { device_id: 'SCALE-0042' })).toMatchObject({
      status: 200,
      body: { tap: '09', device_id: 'SCALE-0042' },
    })
    expect((await getPath(`${LOC}/taps/07`)).body).toMatchObject({ device_id: null })
    edge.clock.at += 1_000
    expect(await sendCommand('DELETE', `${LOC}/taps/09/device`)).toMatchObject({
      status: 200,
      body: { device_id: null },
    })
    await sendCommand('POST', `${LOC}/taps/08/keg`, { beer_id: 'guinness-draught', keg_type: 'half_barrel' })
    expect(await sendCommand('DELETE', `${LOC}/taps/08/device`)).toMatchObject({
      status: 409,
      body: { code: 'tap-without-device' },
    })
  })

  test('removing something that is removed already succeeds, under the same key and without one', async () => {
    const { edge, getPath, sendCommand } = await openRunningBar()
    for (const [method, url] of [
      ['DELETE', 'taps/07/device'],
      ['POST', 'taps/07/keg/finish'],
      ['DELETE', 'taps/07'],
      ['DELETE', 'devices/SCALE-0042'],
    ] as const) {
      edge.clock.at += 1_000
      const first = await sendCommand(method, `${LOC}/${url}`, undefined, { 'idempotency-key': url })
      expect(first, url).toMatchObject({ status: 200 })
      edge.clock.at += 1_000
      const [again, anew] = [
        await sendCommand(method, `${LOC}/${url}`, undefined, { 'idempotency-key': url }),
        await sendCommand(method, `${LOC}/${url}`),
      ]
      expect([again.status, again.body, anew.status, anew.body], url).toEqual([200, first.body, 200, first.body])
    }
    expect((await getPath(`${LOC}/taps`)).body.items).toEqual([])
    expect((await sendCommand('DELETE', `${LOC}/taps/42`)).status).toBe(404)
    expect((await sendCommand('DELETE', `${LOC}/devices/SCALE-9999`)).status).toBe(404)
  })

  test('S-m a correction under a key is one correction', async () => {
    const { getPath, sendCommand } = await openRunningBar()
    const correct = () =>
      sendCommand(
        'POST',
        `${LOC}/taps/07/keg/correct`,
        { beer_id: 'guinness-draught', keg_type: 'sixth_barrel' },
        { 'idempotency-key': 'c1' },
      )
    const [first, again] = [await correct(), await correct()]
    expect(first.status).toBe(200)
    expect([again.status, again.body]).toEqual([200, first.body])
    expect((await getPath(`${LOC}/taps/07`)).body).toMatchObject({ keg_id: first.body.id })
  })

  test('a device of another location, or of none, cannot be assigned to a tap', async () => {
    const { edge, sendCommand } = await openRunningBar()
    const bob = await as(edge, 'bob')
    expect(
      await bob.sendCommand('PUT', '/v1/locations/loc-002/taps/07/device', { device_id: 'SCALE-0042' }),
    ).toMatchObject({ status: 404, body: { code: 'device-not-found' } })
    expect((await sendCommand('PUT', `${LOC}/taps/07/device`, { device_id: 'SCALE-9999' })).status).toBe(404)
  })

  test('a removed tap is gone with its state, and its keg can still be read', async () => {
    const { getPath, sendCommand, keg } = await openRunningBar()
    expect(await sendCommand('DELETE', `${LOC}/taps/07`)).toMatchObject({
      status: 200,
      body: { tap: '07', removed: true },
    })
    expect((await getPath(`${LOC}/taps/07`)).status).toBe(404)
    expect((await getPath(`${LOC}/taps`)).body.items).toEqual([])
    expect((await getPath(`${LOC}/kegs/${keg}`)).body).toMatchObject({
      id: keg,
      finished_at: '2026-11-16T12:00:00.000Z',
    })
  })
})

describe('kegs', () => {
  test('S6 S25 S56 a keg takes gravity and weights from its beer, and is tapped with its tare pending', async () => {
    const { getPath, sendCommand } = await openBar()
    await sendCommand('POST', '/v1/beers', GUINNESS)
    await sendCommand('PUT', '/v1/beers/guinness-draught/kegs/half_barrel', {
      gallons: 15.5,
      full_lbs: 160,
      empty_lbs: 28,
    })
    const { status, body } = await sendCommand('POST', `${LOC}/taps/07/keg`, {
      beer_id: 'guinness-draught',
      keg_type: 'half_barrel',
    })
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { id: expect.stringMatching(/^keg-20261116-[0-9a-z]{10}$/), full_lbs: 160, empty_lbs: 28, sg: 1.014 },
    })
    await sendCommand('PATCH', '/v1/beers/guinness-draught', { specific_gravity: 1.02 })
    expect((await getPath(`${LOC}/kegs/${body.id}`)).body).toMatchObject({ sg: 1.014 })
    expect((await getPath(`${LOC}/taps/07`)).body['state']).toMatchObject({ tare_status: 'pending' })
  })

  test("S-l the keg's id is created in the event: the same request gives the same keg, another request another keg", async () => {
    const { edge, sendCommand } = await openRunningBar()
    const body = { beer_id: 'guinness-draught', keg_type: 'half_barrel' }
    const first = await sendCommand('POST', `${LOC}/taps/07/keg`, body, { 'idempotency-key': 'k1' })
    edge.clock.at += 12 * 3_600_000
    const again = await sendCommand('POST', `${LOC}/taps/07/keg`, body, { 'idempotency-key': 'k1' })
    const other = await sendCommand('POST', `${LOC}/taps/07/keg`, body, { 'idempotency-key': 'k2' })
    expect(again).toMatchObject({ status: 201, body: { id: first.body.id } })
    expect(other.body.id).not.toBe(first.body.id)
    expect(edge.events.filter(({ type }) => type === 'KegTapped').at(1)?.data).toMatchObject({ keg_id: first.body.id })
  })

  test('S-l the same Idempotency-Key in two locations gives two kegs', async () => {
    const { sendCommand } = await openRunningBar()
    const tap = (loc: string) =>
      sendCommand(
        'POST',
        `${loc}/taps/07/keg`,
        { beer_id: 'guinness-draught', keg_type: 'half_barrel' },
        { 'idempotency-key': 'k1' },
      )
    const [here, there] = [await tap(LOC), await tap('/v1/locations/loc-002')]
    expect([here.status, there.status]).toEqual([201, 201])
    expect(there.body.id).not.toBe(here.body.id)
  })

  test('S48 a keg type without measured weights has the reference weights, and an unknown type needs weights in the request', async () => {
    const { sendCommand } = await openRunningBar()
    expect(
      (await sendCommand('POST', `${LOC}/taps/01/keg`, { beer_id: 'guinness-draught', keg_type: 'slim_quarter' })).body,
    ).toMatchObject({ full_lbs: 87, empty_lbs: 20 })
    const odd = { beer_id: 'guinness-draught', keg_type: 'corny' }
    expect(await sendCommand('POST', `${LOC}/taps/01/keg`, odd)).toMatchObject({
      status: 400,
      body: { code: 'keg-type-unknown', field: '/keg_type' },
    })
    expect(
      (await sendCommand('POST', `${LOC}/taps/01/keg`, { ...odd, full_lbs: 55, empty_lbs: 10 })).body,
    ).toMatchObject({ full_lbs: 55, empty_lbs: 10 })
    expect((await sendCommand('POST', `${LOC}/taps/01/keg`, { ...odd, full_lbs: 10, empty_lbs: 10 })).status).toBe(400)
  })

  test("a location's own beer takes precedence over the global beer with the same id", async () => {
    const { sendCommand } = await openRunningBar()
    await sendCommand('POST', '/v1/beers', { ...GUINNESS, loc_id: 'loc-001', specific_gravity: 1.05 })
    expect(
      (await sendCommand('POST', `${LOC}/taps/01/keg`, { beer_id: 'guinness-draught', keg_type: 'half_barrel' })).body,
    ).toMatchObject({ sg: 1.05 })
  })

  test('a keg is finished, and the next keg ends the previous one', async () => {
    const { edge, getPath, sendCommand, keg } = await openRunningBar()
    edge.clock.at += 3_600_000
    const second = await sendCommand('POST', `${LOC}/taps/07/keg`, {
      beer_id: 'guinness-draught',
      keg_type: 'half_barrel',
    })
    expect((await getPath(`${LOC}/kegs/${keg}`)).body).toMatchObject({ finished_at: '2026-11-16T13:00:00.000Z' })
    edge.clock.at += 3_600_000
    expect(await sendCommand('POST', `${LOC}/taps/07/keg/finish`, { at: '2026-11-16T13:30:00Z' })).toMatchObject({
      status: 200,
      body: { id: second.body.id, finished_at: '2026-11-16T13:30:00.000Z' },
    })
    expect((await getPath(`${LOC}/taps/07`)).body).toMatchObject({ keg_id: null, keg: null })
    expect(await sendCommand('POST', `${LOC}/taps/07/keg/finish`)).toMatchObject({
      status: 200,
      body: { id: second.body.id, finished_at: '2026-11-16T13:30:00.000Z' },
    })
    await sendCommand('PUT', `${LOC}/taps/08/device`, { device_id: 'SCALE-0042' })
    expect(await sendCommand('POST', `${LOC}/taps/08/keg/finish`)).toMatchObject({
      status: 409,
      body: { code: 'tap-without-keg' },
    })
  })

  test('S-m a wrong keg is corrected to a new keg of a beer, or to a recorded keg', async () => {
    const { getPath, sendCommand, keg } = await openRunningBar()
    await sendCommand('POST', '/v1/beers', { beer_id: 'modelo', name: 'Modelo', specific_gravity: 1.01 })
    const right = await sendCommand('POST', `${LOC}/taps/07/keg/correct`, {
      beer_id: 'modelo',
      keg_type: 'half_barrel',
    })
    expect(right).toMatchObject({ status: 200, body: { beer_id: 'modelo', sg: 1.01, tap: '07' } })
    expect((await getPath(`${LOC}/taps/07`)).body).toMatchObject({ keg_id: right.body.id, beer_id: 'modelo' })
    expect((await getPath(`${LOC}/kegs/${keg}`)).body).toMatchObject({ corrected_to: right.body.id })
    expect(
      (await sendCommand('POST', `${LOC}/taps/07/keg/correct`, { keg_id: right.body.id, new_keg_id: keg })).body,
    ).toMatchObject({ id: keg })
    expect((await getPath(`${LOC}/taps/07`)).body).toMatchObject({ keg_id: keg, beer_id: 'guinness-draught' })
    expect((await sendCommand('POST', `${LOC}/taps/07/keg/correct`, {})).status).toBe(400)
    expect((await sendCommand('POST', `${LOC}/taps/07/keg/correct`, { new_keg_id: 'keg-20200101-none' })).status).toBe(
      404,
    )
  })

  test('a keg of another location is not found', async () => {
    const { edge, keg } = await openRunningBar()
    const bob = await as(edge, 'bob')
    await bob.sendCommand('PATCH', '/v1/locations/loc-002/settings', { low_keg_pct: 10 })
    expect((await bob.getPath(`/v1/locations/loc-002/kegs/${keg}`)).status).toBe(404)
    expect(
      await bob.sendCommand('POST', '/v1/locations/loc-002/pours/void', {
        keg_id: keg,
        from: '2026-11-16T00:00:00Z',
        to: '2026-11-17T00:00:00Z',
      }),
    ).toMatchObject({ status: 404, body: { code: 'keg-not-found' } })
  })

  test('times in the future are refused', async () => {
    const { sendCommand } = await openRunningBar()
    const keg = { beer_id: 'guinness-draught', keg_type: 'half_barrel' }
    expect(
      await sendCommand('POST', `${LOC}/taps/07/keg`, { ...keg, tapped_at: '2026-11-16T12:20:00Z' }),
    ).toMatchObject({ status: 400, body: { code: 'out-of-range', field: '/tapped_at' } })
    expect(
      (await sendCommand('POST', `${LOC}/taps/07/keg`, { ...keg, tapped_at: '2026-11-16T12:10:00Z' })).body,
    ).toMatchObject({ tapped_at: '2026-11-16T12:00:00.000Z' })
  })

  test('S40 a tare that the keg cannot have is refused', async () => {
    const { getPath, sendCommand, keg } = await openRunningBar()
    const refused = { status: 400, body: { code: 'out-of-range', field: '/value_lbs' } }
    for (const body of [
      { kind: 'full', value_lbs: 10 },
      { kind: 'full', value_lbs: -3 },
      { kind: 'empty', value_lbs: -3 },
      { kind: 'empty', value_lbs: 500 },
    ]) {
      expect(await sendCommand('POST', `${LOC}/taps/07/tare`, body), JSON.stringify(body)).toMatchObject(refused)
    }
    expect((await getPath(`${LOC}/kegs/${keg}`)).body).toMatchObject({ tare: null })
  })

  test('S7 S26 S40 a tare of the keg is in its answer, and is stored with the device, too', async () => {
    const { getPath, sendCommand, keg } = await openRunningBar()
    expect((await sendCommand('POST', `${LOC}/taps/07/tare`, { kind: 'empty', value_lbs: 29.5 })).body).toMatchObject({
      keg: { tare: { empty_offset: 29.5, full_ref: null } },
    })
    expect(
      (await sendCommand('POST', `${LOC}/taps/07/tare`, { kind: 'full', value_lbs: 160.5, at: '2026-11-16T11:59:59Z' }))
        .status,
    ).toBe(200)
    expect((await getPath(`${LOC}/kegs/${keg}`)).body).toMatchObject({ tare: { empty_offset: 29.5 } })
    expect((await getPath(`${LOC}/devices/SCALE-0042`)).body['telemetry']).toMatchObject({ tare_empty_offset: 29.5 })
    expect(await sendCommand('POST', `${LOC}/taps/11/tare`, { kind: 'full', value_lbs: 160.5 })).toMatchObject({
      status: 404,
      body: { code: 'tap-not-found' },
    })
    await sendCommand('POST', `${LOC}/taps/07/keg/finish`)
    expect(await sendCommand('POST', `${LOC}/taps/07/tare`, { kind: 'full', value_lbs: 160.5 })).toMatchObject({
      status: 409,
      body: { code: 'tap-without-keg' },
    })
  })
})
