import { expandWithDocs } from '../../schemas/avro.ts'
import { AVRO, type Json } from '../http/asyncapi.ts'
import { ENVELOPE, EVENT_TYPES, MOST_BY_MQTT, TOPIC_ROOT } from './device-envelope.ts'
import { LIMITS } from './limits.ts'
import { AVRO_HEADER } from './device-payload.ts'

const number = { type: 'number' } as const
const text = { type: 'string' } as const
const count = { type: 'integer', minimum: 0 } as const
const { lbs, volts, percent, level } = LIMITS
const tares = { tare_empty_offset: lbs, tare_full_lbs: lbs }
const clock = {
  oneOf: [
    { type: 'integer', description: 'Epoch milliseconds.' },
    { type: 'string', format: 'date-time' },
  ],
} as const

const event = (type: string, properties: object, required: readonly string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  required: ['seq', 'type', 'data'],
  properties: {
    seq: count,
    type: { const: type },
    age_ms: { ...count, description: 'Age of the event when the message is sent.' },
    data: { type: 'object', additionalProperties: false, properties, required },
  },
})

const envelope = {
  type: 'object',
  additionalProperties: false,
  required: ['v', 'boot', 'events'],
  properties: {
    v: { const: 1 },
    boot: { type: ['string', 'integer'], description: 'A value that changes at each start of the device.' },
    sent_uptime_ms: count,
    dropped: { ...count, description: 'Events that the device has lost since it booted, because its buffer was full.' },
    events: {
      type: 'array',
      minItems: 1,
      maxItems: MOST_BY_MQTT,
      items: {
        oneOf: [
          event('reading', {
            device_ts: clock,
            weight_lbs: lbs,
            level_pct: level,
            battery_v: volts,
            battery_pct: percent,
            tare_status: text,
            fw: text,
          }),
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
  properties: {
    v: { const: 1 },
    online: { type: 'boolean' },
    boot: { type: ['string', 'integer'] },
    fw: text,
    dropped: count,
    sent_uptime_ms: count,
    ...tares,
  },
}

const parameters = {
  loc: { description: 'The location that has claimed the device.' },
  device: { description: 'The device id. It is also the user name and the client id.' },
} as const

/** The MQTT channels of scales for the AsyncAPI document. docs/devices.md describes them. */
export const deviceChannels: Json = {
  deviceMessages: {
    address: `${TOPIC_ROOT}/{loc}/{device}/{kind}`,
    description: `QoS 1, not retained. A message is acknowledged when the log has its events. At most ${MOST_BY_MQTT} events per message. See docs/devices.md.`,
    parameters: { ...parameters, kind: { enum: EVENT_TYPES } },
    messages: {
      envelope: { contentType: 'application/json', payload: envelope },
      avro: {
        contentType: 'application/avro',
        summary: `The same envelope in Avro's single-object encoding. It begins with ${AVRO_HEADER.toString('hex')}.`,
        payload: { schemaFormat: AVRO, schema: expandWithDocs(ENVELOPE, new Map()) },
      },
    },
  },
  deviceStatus: {
    address: `${TOPIC_ROOT}/{loc}/{device}/status`,
    description: 'QoS 1, retained. Also the last will.',
    parameters,
    messages: { status: { contentType: 'application/json', payload: status } },
  },
}
