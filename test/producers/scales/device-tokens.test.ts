import { describe, expect, onTestFinished, test } from 'vitest'
import { scaleDevices } from '../../../producers/scales/device-messages.ts'
import { openBroker } from '../../../producers/mqtt/broker.ts'
import { deviceAccess } from '../../../producers/scales/device-tokens.ts'
import { keyOf } from '../../../projections/item.ts'
import { claims } from '../../../projections/scales/keys.ts'
import { as } from '../person.ts'
import { send } from '../../../testing/edge/request.ts'
import { clock, closed, connected, deviceAt, envelope } from '../mqtt/bar.ts'
import { LOC, openRunningBar } from './bar.ts'

const DEVICE = 'SCALE-0042'
const [HERE, THERE] = [`${LOC}/devices`, '/v1/locations/loc-002/devices']
const MINUTE = 60_000
const READING = { boot: 'b1', readings: [{ seq: 1, age_ms: 0, weight_lbs: 100, level_pct: 50 }] }

/** Creates two locations: ann owns loc-001 with the device, where bob is a member, and cid owns loc-002. */
const openTown = async () => {
  const bar = await openRunningBar()
  const { edge } = bar
  const [bob, cid] = [await as(edge, 'bob'), await as(edge, 'cid')]
  await bar.sendCommand('PUT', `${LOC}/members/bob`)
  const wait = () => void (edge.clock.at += MINUTE)
  const report = async (token: string) =>
    (await send(edge.app, { method: 'POST', url: `/v1/devices/${DEVICE}/readings`, token, body: READING })).body
  const issue = async (person: Pick<typeof bob, 'sendCommand'>, devices = HERE): Promise<string> =>
    (await person.sendCommand('POST', `${devices}/${DEVICE}/tokens`)).body.token
  const release = () => bar.sendCommand('DELETE', `${HERE}/${DEVICE}`)
  return { ...bar, bob, cid, wait, report, issue, release }
}

type Town = Awaited<ReturnType<typeof openTown>>

const ENDINGS: readonly (readonly [string, (town: Town) => Promise<unknown>])[] = [
  ['the device is released', ({ release }) => release()],
  [
    'another location claims the device',
    async ({ release, cid }) => {
      await release()
      await cid.sendCommand('POST', THERE, { device_id: DEVICE })
    },
  ],
  [
    'its location claims the device again',
    async ({ release, sendCommand }) => {
      await release()
      await sendCommand('POST', HERE, { device_id: DEVICE })
    },
  ],
  ['its creator is removed', ({ sendCommand }) => sendCommand('DELETE', `${LOC}/members/bob`)],
  ['its creator leaves', ({ bob }) => bob.sendCommand('DELETE', `${LOC}/members/bob`)],
  [
    'its creator is removed and added again',
    async ({ sendCommand, wait }) => {
      await sendCommand('DELETE', `${LOC}/members/bob`)
      wait()
      await sendCommand('PUT', `${LOC}/members/bob`)
    },
  ],
]

describe('over HTTP a token of a device', () => {
  test.each(ENDINGS)('ends when %s', async (_, end) => {
    const town = await openTown()
    const token = await town.issue(town.bob)
    town.wait()
    expect(await town.report(token)).toMatchObject({ accepted: 1 })
    await end(town)
    expect(await town.report(token)).toMatchObject({ status: 401, code: 'token-ended' })
  })

  test('ends with the release itself, although the end of the claim follows later', async () => {
    const town = await openTown()
    const token = await town.issue(town.bob)
    const { items } = town.edge
    const set = items.set.bind(items)
    items.set = (key, item) => (key === keyOf(claims.key(DEVICE)) ? items : set(key, item))
    await town.release()
    expect(items.get(keyOf(claims.key(DEVICE)))).toMatchObject({ loc_id: 'loc-001' })
    expect(await town.report(token)).toMatchObject({ code: 'token-ended' })
  })

  test('of another member still works when a member leaves', async () => {
    const town = await openTown()
    const token = await town.issue(town)
    await town.sendCommand('DELETE', `${LOC}/members/bob`)
    expect(await town.report(token)).toMatchObject({ accepted: 1 })
  })

  test('that is new works after a new claim, and after its creator is a member again', async () => {
    const town = await openTown()
    await town.sendCommand('DELETE', `${LOC}/members/bob`)
    town.wait()
    await town.sendCommand('PUT', `${LOC}/members/bob`)
    expect(await town.report(await town.issue(town.bob))).toMatchObject({ accepted: 1 })
    await town.release()
    await town.cid.sendCommand('POST', THERE, { device_id: DEVICE })
    expect(await town.report(await town.issue(town.cid, THERE))).toMatchObject({ accepted: 1 })
  })

  test('that the operator created before any claim works until the first claim ends', async () => {
    const town = await openTown()
    const token = await town.edge.token('SCALE-0077', ['device'])
    const report = async () =>
      (await send(town.edge.app, { method: 'POST', url: '/v1/devices/SCALE-0077/readings', token, body: READING })).body
    expect(await report()).toMatchObject({ quarantined: [{ reason: 'unknown-device' }] })
    await town.sendCommand('POST', HERE, { device_id: 'SCALE-0077' })
    expect(await report()).toMatchObject({ accepted: 1 })
    expect((await town.getPath(`${HERE}/SCALE-0077/tokens`)).body.items).toMatchObject([{ createdBy: null }])
    await town.sendCommand('DELETE', `${HERE}/SCALE-0077`)
    expect(await report()).toMatchObject({ code: 'token-ended' })
  })
})

describe("the list of a device's tokens", () => {
  const listed = async ({ getPath }: Pick<Town, 'getPath'>, devices = HERE) =>
    (await getPath(`${devices}/${DEVICE}/tokens`)).body.items

  test('contains who created each, when, the last day of its use, and when and why it ended', async () => {
    const town = await openTown()
    const token = await town.issue(town.bob)
    town.wait()
    await town.issue(town)
    const [bobs, anns] = await listed(town)
    expect(bobs).toEqual({
      id: expect.any(String),
      name: null,
      scopes: ['device'],
      createdBy: 'bob',
      createdAt: '2026-11-16T12:00:00.000Z',
    })
    expect(anns).toMatchObject({ createdBy: 'ann', createdAt: '2026-11-16T12:01:00.000Z' })
    await town.report(token)
    await expect.poll(async () => (await listed(town))[0]).toMatchObject({ lastUsedAt: '2026-11-16' })
    town.wait()
    await town.sendCommand('DELETE', `${LOC}/members/bob`)
    expect((await listed(town))[0]).toMatchObject({
      createdBy: 'bob',
      endedAt: '2026-11-16T12:02:00.000Z',
      endReason: 'creator-left',
    })
    expect((await listed(town))[1]).not.toHaveProperty('endedAt')
    await town.release()
    town.wait()
    await town.sendCommand('POST', HERE, { device_id: DEVICE })
    expect(await listed(town)).toMatchObject([
      { endReason: 'device-released' },
      { endedAt: '2026-11-16T12:02:00.000Z', endReason: 'device-released' },
    ])
  })

  test("is for members of the location, and shows nothing of the device's time at another one", async () => {
    const town = await openTown()
    const token = await town.issue(town.bob)
    const url = `${HERE}/${DEVICE}/tokens`
    expect((await town.bob.getPath(url)).status).toBe(200)
    expect((await town.cid.getPath(url)).status).toBe(404)
    expect((await send(town.edge.app, { url, token })).status).toBe(403)
    await town.sendCommand('DELETE', `${LOC}/members/bob`)
    expect((await town.bob.getPath(url)).status).toBe(404)
    const [{ id } = { id: '' }] = await listed(town)
    await town.release()
    expect((await town.getPath(url)).status).toBe(404)
    await town.cid.sendCommand('POST', THERE, { device_id: DEVICE })
    expect(await listed(town.cid, THERE)).toEqual([])
    expect((await town.cid.sendCommand('DELETE', `${THERE}/${DEVICE}/tokens/${id}`)).status).toBe(404)
  })
})

describe('over MQTT a token of a device', () => {
  const TOPIC = `scale-sense/loc-001/${DEVICE}/reading`
  const NEVER = 1e9

  const serve = async ({ edge }: Town, checkMs: number) => {
    const serving = async () => ({
      reader: edge.reader,
      generation: 1,
      outcomes: { untilOutcome: edge.untilOutcome, untilFolded: edge.untilFolded },
    })
    const silent = { info: () => {}, warn: () => {} }
    const broker = await openBroker(
      {
        domains: [{ name: 'scales', access: deviceAccess, commands: edge.commands, serving, devices: scaleDevices }],
        clock,
        checkMs,
        logger: silent,
      },
      { host: '127.0.0.1', port: 0 },
    )
    onTestFinished(() => broker.stop())
    return broker
  }
  const enter = async (address: string, password: string) => {
    const device = deviceAt(address, DEVICE, {
      password,
      will: { topic: `scale-sense/loc-001/${DEVICE}/status`, payload: Buffer.from('{"online":false}'), qos: 1 },
    })
    await connected(device)
    return device
  }
  const readings = ({ edge }: Town) =>
    edge.events.filter(({ type, meta }) => meta.source === 'mqtt' && type !== 'PatUsed')

  test.each(ENDINGS)('ends its open session when %s, and opens none', async (_, end) => {
    const town = await openTown()
    const { address } = await serve(town, 20)
    const password = await town.issue(town.bob)
    const device = await enter(address, password)
    await device.publishAsync(TOPIC, envelope(1), { qos: 1 })
    town.wait()
    const gone = closed(device)
    await end(town)
    await gone
    await expect(enter(address, password)).rejects.toThrow()
    expect(readings(town).map(({ type }) => type)).toEqual(['ReadingReported'])
  })

  test.each(ENDINGS)('is refused with the next message when %s: no PUBACK, and nothing in the log', async (_, end) => {
    const town = await openTown()
    const { address } = await serve(town, NEVER)
    const device = await enter(address, await town.issue(town.bob))
    await device.publishAsync(TOPIC, envelope(1), { qos: 1 })
    town.wait()
    await end(town)
    const gone = closed(device)
    let isAcknowledged = false
    device.publish(TOPIC, envelope(2), { qos: 1 }, (error) => (isAcknowledged = !error))
    await gone
    expect(isAcknowledged).toBe(false)
    expect(readings(town)).toHaveLength(1)
  })

  test('that is new works at once after another location claims the device', async () => {
    const town = await openTown()
    const { address } = await serve(town, NEVER)
    const before = await enter(address, await town.issue(town.bob))
    await before.publishAsync(TOPIC, envelope(1), { qos: 1 })
    await town.release()
    await town.cid.sendCommand('POST', THERE, { device_id: DEVICE })
    const after = deviceAt(address, DEVICE, { password: await town.issue(town.cid, THERE) })
    await connected(after)
    await after.publishAsync(`scale-sense/loc-002/${DEVICE}/reading`, envelope(2), { qos: 1 })
    expect(readings(town)).toMatchObject([
      { meta: { key: 'loc-001' } },
      { meta: { key: 'loc-002' }, data: { epoch: 2 } },
    ])
  })
})
