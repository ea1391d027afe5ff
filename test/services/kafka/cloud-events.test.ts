import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expenses } from '../../../processors/expenses/domain.ts'
import { meals } from '../../../processors/meals/domain.ts'
import { scales } from '../../../processors/scales/domain.ts'
import { kafkaLogs } from '../../../processors/adapters/kafka/logs.ts'
import { withCloudEvents } from '../../../processors/engine/outgoing/cloud-events.ts'
import type { Domain } from '../../../projections/projection.ts'
import { shortName } from '../../../schemas/avro.ts'
import { openCodec } from '../../../schemas/codec.ts'
import type { Event } from '../../../schemas/event.ts'
import { latest, readLock } from '../../../schemas/lock.ts'
import { isEvent, readSources } from '../../../schemas/sources.ts'
import { describeWith } from '../available.ts'
import { kafkaAvailable, sharedKafka } from '../kafka.ts'
import { rawRecords } from '../raw-topic.ts'
import type { Logs } from '../../../processors/engine/ports/log-admin.ts'

const AT = Date.parse('2026-11-16T08:30:00.250Z')
const codec = openCodec()
const latestSchemas = latest(readLock())

/** Returns a value that fits the schema. `named` contains the records that the schema has defined so far. */
const valueOf = (schema: unknown, named = new Map<string, unknown>()): unknown => {
  if (Array.isArray(schema))
    return valueOf(
      schema.find((branch) => branch !== 'null'),
      named,
    )
  if (typeof schema === 'string') return PRIMITIVES[schema] ?? valueOf(named.get(schema), named)
  const { type, name, logicalType, items, symbols, fields } = schema as { readonly [name: string]: unknown }
  if (typeof name === 'string') named.set(name, schema)
  if (type === 'record')
    return Object.fromEntries(
      (fields as readonly { name: string; type: unknown }[]).map((field) => [field.name, valueOf(field.type, named)]),
    )
  if (type === 'array') return [valueOf(items, named)]
  if (logicalType === 'bigint') return 1n
  return type === 'enum' ? (symbols as readonly string[])[0] : valueOf(type, named)
}

const PRIMITIVES: Readonly<Record<string, unknown>> = {
  string: 'a secret',
  boolean: true,
  double: 1.5,
  int: 1,
  long: 1,
  bytes: Buffer.from('a secret'),
}

const eventsOf = ({ name }: Domain): readonly Event[] =>
  readSources()
    .filter(({ domain, schema }) => isEvent(schema) && (domain === name || domain === 'common'))
    .map(({ schema }) => {
      const found = [...latestSchemas.values()].find((entry) => shortName(entry.name) === shortName(schema.name))
      const { meta: _, personal, ...data } = valueOf(found?.schema) as Record<string, unknown>
      const meta = {
        eventId: randomUUID(),
        key: `key of ${schema.name}`,
        occurredAt: AT,
        recordedAt: AT + 5,
        source: 'edge',
        correlationId: null,
        causationId: null,
        actorId: 'ann',
        subjectId: personal === undefined ? null : 'ann',
        request: null,
      }
      return { type: shortName(schema.name), meta, data, personal: null }
    })

describeWith('CloudEvents headers on Kafka', kafkaAvailable(), () => {
  let logs: Logs
  beforeAll(async () => void (logs = kafkaLogs({ brokers: (await sharedKafka()).brokers })))
  afterAll(() => logs?.close())

  test.each([meals, scales, expenses])(
    'every event type of $name is written with all headers, and only a key that is not a person is a subject',
    async (domain) => {
      const topic = `${domain.name}-${randomUUID()}`
      const log = withCloudEvents(await logs.open(topic), { domain, codec })
      const events = eventsOf(domain)
      expect(events.length).toBeGreaterThan(10)
      await log.append(events.map((event) => ({ key: event.meta.key, value: codec.encode(event) })))
      const records = new Map(
        (await rawRecords((await sharedKafka()).brokers, topic)).map((record) => [record.key, record]),
      )
      for (const { type, meta } of events) {
        const { headers } = records.get(meta.key) ?? { headers: {} }
        const { ce_dataschema, ce_subject, ...rest } = headers as Record<string, string>
        expect(rest, type).toEqual({
          ce_specversion: '1.0',
          ce_id: meta.eventId,
          ce_source: `urn:tributary:${domain.name}:edge`,
          ce_type: type,
          ce_time: '2026-11-16T08:30:00.250Z',
          'content-type': 'application/avro',
        })
        const [, name = '', version] = /^urn:tributary:schema:([\w.]+):(\d+)$/.exec(ce_dataschema ?? '') ?? []
        expect(latestSchemas.get(name)?.version, type).toBe(Number(version))
        const isPerson =
          domain === meals ||
          ['PatIssued', 'PatRevoked', 'PatUsed', 'ApiUsageSampled', 'PersonForgotten', 'ProfileTold'].includes(type)
        expect(ce_subject, type).toBe(isPerson ? undefined : meta.key)
      }
      const texts = JSON.stringify([...records.values()].map(({ headers }) => headers))
      expect(texts).not.toContain('a secret')
      expect(texts).not.toContain('ann')
    },
    60_000,
  )

  test('the key of a person whose data the event contains is never a subject, and a time outside RFC 3339 is replaced', async () => {
    const topic = `subjects-${randomUUID()}`
    const log = withCloudEvents(await logs.open(topic), { domain: scales, codec })
    const [event] = eventsOf(scales).filter(({ type }) => type === 'KegTapped') as [Event]
    const meta = { ...event.meta, key: 'ann', subjectId: 'ann', occurredAt: Date.parse('9999-12-31T23:59:59.999Z') + 1 }
    await log.append([
      { key: 'ann', value: codec.encode({ ...event, meta }) },
      { key: 'alien', value: Buffer.from('not ours') },
    ])
    const records = await rawRecords((await sharedKafka()).brokers, topic)
    const headers = records.find(({ key }) => key === 'ann')?.headers
    expect(headers).not.toHaveProperty('ce_subject')
    expect(headers).toMatchObject({ ce_time: '2026-11-16T08:30:00.255Z' })
    expect(records.find(({ key }) => key === 'alien')?.headers).toEqual({})
  }, 60_000)
})
