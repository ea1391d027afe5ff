import type { TapItem } from '../../projections/scales/items.ts'
import type { Tap } from '../../projections/scales/queries.ts'
import { listOf } from '../http/lists.ts'
import { mistake, Problem } from '../http/problem.ts'
import { command, question, type Call, type Route } from '../http/route.ts'
import { bool, text } from '../http/schemas.ts'
import { heldDevice } from './devices.ts'
import { event, idSchema, instantSchema, pastOf, queriesOf, tapOf } from './params.ts'
import { atLocation, locOf } from './rights.ts'
import { tapAnswer, wholeTapAnswer } from './tap-views.ts'
import { discrepancies, kegs, tares, timelines } from '../../projections/scales/keys.ts'

type Asked = Pick<Call, 'caller' | 'params'>

export const tapThere = async (call: Asked): Promise<Tap & { readonly loc: string; readonly tap: string }> => {
  const [loc, tap] = [locOf(call), tapOf(call)]
  const found = await queriesOf(call).tap(loc, tap)
  if (found === undefined) throw tapOf.missing(tap)
  return { loc, tap, ...found }
}

/** The tap with its keg, the tare of that keg, and the discrepancy between scale and weight. */
const wholeTap = async (call: Asked) => {
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
  summary: 'All taps of a location with their state.',
  result: listOf(tapAnswer.schema),
  answer: async (call) => ({ items: (await queriesOf(call).taps(locOf(call))).map(({ config, state }) => tapAnswer.view(config, state)) }),
})

const oneTap = question({
  method: 'GET',
  url: '/v1/locations/:loc/taps/:tap',
  operationId: 'getTap',
  summary: 'One tap: its configuration, state, keg and tare.',
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
  summary: 'Remove a tap: its keg ends, its device is free.',
  status: 200,
  result: { type: 'object', required: ['tap', 'removed'], properties: { tap: text, removed: bool } },
  decide: async (call) => {
    const [loc, tap] = [locOf(call), tapOf(call)]
    // A removed tap has a timeline too: the repeated event changes nothing.
    if ((await timelines.get(call.caller.reader, loc, tap)) === undefined) throw tapOf.missing(tap)
    return { key: loc, draft: event('TapRemoved', { tap }) }
  },
  answer: async (call) => ({ tap: tapOf(call), removed: true }),
})

const assignDevice = command({
  method: 'PUT',
  url: '/v1/locations/:loc/taps/:tap/device',
  operationId: 'assignDevice',
  summary: 'Put a device of the location under the tap. A device has one tap and a tap one device.',
  body: { type: 'object', additionalProperties: false, required: ['device_id'], properties: { device_id: idSchema, since: { ...instantSchema, description: 'Since when the device is under the tap. Default: now. Older readings have no tap.' } } },
  status: 200,
  result: wholeTapAnswer.schema,
  decide: async (call) => {
    const { loc, device, meta } = await heldDevice(call, call.body.device_id)
    if (meta === undefined) throw new Problem(503, 'not-yet-visible', `${device} was claimed a moment ago and is being registered: send it again.`, { retryAfter: 1 })
    return { key: loc, draft: event('DeviceAssigned', { tap: tapOf(call), device_id: device }), occurredAt: pastOf(call.body.since, '/since', call.now) }
  },
  answer: wholeTap,
})

const unassignDevice = command({
  method: 'DELETE',
  url: '/v1/locations/:loc/taps/:tap/device',
  operationId: 'unassignDevice',
  summary: 'Take the device away from the tap.',
  status: 200,
  result: wholeTapAnswer.schema,
  decide: async (call) => {
    const { loc, tap, config } = await tapThere(call)
    const device_id = config.device_id ?? config._left
    if (device_id === undefined) throw new Problem(409, 'tap-without-device', `No device stands under tap ${tap}.`)
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
    value_lbs: { type: 'number', minimum: 0, maximum: 1_000, description: 'What the scale said with an empty or a full keg.' },
    at: instantSchema,
  },
} as const

const recordTare = command({
  method: 'POST',
  url: '/v1/locations/:loc/taps/:tap/tare',
  operationId: 'recordTare',
  summary: 'Record a tare of the keg on the tap. A full one is kept with its beer, too.',
  body: tareBody,
  status: 200,
  result: wholeTapAnswer.schema,
  decide: async (call) => {
    const { loc, tap, config } = await tapThere(call)
    if (config.keg_id === null) throw withoutKeg(tap)
    const { kind, value_lbs, at } = call.body
    demandTare(config, kind, value_lbs)
    return { key: loc, draft: event('TareRecorded', { kind, tap, device_id: config.device_id ?? null, value_lbs, at: pastOf(at, '/at', call.now) }) }
  },
  answer: wholeTap,
})

/** A tare that the keg on the tap cannot have would be kept with its beer, for every keg to come. */
const demandTare = ({ full_lbs, empty_lbs }: TapItem, kind: string, value_lbs: number): void => {
  const out = (detail: string): Problem => mistake(400, { pointer: '/value_lbs', code: 'out-of-range', detail })
  if (kind === 'full' && empty_lbs !== null && value_lbs <= empty_lbs) throw out(`/value_lbs of a full keg must be more than it weighs empty, ${empty_lbs}.`)
  if (kind === 'empty' && full_lbs !== null && value_lbs >= full_lbs) throw out(`/value_lbs of an empty keg must be less than it weighs full, ${full_lbs}.`)
}

export const withoutKeg = (tap: string): Problem => new Problem(409, 'tap-without-keg', `No keg is on tap ${tap}: POST one to …/taps/${tap}/keg first.`)

export const tapRoutes: readonly Route[] = atLocation([listTaps, oneTap, removeTap, assignDevice, unassignDevice, recordTare])
