import type { PatIssuedData, PatRevokedData } from '../../schemas/generated/common.ts'
import type { DeviceCalibratedData } from '../../schemas/generated/scales.ts'
import { isName } from '../../projections/access/keys.ts'
import { scalesQueries } from '../../projections/scales/queries.ts'
import { listOf, pagingOf, pagingSchema } from '../http/lists.ts'
import { Problem } from '../http/problem.ts'
import { command, question, type Call, type Route } from '../http/route.ts'
import { bool, text } from '../http/schemas.ts'
import { mintToken } from '../pat.ts'
import { calibrationSchema, calibrationView, countSchema, countView, quarantinedSchema, quarantinedView } from './device-views.ts'
import { deviceTokenSchema, deviceTokenView, isTokenAt } from './device-tokens.ts'
import { heldDevice } from './devices.ts'
import { LIMITS } from './limits.ts'
import { deviceOf, instantSchema, pastOf } from './params.ts'
import { atLocation } from './rights.ts'

const held = (call: Pick<Call, 'caller' | 'params'>) => heldDevice(call, deviceOf(call))
const paging = { type: 'object', additionalProperties: false, properties: pagingSchema } as const

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
  result: calibrationSchema,
  decide: async (call) => {
    const { loc, device } = await held(call)
    const data: DeviceCalibratedData = { device_id: device, factor: call.body.factor, offset: call.body.offset, at: pastOf(call.body.at, '/at', call.now) }
    return { key: loc, draft: { type: 'DeviceCalibrated', data, personal: null } }
  },
  answer: async (call) => {
    const { calibration } = await held(call)
    return calibration && calibrationView(calibration)
  },
})

const calibrations = question({
  method: 'GET',
  url: '/v1/locations/:loc/devices/:device/calibrations',
  operationId: 'listCalibrations',
  summary: 'The calibrations of a scale, the newest first.',
  query: paging,
  result: listOf(calibrationSchema),
  answer: async (call) => {
    const { device, epoch } = await held(call)
    const { items, ...rest } = await scalesQueries(call.caller.reader).calibrations(device, epoch, pagingOf(call.query))
    return { items: items.map(calibrationView), ...rest }
  },
})

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
  result: { ...listOf(quarantinedSchema), properties: { ...listOf(quarantinedSchema).properties, count: countSchema } },
  answer: async (call) => {
    const { loc, device } = await held(call)
    const [queries, key] = [scalesQueries(call.caller.reader), call.query.unclaimed === 'true' ? device : loc]
    const [{ items, ...rest }, count] = await Promise.all([queries.quarantined(key, device, pagingOf(call.query)), queries.quarantineCount(key, device)])
    return { items: items.map(quarantinedView), ...rest, count: countView(count) }
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
    const { token, hash } = mintToken('scales', call.randomBytes)
    const patId = call.newId()
    const data: PatIssuedData = { patId, hash, scopes: ['device'] }
    return { key: device, id: patId, draft: { type: 'PatIssued', data, personal: null }, shown: { token } }
  },
  answer: async (call, { id = '', shown }) => {
    const { reader } = call.caller
    const pat = await scalesQueries(reader).token(deviceOf(call), id)
    return pat && { ...(await deviceTokenView(reader, pat)), ...shown }
  },
})

const listTokens = question({
  method: 'GET',
  url: '/v1/locations/:loc/devices/:device/tokens',
  operationId: 'listDeviceTokens',
  summary: 'The tokens of a device: who created each, when, the last day of its use, and when it ended. Revoked tokens and tokens of other locations are not listed.',
  query: paging,
  result: listOf(deviceTokenSchema),
  answer: async (call) => {
    const { reader } = call.caller
    const at = await held(call)
    const { items, ...rest } = await scalesQueries(reader).tokens(at.device, pagingOf(call.query))
    return { items: await Promise.all(items.filter((item) => isTokenAt(item, at)).map((item) => deviceTokenView(reader, item))), ...rest }
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
    const patId = call.params['token'] ?? ''
    const [queries, isToken] = [scalesQueries(call.caller.reader), isName(patId)]
    const pat = isToken ? await queries.token(device, patId) : undefined
    const isGone = isToken && pat === undefined && (await queries.goneToken(device, patId)) !== undefined
    if (!isGone && (pat === undefined || !isTokenAt(pat, at))) throw new Problem(404, 'token-not-found', 'The device has no such token.')
    return { key: device, id: patId, draft: { type: 'PatRevoked', data: { patId } satisfies PatRevokedData, personal: null } }
  },
  answer: async (_call, { id }) => ({ id, revoked: true }),
})

export const deviceRecordRoutes: readonly Route[] = atLocation([calibrate, calibrations, quarantine, issueToken, listTokens, revokeToken])
