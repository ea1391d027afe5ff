import { setTimeout } from 'node:timers/promises'
import type { Paging } from '../../projections/entity.ts'
import type { Device, ScalesQueries } from '../../projections/scales/queries.ts'
import { badCursor, listing } from '../http/lists.ts'
import { mistake } from '../http/problem.ts'
import { command, question, type Route } from '../http/route.ts'
import { bool, text } from '../http/schemas.ts'
import { deviceAnswer } from './device-views.ts'
import { ownedDevice } from './owned-device.ts'
import { deviceOf, event, idSchema, queriesOf } from './params.ts'
import { atLocation, locOf } from './rights.ts'
import { claims, devicePointers } from '../../projections/scales/keys.ts'

const listDevices = listing({
  url: '/v1/locations/:loc/devices',
  operationId: 'listDevices',
  byIndex: true,
  summary: 'List the devices of a location.',
  query: {
    low_battery: {
      type: 'string',
      pattern: '^(true|[0-9]{1,3})$',
      description: "Only devices with a battery below this percentage. true: below the location's threshold.",
    },
  },
  of: deviceAnswer,
  page: async (call, paging) => {
    const [queries, loc, { low_battery }] = [queriesOf(call), locOf(call), call.query]
    const { items, ...rest } = await (low_battery === undefined
      ? queries.devices(loc, paging)
      : lowBatteries(queries, { loc, low_battery, paging }))
    return {
      items: await Promise.all(
        items.map(async ({ device_id: device, epoch }) => ({ device, loc, ...(await queries.device(device, epoch)) })),
      ),
      ...rest,
    }
  },
})

interface LowBatteries {
  readonly loc: string
  readonly low_battery: string
  readonly paging: Paging
}

/** The location's threshold can change between two pages, so the cursor contains the threshold of the first page. */
const lowBatteries = async (queries: ScalesQueries, { loc, low_battery, paging: { limit, cursor } }: LowBatteries) => {
  const [, first, place] = cursor === undefined ? [] : (/^(\d+(?:\.\d+)?(?:e-\d+)?)~(.+)$/.exec(cursor) ?? badCursor())
  const below =
    low_battery === 'true' && first !== undefined ? Number(first) : await thresholdOf(queries, loc, low_battery)
  const page = await queries.lowBatteries(loc, below, { limit, ...(place !== undefined && { cursor: place }) })
  return { ...page, ...(page.cursor !== undefined && { cursor: `${below}~${page.cursor}` }) }
}

const thresholdOf = async (queries: ScalesQueries, loc: string, requested: string): Promise<number> => {
  if (requested === 'true') return (await queries.settings(loc)).low_battery_pct
  if (Number(requested) <= 100) return Number(requested)
  throw mistake(400, {
    pointer: 'querystring/low_battery',
    code: 'out-of-range',
    detail: 'querystring/low_battery must be true or from 0 to 100.',
  })
}

const oneDevice = question({
  method: 'GET',
  url: '/v1/locations/:loc/devices/:device',
  operationId: 'getDevice',
  summary: 'Get a device with its status, telemetry and calibration.',
  result: deviceAnswer.schema,
  answer: async (call) => deviceAnswer.view(await ownedDevice(call, deviceOf(call))),
})

const claimDevice = command({
  method: 'POST',
  url: '/v1/locations/:loc/devices',
  operationId: 'claimDevice',
  summary: 'Claim a device for the location. No other location can claim it until this one releases it.',
  body: { type: 'object', additionalProperties: false, required: ['device_id'], properties: { device_id: idSchema } },
  status: 201,
  result: deviceAnswer.schema,
  decide: (call) => {
    const { device_id } = call.body
    return { key: device_id, id: device_id, draft: event('DeviceClaimed', { device_id, loc_id: locOf(call) }) }
  },
  answer: async (call) => {
    const [queries, loc, { device_id: device }] = [queriesOf(call), locOf(call), call.body]
    const claim = await claims.get(call.caller.reader, device)
    return claim?.loc_id === loc
      ? deviceAnswer.view({ device, loc, ...(await registered(queries, device, claim.epoch)) })
      : undefined
  },
})

/** Waits until the device is registered, so that the caller can use it. A derived event of the claim registers the device. */
const registered = (queries: ScalesQueries, device: string, epoch: number): Promise<Device> =>
  waitUntil(
    () => queries.device(device, epoch),
    ({ meta }) => meta !== undefined,
  )

const [MOST_READS, PAUSE_MS] = [40, 25]

/** Reads until the result of a derived event is visible. After a second, returns the last result. */
const waitUntil = async <T>(read: () => Promise<T>, isVisible: (found: T) => boolean): Promise<T> => {
  let found = await read()
  for (let reads = 1; reads < MOST_READS && !isVisible(found); reads += 1) {
    await setTimeout(PAUSE_MS)
    found = await read()
  }
  return found
}

const releaseDevice = command({
  method: 'DELETE',
  url: '/v1/locations/:loc/devices/:device',
  operationId: 'releaseDevice',
  summary: 'Release a device, so that another location can claim it.',
  status: 200,
  result: { type: 'object', required: ['id', 'released'], properties: { id: text, released: bool } },
  decide: async (call) => {
    const [loc, device] = [locOf(call), deviceOf(call)]
    // A location has a pointer item for each device that it has or has released. Just after a claim this item can be missing, so the claim is read.
    if ((await devicePointers.get(call.caller.reader, loc, device)) === undefined) await ownedDevice(call, device)
    return { key: loc, id: device, draft: event('DeviceReleased', { device_id: device }) }
  },
  answer: async (call) => {
    const [loc, device] = [locOf(call), deviceOf(call)]
    // The claim has another log key and ends a moment later. The answer waits for this, so that another location can then claim the device.
    await waitUntil(
      () => claims.get(call.caller.reader, device),
      (claim) => claim?.loc_id !== loc,
    )
    return { id: device, released: true }
  },
})

export const deviceRoutes: readonly Route[] = atLocation([listDevices, oneDevice, claimDevice, releaseDevice])
