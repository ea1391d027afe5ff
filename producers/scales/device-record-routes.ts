import { goneTokens, isName, tokens } from '../../projections/access/keys.ts'
import { listing, listOf, pagingOf, pagingSchema } from '../http/lists.ts'
import { pathId } from '../http/path-id.ts'
import { Problem } from '../http/problem.ts'
import { command, question, type Call, type Route } from '../http/route.ts'
import { bool, text } from '../http/schemas.ts'
import { issue, revoke } from '../token-routes.ts'
import { calibrationAnswer, quarantineCountAnswer, quarantinedAnswer } from './device-views.ts'
import { deviceTokenSchema, deviceTokenView, isTokenAt } from './device-tokens.ts'
import { heldDevice } from './devices.ts'
import { LIMITS } from './limits.ts'
import { deviceOf, event, instantSchema, pastOf } from './params.ts'
import { atLocation } from './rights.ts'
import { pastCalibrations, quarantineCounts, quarantined, quarantinedAt } from '../../projections/scales/keys.ts'

const held = (call: Pick<Call, 'caller' | 'params'>) => heldDevice(call, deviceOf(call))
const tokenOf = pathId('token', isName, () => new Problem(404, 'token-not-found', 'The device has no such token.'))

const calibrate = command({
  method: 'POST',
  url: '/v1/locations/:loc/devices/:device/calibration',
  operationId: 'recordCalibration',
  summary: 'Record a calibration of a scale.',
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['factor', 'offset'],
    properties: { factor: LIMITS.calibration, offset: LIMITS.calibration, at: instantSchema },
  },
  status: 200,
  result: calibrationAnswer.schema,
  decide: async (call) => {
    const { loc, device } = await held(call)
    const { factor, offset, at } = call.body
    return { key: loc, draft: event('DeviceCalibrated', { device_id: device, factor, offset, at: pastOf(at, '/at', call.now) }) }
  },
  answer: async (call) => {
    const { calibration } = await held(call)
    return calibration && calibrationAnswer.view(calibration)
  },
})

const calibrations = listing({
  url: '/v1/locations/:loc/devices/:device/calibrations',
  operationId: 'listCalibrations',
  summary: 'The calibrations of a scale, the newest first.',
  of: calibrationAnswer,
  page: async (call, paging) => {
    const { device, epoch } = await held(call)
    return pastCalibrations.page(call.caller.reader, device, epoch, { reverse: true, ...paging })
  },
})

const quarantinedList = listOf(quarantinedAnswer.schema)

const quarantine = question({
  method: 'GET',
  url: '/v1/locations/:loc/devices/:device/quarantine',
  operationId: 'listQuarantine',
  summary: 'Readings of a device that were not believed, with the reason, the newest first. They are kept for 30 days, their number for good.',
  query: {
    type: 'object',
    additionalProperties: false,
    properties: { unclaimed: { type: 'string', enum: ['true', 'false'], description: 'true: those from when nobody held the device.' }, ...pagingSchema },
  },
  result: { ...quarantinedList, properties: { ...quarantinedList.properties, count: quarantineCountAnswer.schema } },
  answer: async (call) => {
    const { loc, device } = await held(call)
    const key = call.query.unclaimed === 'true' ? device : loc
    const [{ items, ...rest }, count] = await Promise.all([quarantined.page(call.caller.reader, key, { under: quarantinedAt(device), reverse: true, ...pagingOf(call.query) }), quarantineCounts.get(call.caller.reader, key, device)])
    return { items: items.map((item) => quarantinedAnswer.view(item)), ...rest, count: quarantineCountAnswer.view(count) }
  },
})

const issueToken = command({
  method: 'POST',
  url: '/v1/locations/:loc/devices/:device/tokens',
  operationId: 'issueDeviceToken',
  summary: 'Create a token for the device, for MQTT and HTTP. The secret is in this answer only. The token ends when the device leaves the location, or its creator does.',
  status: 201,
  result: deviceTokenSchema,
  decide: async (call) => {
    const { device } = await held(call)
    return { key: device, ...issue(call, ['device'], null) }
  },
  answer: async (call, { id = '', shown }) => {
    const pat = await tokens.get(call.caller.reader, deviceOf(call), id)
    return pat && deviceTokenView(call.caller.reader, { ...pat, ...shown })
  },
})

const listTokens = listing({
  url: '/v1/locations/:loc/devices/:device/tokens',
  operationId: 'listDeviceTokens',
  summary: 'The tokens of a device: who created each, when, the last day of its use, and when it ended. Revoked tokens and tokens of other locations are not listed.',
  // The view of a token reads items, so `page` resolves it.
  of: { schema: deviceTokenSchema, view: (token) => token },
  page: async (call, paging) => {
    const at = await held(call)
    const { items, ...rest } = await tokens.page(call.caller.reader, at.device, paging)
    return { items: await Promise.all(items.filter((item) => isTokenAt(item, at)).map((item) => deviceTokenView(call.caller.reader, item))), ...rest }
  },
})

const revokeToken = command({
  method: 'DELETE',
  url: '/v1/locations/:loc/devices/:device/tokens/:token',
  operationId: 'revokeDeviceToken',
  summary: 'Revoke a token of a device, at once.',
  status: 200,
  result: { type: 'object', required: ['id', 'revoked'], properties: { id: text, revoked: bool } },
  decide: async (call) => {
    const at = await held(call)
    const { device } = at
    const patId = tokenOf(call)
    const pat = await tokens.get(call.caller.reader, device, patId)
    const isGone = pat === undefined && (await goneTokens.get(call.caller.reader, device, patId)) !== undefined
    if (!isGone && (pat === undefined || !isTokenAt(pat, at))) throw tokenOf.missing(patId)
    return { key: device, ...revoke(patId) }
  },
  answer: async (_call, { id }) => ({ id, revoked: true }),
})

export const deviceRecordRoutes: readonly Route[] = atLocation([calibrate, calibrations, quarantine, issueToken, listTokens, revokeToken])
