import { expandWithDocs } from '../../schemas/avro.ts'
import { AVRO, type Json } from '../http/asyncapi.ts'
import { ENVELOPE, EVENT_TYPES, MOST_BY_MQTT } from './envelope.ts'
import { LIMITS } from './limits.ts'
import { AVRO_HEADER } from './payload.ts'

const number = { type: 'number' } as const
const text = { type: 'string' } as const
const count = { type: 'integer', minimum: 0 } as const
const { lbs, volts, percent, level } = LIMITS
const tares = { tare_empty_offset: lbs, tare_full_lbs: lbs }
const clock = { oneOf: [{ type: 'integer', description: 'Epoch milliseconds.' }, { type: 'string', format: 'date-time' }] } as const

const event = (type: string, properties: object, required: readonly string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  required: ['seq', 'type', 'data'],
  properties: { seq: count, type: { const: type }, age_ms: { ...count, description: 'How long ago when it was sent.' }, data: { type: 'object', additionalProperties: false, properties, required } },
})

const envelope = {
  type: 'object',
  additionalProperties: false,
  required: ['v', 'boot', 'events'],
  properties: {
    v: { const: 1 },
    boot: { type: ['string', 'integer'], description: 'Changes whenever the device starts.' },
    sent_uptime_ms: count,
    dropped: { ...count, description: 'Events lost for lack of room since the device booted.' },
    events: {
      type: 'array',
      minItems: 1,
      maxItems: MOST_BY_MQTT,
      items: {
        oneOf: [
          event('reading', { device_ts: clock, weight_lbs: lbs, level_pct: level, battery_v: volts, battery_pct: percent, tare_status: text, fw: text }),
          event('telemetry', { battery_v: volts, battery_pct: percent, ...tares, fw: text }),
          event('tare', { kind: { enum: ['empty', 'full'] }, value_lbs: lbs }, ['kind', 'value_lbs']),
          event('calibration', { factor: number, offset: number }, ['factor', 'offset']),
        ],
      },
    },
  },
}

const status = {
  type: 'object',
  additionalProperties: false,
  required: ['online'],
  properties: { v: { const: 1 }, online: { type: 'boolean' }, boot: { type: ['string', 'integer'] }, fw: text, dropped: count, sent_uptime_ms: count, ...tares },
}

const parameters = { loc: { description: 'The location that holds the device.' }, device: { description: 'The device; also its user name and client id.' } } as const

/** How scales speak MQTT; docs/devices.md says it in words. */
export const deviceChannels: Json = {
  deviceMessages: {
    address: 'scale-sense/{loc}/{device}/{kind}',
    description: `QoS 1, not retained; acknowledged after the log has it. At most ${MOST_BY_MQTT} events a message; see docs/devices.md.`,
    parameters: { ...parameters, kind: { enum: EVENT_TYPES } },
    messages: {
      envelope: { contentType: 'application/json', payload: envelope },
      avro: { contentType: 'application/avro', summary: `The same in Avro's single-object encoding; begins with ${AVRO_HEADER.toString('hex')}.`, payload: { schemaFormat: AVRO, schema: expandWithDocs(ENVELOPE, new Map()) } },
    },
  },
  deviceStatus: {
    address: 'scale-sense/{loc}/{device}/status',
    description: 'QoS 1, retained; also the last will.',
    parameters,
    messages: { status: { contentType: 'application/json', payload: status } },
  },
}
