import { setTimeout } from 'node:timers/promises'
import type { DeviceClaimedData, DeviceReleasedData } from '../../schemas/generated/scales.ts'
import { scalesQueries, type Device, type Paging, type ScalesQueries } from '../../projections/scales/queries.ts'
import { badCursor, listOf, pagingOf, pagingSchema } from '../http/lists.ts'
import { mistake } from '../http/problem.ts'
import { command, question, type Route } from '../http/route.ts'
import { deviceSchema, deviceView } from './device-views.ts'
import { heldDevice } from './devices.ts'
import { deviceOf, idSchema } from './params.ts'
import { atLocation, locOf } from './rights.ts'

const devicesQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
    low_battery: { type: 'string', pattern: '^(true|[0-9]{1,3})$', description: 'Only devices whose battery is below so many percent; true: below the location\'s own threshold.' },
    ...pagingSchema,
  },
} as const

const listDevices = question({
  method: 'GET',
  url: '/v1/locations/:loc/devices',
  operationId: 'listDevices',
  byIndex: true,
  summary: 'The devices of a location.',
  query: devicesQuery,
  result: listOf(deviceSchema),
  answer: async (call) => {
    const [queries, loc] = [scalesQueries(call.caller.reader), locOf(call)]
    const { low_battery } = call.query
    const paging = pagingOf(call.query)
    const { items, ...rest } = await (low_battery === undefined ? queries.devices(loc, paging) : lowBatteries(queries, { loc, low_battery, paging }))
    return { items: await Promise.all(items.map(async ({ device_id, epoch }) => deviceView(device_id, loc, await queries.device(device_id, epoch)))), ...rest }
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
  const below = low_battery === 'true' && first !== undefined ? Number(first) : await belowOf(queries, loc, low_battery)
  const page = await queries.lowBatteries(loc, below, { limit, ...(place !== undefined && { cursor: place }) })
  return { ...page, ...(page.cursor !== undefined && { cursor: `${below}~${page.cursor}` }) }
}

const belowOf = async (queries: ScalesQueries, loc: string, asked: string): Promise<number> => {
  if (asked === 'true') return (await queries.settings(loc)).low_battery_pct
  if (Number(asked) <= 100) return Number(asked)
  throw mistake(400, { pointer: 'querystring/low_battery', code: 'out-of-range', detail: 'querystring/low_battery must be true or from 0 to 100.' })
}

const oneDevice = question({
  method: 'GET',
  url: '/v1/locations/:loc/devices/:device',
  operationId: 'getDevice',
  summary: 'One device: its status, telemetry and calibration.',
  result: deviceSchema,
  answer: async (call) => {
    const { device, loc, ...found } = await heldDevice(call, deviceOf(call))
    return deviceView(device, loc, found)
  },
})

const claimDevice = command({
  method: 'POST',
  url: '/v1/locations/:loc/devices',
  operationId: 'claimDevice',
  summary: 'Claim a device for the location. The first to claim it has it until they release it.',
  body: { type: 'object', additionalProperties: false, required: ['device_id'], properties: { device_id: idSchema } },
  status: 201,
  result: deviceSchema,
  decide: (call) => {
    const { device_id } = call.body
    const data: DeviceClaimedData = { device_id, loc_id: locOf(call) }
    return { key: device_id, id: device_id, draft: { type: 'DeviceClaimed', data, personal: null } }
  },
  answer: async (call) => {
    const [queries, loc, { device_id }] = [scalesQueries(call.caller.reader), locOf(call), call.body]
    const claim = await queries.claim(device_id)
    return claim?.loc_id === loc ? deviceView(device_id, loc, await registered(queries, device_id, claim.epoch)) : undefined
  },
})

/** Its registration is an event of the location's, which follows the claim at once: worth a moment, so that the device can be used. */
const registered = (queries: ScalesQueries, device: string, epoch: number): Promise<Device> => soon(() => queries.device(device, epoch), ({ meta }) => meta !== undefined)

const [LOOKS, PAUSE_MS] = [40, 25]

/** What is derived of an event, once it is there; or for all that is known after a second. */
const soon = async <T>(look: () => Promise<T>, isThere: (found: T) => boolean): Promise<T> => {
  let found = await look()
  for (let looks = 1; looks < LOOKS && !isThere(found); looks += 1) {
    await setTimeout(PAUSE_MS)
    found = await look()
  }
  return found
}

const releaseDevice = command({
  method: 'DELETE',
  url: '/v1/locations/:loc/devices/:device',
  operationId: 'releaseDevice',
  summary: 'Give a device up, so that another location can claim it.',
  status: 200,
  result: { type: 'object', required: ['id', 'released'], properties: { id: { type: 'string' }, released: { type: 'boolean' } } },
  decide: async (call) => {
    const [loc, device] = [locOf(call), deviceOf(call)]
    // One that was given up before, too; one that was claimed a moment ago is registered soon.
    if ((await scalesQueries(call.caller.reader).devicePointer(loc, device)) === undefined) await heldDevice(call, device)
    return { key: loc, id: device, draft: { type: 'DeviceReleased', data: { device_id: device } satisfies DeviceReleasedData, personal: null } }
  },
  answer: async (call) => {
    const [queries, loc, device] = [scalesQueries(call.caller.reader), locOf(call), deviceOf(call)]
    // Its claim is another key's, and ends a moment later: whoever hears that it is free may claim it.
    await soon(() => queries.claim(device), (claim) => claim?.loc_id !== loc)
    return { id: device, released: true }
  },
})

export const deviceRoutes: readonly Route[] = atLocation([listDevices, oneDevice, claimDevice, releaseDevice])
