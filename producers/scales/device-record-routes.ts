import { goneTokens, isName, tokens } from '../../projections/access/keys.ts'
import { listing, listOf, pagingOf, pagingSchema } from '../http/lists.ts'
import { pathId } from '../http/path-id.ts'
import { Problem } from '../http/problem.ts'
import { command, question, type Call, type Route } from '../http/route.ts'
import { bool, text } from '../http/schemas.ts'
import { issue, revoke } from '../access/token-routes.ts'
import { calibrationAnswer, quarantineCountAnswer, quarantinedAnswer } from './device-views.ts'
import { deviceTokenSchema, deviceTokenView, isTokenAt } from './device-tokens.ts'
import { ownedDevice } from './owned-device.ts'
import { LIMITS } from './limits.ts'
import { deviceOf, event, instantSchema, pastOf } from './params.ts'
import { atLocation } from './rights.ts'
import { pastCalibrations, quarantineCounts, quarantined, quarantinedAt } from '../../projections/scales/keys.ts'

const ownDevice = (call: Pick<Call, 'caller' | 'params'>) => ownedDevice(call, deviceOf(call))
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
    const { loc, device } = await ownDevice(call)
    const { factor, offset, at } = call.body
    return {
      key: loc,
      draft: event('DeviceCalibrated', { device_id: device, factor, offset, at: pastOf(at, '/at', call.now) }),
    }
  },
  answer: async (call) => {
    const { calibration } = await ownDevice(call)
    return calibration && calibrationAnswer.view(calibration)
  },
})

const calibrations = listing({
  url: '/v1/locations/:loc/devices/:device/calibrations',
  operationId: 'listCalibrations',
  summary: 'List the calibrations of a scale, newest first.',
  of: calibrationAnswer,
  page: async (call, paging) => {
    const { device, epoch } = await ownDevice(call)
    return pastCalibrations.page(call.caller.reader, device, epoch, { reverse: true, ...paging })
  },
})

const quarantinedList = listOf(quarantinedAnswer.schema)

const quarantine = question({
  method: 'GET',
  url: '/v1/locations/:loc/devices/:device/quarantine',
  operationId: 'listQuarantine',
  summary:
    'List the quarantined readings of a device with their reasons, newest first. They are stored for 30 days, and their number permanently.',
  query: {
    type: 'object',
    additionalProperties: false,
    properties: {
      unclaimed: {
        type: 'string',
        enum: ['true', 'false'],
        description: 'true: the readings from the time when no location had claimed the device.',
      },
      ...pagingSchema,
    },
  },
  result: { ...quarantinedList, properties: { ...quarantinedList.properties, count: quarantineCountAnswer.schema } },
  answer: async (call) => {
    const { loc, device } = await ownDevice(call)
    const key = call.query.unclaimed === 'true' ? device : loc
    const [{ items, ...rest }, count] = await Promise.all([
      quarantined.page(call.caller.reader, key, {
        under: quarantinedAt(device),
        reverse: true,
        ...pagingOf(call.query),
      }),
      quarantineCounts.get(call.caller.reader, key, device),
    ])
    return {
      items: items.map((item) => quarantinedAnswer.view(item)),
      ...rest,
      count: quarantineCountAnswer.view(count),
    }
  },
})

const issueToken = command({
  method: 'POST',
  url: '/v1/locations/:loc/devices/:device/tokens',
  operationId: 'issueDeviceToken',
  summary:
    'Create a token for the device, for MQTT and HTTP. Only this answer contains the secret. The token ends when the location releases the device, or when its creator leaves the location.',
  status: 201,
  result: deviceTokenSchema,
  decide: async (call) => {
    const { device } = await ownDevice(call)
    return { key: device, ...issue(call, ['device'], null) }
  },
  answer: async (call, { id = '', unstored }) => {
    const pat = await tokens.get(call.caller.reader, deviceOf(call), id)
    return pat && deviceTokenView(call.caller.reader, { ...pat, ...unstored })
  },
})

const listTokens = listing({
  url: '/v1/locations/:loc/devices/:device/tokens',
  operationId: 'listDeviceTokens',
  summary:
    'List the tokens of a device: who created each, when, the last day of its use, and when it ended. Revoked tokens and tokens of other locations are not listed.',
  // `page` creates the views, because the view of a token reads items and is therefore asynchronous.
  of: { schema: deviceTokenSchema, view: (token) => token },
  page: async (call, paging) => {
    const at = await ownDevice(call)
    const { items, ...rest } = await tokens.page(call.caller.reader, at.device, paging)
    return {
      items: await Promise.all(
        items.filter((item) => isTokenAt(item, at)).map((item) => deviceTokenView(call.caller.reader, item)),
      ),
      ...rest,
    }
  },
})

const revokeToken = command({
  method: 'DELETE',
  url: '/v1/locations/:loc/devices/:device/tokens/:token',
  operationId: 'revokeDeviceToken',
  summary: 'Revoke a token of a device. It ends immediately.',
  status: 200,
  result: { type: 'object', required: ['id', 'revoked'], properties: { id: text, revoked: bool } },
  decide: async (call) => {
    const at = await ownDevice(call)
    const { device } = at
    const patId = tokenOf(call)
    const pat = await tokens.get(call.caller.reader, device, patId)
    const isGone = pat === undefined && (await goneTokens.get(call.caller.reader, device, patId)) !== undefined
    if (!isGone && (pat === undefined || !isTokenAt(pat, at))) throw tokenOf.missing(patId)
    return { key: device, ...revoke(patId) }
  },
  answer: async (_call, { id }) => ({ id, revoked: true }),
})

export const deviceRecordRoutes: readonly Route[] = atLocation([
  calibrate,
  calibrations,
  quarantine,
  issueToken,
  listTokens,
  revokeToken,
])
