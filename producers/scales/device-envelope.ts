import type { NamedSchema, RecordSchema, Schema } from '../../schemas/avro.ts'

/** The first level of the topics of all scales. */
export const TOPIC_ROOT = 'scale-sense'

/** The types of events in an envelope. The Avro schema, `/openapi.json` and `/asyncapi.json` contain the same types. */
export const EVENT_TYPES = ['reading', 'telemetry', 'tare', 'calibration'] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** The maximum number of events in one message. A batch over HTTP can contain more. */
export const MOST_BY_MQTT = 16
export const MOST_BY_HTTP = 1_000

const optional = (type: Schema): Schema => ['null', type]
const field = (name: string, type: Schema) => ({ name, type })
const record = (name: string, fields: RecordSchema['fields']): RecordSchema => ({ name, type: 'record', fields })

/** The envelope in Avro's canonical form. The order of the attributes matters, because the fingerprint is computed from the text. */
export const ENVELOPE: NamedSchema = record('tributary.scales.DeviceEnvelope', [
  field('v', 'int'),
  field('boot', 'string'),
  field('sent_uptime_ms', optional('long')),
  field('dropped', optional('long')),
  field('events', {
    type: 'array',
    items: record('tributary.scales.DeviceEvent', [
      field('seq', 'long'),
      field('type', { name: 'tributary.scales.DeviceEventType', type: 'enum', symbols: [...EVENT_TYPES] }),
      field('age_ms', optional('long')),
      field('data', [
        record('tributary.scales.Reading', [
          field('device_ts', optional('long')),
          field('weight_lbs', optional('double')),
          field('level_pct', optional('double')),
          field('battery_v', optional('double')),
          field('battery_pct', optional('double')),
          field('tare_status', optional('string')),
          field('fw', optional('string')),
        ]),
        record('tributary.scales.Telemetry', [
          field('battery_v', optional('double')),
          field('battery_pct', optional('double')),
          field('tare_empty_offset', optional('double')),
          field('tare_full_lbs', optional('double')),
          field('fw', optional('string')),
        ]),
        record('tributary.scales.Tare', [field('kind', 'string'), field('value_lbs', 'double')]),
        record('tributary.scales.Calibration', [field('factor', 'double'), field('offset', 'double')]),
      ]),
    ]),
  }),
])
