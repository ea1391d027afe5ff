import type { TapItem } from '../../projections/scales/items.ts'
import type { Tap } from '../../projections/scales/queries.ts'
import { listOf } from '../http/lists.ts'
import { mistake, Problem } from '../http/problem.ts'
import { command, question, type Call, type Route } from '../http/route.ts'
import { bool, text } from '../http/schemas.ts'
import { ownedDevice } from './owned-device.ts'
import { event, idSchema, instantSchema, pastOf, queriesOf, tapOf } from './params.ts'
import { atLocation, locOf } from './rights.ts'
import { tapAnswer, wholeTapAnswer } from './tap-views.ts'
import { discrepancies, kegs, tares, timelines } from '../../projections/scales/keys.ts'

type TapCall = Pick<Call, 'caller' | 'params'>

/** The tap in the path. Throws `tap-not-found` if it does not exist. */
export const existingTap = async (call: TapCall): Promise<Tap & { readonly loc: string; readonly tap: string }> => {
  const [loc, tap] = [locOf(call), tapOf(call)]
  const found = await queriesOf(call).tap(loc, tap)
  if (found === undefined) throw tapOf.missing(tap)
  return { loc, tap, ...found }
}

/** The tap with its keg, the tare of the keg, and the discrepancy between the reported level and the weight. Undefined if there is no such tap. */
const wholeTap = async (call: TapCall) => {
  const { reader } = call.caller
  const [loc, tap] = [locOf(call), tapOf(call)]
  const [found, discrepancy] = await Promise.all([queriesOf(call).tap(loc, tap), discrepancies.get(reader, loc, tap)])
  if (found === undefined) return undefined
  const id = found.config.keg_id
  const [keg, tare] = id === null ? [] : await Promise.all([kegs.get(reader, id), tares.get(reader, id)])
  return wholeTapAnswer.view(found.config, found.state, { keg, tare, discrepancy })
}

const listTaps = question({
  method: 'GET',
  url: '/v1/locations/:loc/taps',
  operationId: 'listTaps',
  summary: 'List all taps of a location with their state.',
  result: listOf(tapAnswer.schema),
  answer: async (call) => ({
    items: (await queriesOf(call).taps(locOf(call))).map(({ config, state }) => tapAnswer.view(config, state)),
  }),
})

const oneTap = question({
  method: 'GET',
  url: '/v1/locations/:loc/taps/:tap',
  operationId: 'getTap',
  summary: 'Get a tap with its configuration, state, keg and tare.',
  result: wholeTapAnswer.schema,
  answer: async (call) => {
    const tap = await wholeTap(call)
    if (tap === undefined) throw tapOf.missing(tapOf(call))
    return tap
  },
})

const removeTap = command({
  method: 'DELETE',
  url: '/v1/locations/:loc/taps/:tap',
  operationId: 'removeTap',
  summary: 'Remove a tap. Its keg ends, and its device becomes free.',
  status: 200,
  result: { type: 'object', required: ['tap', 'removed'], properties: { tap: text, removed: bool } },
  decide: async (call) => {
    const [loc, tap] = [locOf(call), tapOf(call)]
    // The item with the history of the tap (timeline) stays after a removal, so the request can be repeated. The second event changes nothing.
    if ((await timelines.get(call.caller.reader, loc, tap)) === undefined) throw tapOf.missing(tap)
    return { key: loc, draft: event('TapRemoved', { tap }) }
  },
  answer: async (call) => ({ tap: tapOf(call), removed: true }),
})

const assignDevice = command({
  method: 'PUT',
  url: '/v1/locations/:loc/taps/:tap/device',
  operationId: 'assignDevice',
  summary: 'Assign a device of the location to the tap. A device has at most one tap, and a tap at most one device.',
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['device_id'],
    properties: {
      device_id: idSchema,
      since: {
        ...instantSchema,
        description: 'When the device was put under the tap. Default: now. Readings from before have no tap.',
      },
    },
  },
  status: 200,
  result: wholeTapAnswer.schema,
  decide: async (call) => {
    const { loc, device, meta } = await ownedDevice(call, call.body.device_id)
    if (meta === undefined)
      throw new Problem(
        503,
        'not-yet-visible',
        `${device} was claimed a moment ago and is not registered yet. Send the request again.`,
        { retryAfter: 1 },
      )
    return {
      key: loc,
      draft: event('DeviceAssigned', { tap: tapOf(call), device_id: device }),
      occurredAt: pastOf(call.body.since, '/since', call.now),
    }
  },
  answer: wholeTap,
})

const unassignDevice = command({
  method: 'DELETE',
  url: '/v1/locations/:loc/taps/:tap/device',
  operationId: 'unassignDevice',
  summary: 'Remove the device from the tap.',
  status: 200,
  result: wholeTapAnswer.schema,
  decide: async (call) => {
    const { loc, tap, config } = await existingTap(call)
    const device_id = config.device_id ?? config._left
    if (device_id === undefined) throw new Problem(409, 'tap-without-device', `Tap ${tap} has no device.`)
    return { key: loc, draft: event('DeviceUnassigned', { tap, device_id }) }
  },
  answer: wholeTap,
})

const tareBody = {
  type: 'object',
  additionalProperties: false,
  required: ['kind', 'value_lbs'],
  properties: {
    kind: { type: 'string', enum: ['empty', 'full'] },
    value_lbs: {
      type: 'number',
      minimum: 0,
      maximum: 1_000,
      description: 'The weight that the scale measured with an empty or a full keg.',
    },
    at: instantSchema,
  },
} as const

const recordTare = command({
  method: 'POST',
  url: '/v1/locations/:loc/taps/:tap/tare',
  operationId: 'recordTare',
  summary: 'Record a tare of the keg on the tap. A full tare also updates the weights of its beer.',
  body: tareBody,
  status: 200,
  result: wholeTapAnswer.schema,
  decide: async (call) => {
    const { loc, tap, config } = await existingTap(call)
    if (config.keg_id === null) throw noKegOnTap(tap)
    const { kind, value_lbs, at } = call.body
    checkTare(config, kind, value_lbs)
    return {
      key: loc,
      draft: event('TareRecorded', {
        kind,
        tap,
        device_id: config.device_id ?? null,
        value_lbs,
        at: pastOf(at, '/at', call.now),
      }),
    }
  },
  answer: wholeTap,
})

/** Throws if the full weight is not above the empty weight of the keg. The fold would store a wrong weight with the beer, for all later kegs. */
const checkTare = ({ full_lbs, empty_lbs }: TapItem, kind: string, value_lbs: number): void => {
  const out = (detail: string): Problem => mistake(400, { pointer: '/value_lbs', code: 'out-of-range', detail })
  if (kind === 'full' && empty_lbs !== null && value_lbs <= empty_lbs)
    throw out(`/value_lbs of a full keg must be more than its empty weight, ${empty_lbs}.`)
  if (kind === 'empty' && full_lbs !== null && value_lbs >= full_lbs)
    throw out(`/value_lbs of an empty keg must be less than its full weight, ${full_lbs}.`)
}

export const noKegOnTap = (tap: string): Problem =>
  new Problem(409, 'tap-without-keg', `Tap ${tap} has no keg. POST one to …/taps/${tap}/keg first.`)

export const tapRoutes: readonly Route[] = atLocation([
  listTaps,
  oneTap,
  removeTap,
  assignDevice,
  unassignDevice,
  recordTare,
])
