import type { NamedSchema, RecordSchema, Schema } from '../../schemas/avro.ts'

/** What a device may send, once: the Avro schema is read by it, and both documents of the interface show it. */
export const EVENT_TYPES = ['reading', 'telemetry', 'tare', 'calibration'] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** Events in one message; a batch over HTTP may be longer. */
export const MOST_BY_MQTT = 16
export const MOST_BY_HTTP = 1_000

const optional = (type: Schema): Schema => ['null', type]
const field = (name: string, type: Schema) => ({ name, type })
const record = (name: string, fields: RecordSchema['fields']): RecordSchema => ({ name, type: 'record', fields })

/** In Avro's canonical form, attribute by attribute: its text is what is fingerprinted. A field that is not said costs one byte. */
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
