import avro from 'avsc'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ENVELOPE } from '../../../producers/scales/device-envelope.ts'
import { envelopeEvents, statusEvents, type Sender } from '../../../producers/scales/device-events.ts'
import { AVRO_HEADER, avroFingerprint, parsePayload } from '../../../producers/scales/device-payload.ts'
import { NOON } from '../../../testing/event.ts'
import { openCodec } from '../../../schemas/codec.ts'

const codec = openCodec()

const sender: Sender = {
  device: 'SCALE-0042',
  owner: { id: 'loc-001', epoch: 2 },
  actor: 'SCALE-0042',
  source: 'test',
  correlationId: null,
  received: NOON,
}
const event = (data: object, more: object = {}) => ({ seq: 1, type: 'reading', age_ms: 0, data, ...more })
const envelope = (...events: unknown[]) => ({ v: 1, boot: 'b1', sent_uptime_ms: 5_000, dropped: 2, events })
const take = (...events: unknown[]) => envelopeEvents(envelope(...events), sender, 16)
const reading = { weight_lbs: 120.5, level_pct: 61.25 }

test('a reading contains the reported values, and its time is the receipt less its age', () => {
  const { events, quarantined } = take(
    event({ ...reading, battery_v: 3.9, battery_pct: 80, tare_status: 'ok', fw: '1.4.2' }, { age_ms: 60_000 }),
  )
  expect(quarantined).toEqual([])
  expect(events).toMatchObject([
    {
      type: 'ReadingReported',
      meta: { key: 'loc-001', occurredAt: NOON - 60_000, recordedAt: NOON },
      data: {
        device_id: 'SCALE-0042',
        epoch: 2,
        boot: 'b1',
        seq: 1,
        at: NOON - 60_000,
        age_ms: 60_000,
        device_ts: null,
        clamped: false,
        weight_lbs: 120.5,
        level_pct: 61.25,
        battery_v: 3.9,
        battery_pct: 80,
        tare_status: 'ok',
        fw: '1.4.2',
        dropped: 2,
      },
    },
  ])
})

test('every kind of event has an event type of its own, and can be written to the log', () => {
  const { events } = take(
    event(reading),
    event({ battery_v: 3.7, tare_empty_offset: 1.5, tare_full_lbs: 161.5, fw: '1.4.2' }, { seq: 2, type: 'telemetry' }),
    event({ kind: 'full', value_lbs: 161.5 }, { seq: 3, type: 'tare' }),
    event({ factor: 1.02, offset: -3 }, { seq: 4, type: 'calibration' }),
  )
  expect(events.map(({ type }) => type)).toEqual([
    'ReadingReported',
    'TelemetryReported',
    'TareRecorded',
    'DeviceCalibrated',
  ])
  for (const each of [...events, ...statusEvents({ online: true, boot: 7, fw: '1' }, sender).events])
    expect(codec.decode(codec.encode(each))).toEqual(each)
})

test('the same event sent again later has the same id; another sequence, boot or type has another', () => {
  const ids = (value: unknown, received: number) =>
    envelopeEvents(value, { ...sender, received }, 16).events.map(({ meta }) => meta.eventId)
  expect(ids(envelope(event(reading)), NOON)).toEqual(ids(envelope(event(reading)), NOON + 5_000))
  const others = [
    envelope(event(reading)),
    envelope(event(reading, { seq: 2 })),
    { ...envelope(event(reading)), boot: 'b2' },
    envelope(event({ battery_v: 3 }, { type: 'telemetry' })),
  ]
  expect(new Set(others.flatMap((value) => ids(value, NOON))).size).toBe(4)
})

test.each([
  ['weight_lbs', -5.01, 'range'],
  ['weight_lbs', -5, null],
  ['weight_lbs', 400, null],
  ['weight_lbs', 400.5, 'range'],
  ['weight_lbs', 1e300, 'range'],
  ['weight_lbs', 5e-324, 'range'],
  ['level_pct', 140, 'range'],
  ['level_pct', 130, null],
  ['level_pct', -20.5, 'range'],
  ['battery_pct', 101, 'range'],
  ['battery_v', 20.1, 'range'],
  ['battery_v', -0.1, 'range'],
  ['weight_lbs', '12', 'malformed'],
  ['weight_lbs', true, 'malformed'],
  ['weight_lbs', [5], 'malformed'],
  ['colour', 'red', 'malformed'],
  ['fw', 'x'.repeat(65), 'malformed'],
])('%s of %s: %s', (name, value, reason) => {
  const { events, quarantined } = take(event({ ...reading, [name]: value }))
  expect(quarantined.map((each) => each.reason)).toEqual(reason === null ? [] : [reason])
  expect(events.map(({ type }) => type)).toEqual([reason === null ? 'ReadingReported' : 'ReadingQuarantined'])
})

test.each([
  ['1970', 0, 'past'],
  ['2099', Date.UTC(2099, 0, 1), 'future'],
  ['a day and a second ahead', NOON + 86_401_000, 'future'],
  ['an instant as text', '2019-12-31T23:59:59Z', 'past'],
])('a reading with a clock in %s and without an age is quarantined', (_, device_ts, reason) => {
  expect(take(event({ ...reading, device_ts }, { age_ms: null })).quarantined).toMatchObject([{ index: 0, reason }])
  expect(take(event({ ...reading, device_ts })).quarantined, 'but its age is').toEqual([])
})

test('a clock more than 15 minutes ahead is clamped to the receipt, and one less ahead is used', () => {
  const at = (device_ts: unknown) =>
    take(event({ ...reading, device_ts }, { age_ms: null })).events.map(
      ({ data }) => data as { at: number; clamped: boolean; device_ts: number },
    )
  expect(at(NOON + 900_001)).toMatchObject([{ at: NOON, clamped: true, device_ts: NOON + 900_001 }])
  expect(at(NOON + 900_000)).toMatchObject([{ at: NOON + 900_000, clamped: false }])
  expect(at('2026-11-16T11:00:00+00:00')).toMatchObject([{ at: NOON - 3_600_000, clamped: false }])
})

test('the events of a message are in the order of their time, then of their sequence, however the device sent them', () => {
  const sent = [0, 10, ...[1, 2, 3, 4, 5, 6, 7, 8, 9], 11, 11].map((minute, index) =>
    event(reading, { seq: minute === 11 ? 40 - index : minute, age_ms: (20 - minute) * 60_000 }),
  )
  const { events, quarantined } = take(...sent.slice(0, 3), event({}, { seq: 90 }), ...sent.slice(3))
  expect(events.map(({ data }) => (data as { seq: number }).seq)).toEqual([
    0, 1, 2, 90, 3, 4, 5, 6, 7, 8, 9, 10, 28, 29,
  ])
  expect(quarantined).toMatchObject([{ index: 3 }])
})

test('each event of a message is checked by itself', () => {
  const { events, quarantined } = take(
    event(reading),
    event({ level_pct: 140 }, { seq: 2 }),
    'nonsense',
    event(reading, { seq: 4, type: 'selfie' }),
    event({}, { seq: 5 }),
    event(reading, { seq: 6 }),
  )
  expect(events.map(({ type }) => type)).toEqual([
    'ReadingReported',
    'ReadingQuarantined',
    'ReadingQuarantined',
    'ReadingQuarantined',
    'ReadingQuarantined',
    'ReadingReported',
  ])
  expect(quarantined.map(({ index, reason }) => [index, reason])).toEqual([
    [1, 'range'],
    [2, 'malformed'],
    [3, 'malformed'],
    [4, 'malformed'],
  ])
  expect(events[1]?.data).toMatchObject({
    boot: 'b1',
    seq: 2,
    reason: 'range',
    reading: expect.stringContaining('140'),
  })
})

test.each([
  ['no envelope', 'hello'],
  ['a list', [1]],
  ['another version', { ...envelope(event(reading)), v: 2 }],
  ['no boot', { v: 1, events: [] }],
  ['a boot that is a key', { ...envelope(event(reading)), boot: 'a#b' }],
  ['no events', envelope()],
  ['17 events', envelope(...Array.from({ length: 17 }, (_, seq) => event(reading, { seq })))],
  ['an unknown field', { ...envelope(event(reading)), hello: 1 }],
  ['a count that is none', { ...envelope(event(reading)), dropped: 'many' }],
])('a message with %s is quarantined whole', (_, value) => {
  const { events, quarantined } = envelopeEvents(value, sender, 16)
  expect(quarantined).toMatchObject([{ index: null, reason: 'malformed' }])
  expect(events).toMatchObject([
    { type: 'ReadingQuarantined', meta: { key: 'loc-001' }, data: { boot: null, seq: null } },
  ])
})

test('a message of a device without an owner, or with the topic of another location, is quarantined', () => {
  expect(envelopeEvents(envelope(event(reading)), { ...sender, owner: undefined }, 16)).toMatchObject({
    events: [{ meta: { key: 'SCALE-0042' } }],
    quarantined: [{ reason: 'unknown-device' }],
  })
  expect(envelopeEvents(envelope(event(reading)), { ...sender, loc: 'loc-002' }, 16)).toMatchObject({
    events: [{ meta: { key: 'loc-001' } }],
    quarantined: [{ reason: 'wrong-location' }],
  })
})

test('readings in the short form are the same readings', () => {
  const short = envelopeEvents({ boot: 'b1', dropped: 2, readings: [{ seq: 1, age_ms: 0, ...reading }] }, sender, 1_000)
  expect(short).toEqual(take(event(reading)))
})

/** The Avro type of the envelope by the library avsc, as another program would write it, independent of our codec. */
const type = avro.Type.forSchema(JSON.parse(JSON.stringify(ENVELOPE)) as Parameters<typeof avro.Type.forSchema>[0])
const avroOf = (value: object) => Buffer.concat([AVRO_HEADER, type.toBuffer(value)])
const NOTHING = {
  device_ts: null,
  weight_lbs: null,
  level_pct: null,
  battery_v: null,
  battery_pct: null,
  tare_status: null,
  fw: null,
}

test("Avro's fingerprint is the one of its specification", () => {
  expect(avroFingerprint('"null"').readBigUInt64LE()).toBe(0x63dd24e7cc258f8an)
})

test('an envelope in Avro gives the same events as in JSON', () => {
  const data = { ...NOTHING, ...reading }
  const value = {
    v: 1,
    boot: 'b1',
    sent_uptime_ms: 5_000,
    dropped: 2,
    events: [{ seq: 1, type: 'reading', age_ms: 0, data: { 'tributary.scales.Reading': data } }],
  }
  expect(envelopeEvents(parsePayload(avroOf(value)), sender, 16)).toEqual(take(event(reading)))
})

test.each([
  ['nothing', ''],
  ['half an envelope', '{"v":1,'],
  ['a field twice', '{"v":1,"v":2}'],
  ['a forbidden name', '{"__proto__":{"v":1}}'],
  ['a number too large', '{"v":1e999}'],
  ['no UTF-8', '\xff\xfe'],
])('%s is refused as malformed', (_, raw) => {
  expect(() => parsePayload(Buffer.from(raw, 'latin1'))).toThrow(expect.objectContaining({ code: 'malformed-payload' }))
})

test('a payload of 1 MB, an Avro bomb and another schema are refused as malformed', () => {
  const bomb = Buffer.concat([AVRO_HEADER, Buffer.from([2, 2, 0x62, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f])])
  for (const raw of [Buffer.alloc(1_000_000, 0x20), bomb, Buffer.from([0xc3, 1, 0, 0])])
    expect(() => parsePayload(raw)).toThrow(expect.objectContaining({ code: 'malformed-payload' }))
})

test('any message becomes events that the log can store', () => {
  const word = fc.constantFrom(
    'v',
    'boot',
    'events',
    'seq',
    'type',
    'age_ms',
    'data',
    'weight_lbs',
    'level_pct',
    'device_ts',
    'online',
    'readings',
    'dropped',
    '__proto__',
    'fw',
  )
  const leaf = fc.oneof(
    fc.constantFrom(
      1,
      0,
      -1,
      'reading',
      'tare',
      'full',
      null,
      true,
      2 ** 53,
      1e308,
      Number.NaN,
      Infinity,
      '\ud800',
      '\u0000',
    ),
    fc.string(),
    fc.double(),
  )
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(word, tie('tree'), { maxKeys: 6 }),
    ),
  }))
  const likely = fc.record({
    v: fc.constant(1),
    boot: fc.oneof(fc.constant('b'), leaf),
    events: fc.array(
      fc.record({
        seq: fc.oneof(fc.nat(), leaf),
        type: fc.oneof(fc.constant('reading'), leaf),
        age_ms: leaf,
        data: fc.dictionary(word, leaf),
      }),
      { maxLength: 3 },
    ),
  })
  fc.assert(
    fc.property(fc.oneof(tree, likely), (value) => {
      for (const { events } of [envelopeEvents(value, sender, 16), statusEvents(value, sender)])
        for (const each of events) codec.decode(codec.encode(each))
    }),
    { numRuns: 3_000 },
  )
})

test('any bytes are parsed or refused', () => {
  const bytes = fc.uint8Array({ maxLength: 200 })
  fc.assert(
    fc.property(bytes, fc.boolean(), (raw, framed) => {
      try {
        parsePayload(framed ? Buffer.concat([AVRO_HEADER, raw]) : Buffer.from(raw))
      } catch (error) {
        expect(error).toMatchObject({ code: 'malformed-payload' })
      }
    }),
    { numRuns: 5_000 },
  )
})
