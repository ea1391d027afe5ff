import { describe, expect, test } from 'vitest'
import { keyOf, type Item } from '../../../projections/item.ts'
import { claims } from '../../../projections/scales/keys.ts'
import { as } from '../person.ts'
import { send } from '../../../testing/edge/request.ts'
import { LOC, openBar, openRunningBar, read } from './bar.ts'

describe('devices', () => {
  test('S8 S27 a claimed device is registered at the location, and the answer contains its status', async () => {
    const { edge, getPath, sendCommand } = await openBar()
    expect(await sendCommand('POST', `${LOC}/devices`, { device_id: 'SCALE-0042' })).toMatchObject({
      status: 201,
      body: { id: 'SCALE-0042', loc_id: 'loc-001', status: 'registered', tap: null },
    })
    expect((await getPath(`${LOC}/devices/SCALE-0042`)).body).toMatchObject({
      id: 'SCALE-0042',
      status: 'registered',
      telemetry: null,
      calibration: null,
    })
    expect(edge.events.find(({ type }) => type === 'DeviceClaimed')?.meta.key).toBe('SCALE-0042')
    expect(edge.events.find(({ type }) => type === 'DeviceRegistered')?.meta.key).toBe('loc-001')
  })

  test('a device belongs to the location that claimed it first, until that location releases it', async () => {
    const { edge, getPath, sendCommand } = await openRunningBar()
    const bob = await as(edge, 'bob')
    expect(await bob.sendCommand('POST', '/v1/locations/loc-002/devices', { device_id: 'SCALE-0042' })).toMatchObject({
      status: 409,
      body: { code: 'device-taken' },
    })
    expect(await sendCommand('DELETE', `${LOC}/devices/SCALE-0042`)).toMatchObject({
      status: 200,
      body: { released: true },
    })
    expect((await getPath(`${LOC}/devices`)).body.items).toEqual([])
    expect((await getPath(`${LOC}/devices/SCALE-0042`)).status).toBe(404)
    expect((await getPath(`${LOC}/taps/07`)).body).toMatchObject({ device_id: null })
    expect((await bob.sendCommand('POST', '/v1/locations/loc-002/devices', { device_id: 'SCALE-0042' })).status).toBe(
      201,
    )
    expect((await bob.getPath('/v1/locations/loc-002/devices')).body.items).toMatchObject([
      { id: 'SCALE-0042', telemetry: null },
    ])
  })

  test('a released device can be claimed at once, although the end of its claim follows later', async () => {
    const { edge, sendCommand } = await openRunningBar()
    const bob = await as(edge, 'bob')
    const claim = keyOf(claims.key('SCALE-0042'))
    const [get, set] = [edge.items.get.bind(edge.items), edge.items.set.bind(edge.items)]
    let [ended, looks]: [Item | undefined, number] = [undefined, 0]
    edge.items.set = (key, item) => {
      if (key !== claim || item['loc_id'] !== null) return set(key, item)
      ended = item
      return edge.items
    }
    edge.items.get = (key) => {
      if (key === claim && ended !== undefined && (looks += 1) === 3) set(key, ended)
      return get(key)
    }
    expect(await sendCommand('DELETE', `${LOC}/devices/SCALE-0042`)).toMatchObject({
      status: 200,
      body: { released: true },
    })
    expect((await bob.sendCommand('POST', '/v1/locations/loc-002/devices', { device_id: 'SCALE-0042' })).status).toBe(
      201,
    )
  })

  test('S9 S28 its telemetry is the latest that it reported', async () => {
    const { edge, getPath } = await openRunningBar()
    await read(edge, { level_pct: 50, battery_pct: 81, battery_v: 3.9 })
    expect((await getPath(`${LOC}/devices/SCALE-0042`)).body).toMatchObject({
      tap: '07',
      telemetry: { battery_pct: 81, battery_v: 3.9, updated_at: '2026-11-16T12:00:00.000Z' },
    })
  })

  test("S37 devices with a low battery are listed, by the location's threshold or another", async () => {
    const { edge, getPath, sendCommand } = await openRunningBar()
    await sendCommand('POST', `${LOC}/devices`, { device_id: 'SCALE-0043' })
    await sendCommand('PUT', `${LOC}/taps/08/device`, { device_id: 'SCALE-0043' })
    await read(edge, { battery_pct: 12 })
    await read(edge, { device_id: 'SCALE-0043', battery_pct: 60 })
    const ids = async (query: string) =>
      (await getPath(`${LOC}/devices?low_battery=${query}`)).body.items.map(({ id }) => id)
    expect(await ids('true')).toEqual(['SCALE-0042'])
    expect(await ids('10')).toEqual([])
    expect(await ids('61')).toEqual(['SCALE-0042', 'SCALE-0043'])
    expect((await getPath(`${LOC}/devices?low_battery=101`)).status).toBe(400)
    expect((await getPath(`${LOC}/devices?low_battery=no`)).status).toBe(400)
  })

  test('S10 S11 S29 S30 the newest calibration applies, and all are stored', async () => {
    const { getPath, sendCommand } = await openRunningBar()
    expect(
      await sendCommand('POST', `${LOC}/devices/SCALE-0042/calibration`, { factor: 2.5, offset: -3 }),
    ).toMatchObject({ status: 200, body: { factor: 2.5, offset: -3, calibrated_by: 'ann' } })
    await sendCommand('POST', `${LOC}/devices/SCALE-0042/calibration`, {
      factor: 2,
      offset: 0,
      at: '2026-11-15T12:00:00Z',
    })
    expect((await getPath(`${LOC}/devices/SCALE-0042`)).body['calibration']).toMatchObject({ factor: 2.5 })
    expect((await getPath(`${LOC}/devices/SCALE-0042/calibrations`)).body.items).toMatchObject([
      { factor: 2.5 },
      { factor: 2 },
    ])
  })

  test('quarantined readings of a device are listed with their reasons, and counted', async () => {
    const { edge, getPath } = await openRunningBar()
    for (const [seq, reason] of [
      [1, 'range'],
      [2, 'range'],
      [3, 'future'],
    ] as const) {
      const meta = {
        eventId: `q${seq}`,
        key: 'loc-001',
        occurredAt: edge.clock.at + seq,
        recordedAt: edge.clock.at,
        source: 'test',
        correlationId: null,
        causationId: null,
        actorId: 'SCALE-0042',
        subjectId: null,
        request: null,
      }
      const data = {
        device_id: 'SCALE-0042',
        boot: 'b1',
        seq,
        at: edge.clock.at + seq,
        reason,
        detail: 'level_pct is 140',
        reading: '{"level_pct":140}',
      }
      await edge.commands.execute(
        { type: 'ReadingQuarantined', meta, data, personal: null },
        { wait: true, timeoutMs: 50 },
      )
    }
    const { body } = await getPath(`${LOC}/devices/SCALE-0042/quarantine?limit=2`)
    expect(body).toMatchObject({
      items: [
        { seq: 3, reason: 'future' },
        { seq: 2, reason: 'range', reading: '{"level_pct":140}' },
      ],
      count: { total: 3, reasons: { range: 2, future: 1 } },
    })
    expect(body.cursor).toBeDefined()
    expect((await getPath(`${LOC}/devices/SCALE-0042/quarantine?unclaimed=true`)).body).toMatchObject({
      items: [],
      count: { total: 0 },
    })
  })

  test("a device's token is shown once, is for the device only, and can be revoked", async () => {
    const { edge, getPath, sendCommand } = await openRunningBar()
    const made = await sendCommand('POST', `${LOC}/devices/SCALE-0042/tokens`, undefined, { 'idempotency-key': 't1' })
    expect(made).toMatchObject({
      status: 201,
      body: { scopes: ['device'], token: expect.stringMatching(/^trib_scales_/) },
    })
    expect(edge.events.find(({ type, meta }) => type === 'PatIssued' && meta.key === 'SCALE-0042')).toMatchObject({
      meta: { actorId: 'ann' },
      personal: null,
    })
    expect(
      (await sendCommand('POST', `${LOC}/devices/SCALE-0042/tokens`, undefined, { 'idempotency-key': 't1' })).body,
    ).not.toHaveProperty('token')
    const device = (url: string) => send(edge.app, { url, token: made.body.token })
    for (const path of [`${LOC}/taps`, '/v1/beers'])
      expect(await device(path)).toMatchObject({ status: 403, body: { code: 'scope-missing' } })
    const {
      body: { items },
    } = await getPath(`${LOC}/devices/SCALE-0042/tokens`)
    expect(items).toMatchObject([{ id: made.body.id }])
    expect(items[0]).not.toHaveProperty('token')
    expect((await sendCommand('DELETE', `${LOC}/devices/SCALE-0042/tokens/${made.body.id}`)).status).toBe(200)
    expect((await device(`${LOC}/taps`)).status).toBe(401)
    expect((await sendCommand('DELETE', `${LOC}/devices/SCALE-0042/tokens/${made.body.id}`)).status).toBe(200)
    expect((await sendCommand('DELETE', `${LOC}/devices/SCALE-0042/tokens/none`)).status).toBe(404)
  })

  test('the tokens of a person with the id of the device are neither listed nor revoked with it', async () => {
    const { edge, getPath, sendCommand } = await openRunningBar()
    await edge.token('SCALE-0042')
    const theirs = [...edge.items.values()].find((item) => item.PK === 'USER#SCALE-0042' && item.SK.startsWith('PAT#'))
    expect((await getPath(`${LOC}/devices/SCALE-0042/tokens`)).body.items).toEqual([])
    expect((await sendCommand('DELETE', `${LOC}/devices/SCALE-0042/tokens/${String(theirs?.['patId'])}`)).status).toBe(
      404,
    )
  })
})
