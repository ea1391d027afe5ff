// The schemas of a test domain, with types that meals does not use: doubles, enums, bytes and BigInts.
import type { Field, NamedSchema, RecordSchema, Schema } from '../../schemas/avro.ts'
import { openCodec } from '../../schemas/codec.ts'
import type { Event, EventMeta } from '../../schemas/event.ts'

export const META: EventMeta = {
  eventId: 'e-1',
  key: 'tank-1',
  occurredAt: 1_790_000_000_000,
  recordedAt: 1_790_000_000_005,
  source: 'test',
  correlationId: null,
  causationId: null,
  actorId: 'ada',
  subjectId: null,
  request: { key: 'k', hash: 'h' },
}

export const event = (name: string, fields: readonly Field[]): RecordSchema => ({
  type: 'record',
  name,
  namespace: 'toy',
  doc: 'A toy.',
  fields: [
    { name: 'meta', type: 'tributary.EventMeta' },
    ...fields,
    { name: 'personal', type: ['null', 'bytes'], default: null },
  ],
})

export const record = (name: string, fields: readonly Field[]): RecordSchema => ({
  type: 'record',
  name,
  namespace: 'toy',
  doc: 'A toy.',
  fields,
})

export const BIGINT: Schema = { type: 'long', logicalType: 'bigint' }

export const TOY: readonly NamedSchema[] = [
  event('Filled', [
    { name: 'litres', type: 'double' },
    { name: 'counts', type: { type: 'array', items: 'long' } },
    { name: 'label', type: 'Label' },
    { name: 'state', type: { type: 'enum', name: 'State', symbols: ['open', 'shut'] } },
    { name: 'raw', type: 'bytes' },
    { name: 'price', type: BIGINT },
    { name: 'tip', type: ['null', BIGINT], default: null },
  ]),
  record('FilledPersonal', [{ name: 'note', type: 'string' }]),
  record('Label', [{ name: 'text', type: 'string' }]),
]

export const FILLED: Event = {
  type: 'Filled',
  meta: META,
  data: {
    litres: 1.5,
    counts: [0, -1, 2 ** 53 - 2, -(2 ** 52)],
    label: { text: 'ü' },
    state: 'shut',
    raw: Buffer.from([0, 255]),
    price: 2n ** 63n - 1n,
    tip: -(2n ** 63n),
  },
  personal: { note: 'für dich 🍳' },
}

export const toyCodec = (): ReturnType<typeof openCodec> => openCodec({ schemas: TOY })
