import { expandWithDocs, fullName, type NamedSchema } from '../../schemas/avro.ts'
import { latest, readLock } from '../../schemas/lock.ts'
import { isEvent, namesOf, readSources, typeOf } from '../../schemas/sources.ts'
import type { DomainEdge } from './domain.ts'

export interface AsyncApiParts {
  readonly version: string
  readonly domains: readonly Pick<DomainEdge, 'name' | 'live' | 'channels'>[]
}

export type Json = Readonly<Record<string, unknown>>

export const AVRO = 'application/vnd.apache.avro+json;version=1.9.0'

/** The AsyncAPI 3.0 document of the log's topics, the MQTT topics and the live feeds. */
export const asyncapi = ({ version, domains }: AsyncApiParts): Json => {
  const messagesOf = readMessages()
  const channels = Object.assign(
    {},
    ...domains.map((domain) => channelsOf(domain, messagesOf(domain.name))),
  ) as Readonly<Record<string, { readonly messages: Json }>>
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Tributary',
      version,
      description:
        "The events on the log (Avro in Confluent's wire format, in order per key), the messages of devices, and the messages of live feeds.",
    },
    defaultContentType: 'application/json',
    channels,
    operations: Object.fromEntries(
      Object.keys(channels).map((name) => [
        name,
        { action: SENT.test(name) ? 'send' : 'receive', channel: { $ref: `#/channels/${name}` } },
      ]),
    ),
  }
}

/** The names of the channels to which the program sends messages. From all other channels the program receives messages. */
const SENT = /^(live|.*Events)$/

const channelsOf = ({ name, live, channels }: AsyncApiParts['domains'][number], messages: Json): Json => ({
  [`${name}Events`]: {
    address: `${name}.events`,
    description: `The events of ${name}. The items of the domain are folded from this topic.`,
    messages,
    bindings: { kafka: { topic: `${name}.events` } },
  },
  ...channels,
  ...(live === undefined
    ? {}
    : {
        live: {
          address: live.url,
          description: live.summary,
          bindings: { ws: { method: 'GET', query: live.query } },
          messages: LIVE_MESSAGES,
        },
      }),
})

/** Reads the schemas of events. The returned function gives a message for each event type of a domain and for each type that all domains share. */
const readMessages = (): ((domain: string) => Json) => {
  const [sources, locked] = [readSources(), latest(readLock())]
  const known = namesOf(sources)
  return (domain) => {
    const events = sources.filter(
      (source) => isEvent(source.schema) && (source.domain === domain || source.domain === 'common'),
    )
    return Object.fromEntries(
      events.map(({ schema }) => [
        typeOf(schema),
        messageOf(expandWithDocs(schema, known), locked.get(fullName(schema))?.id),
      ]),
    )
  }
}

const messageOf = (schema: NamedSchema, id: number | undefined): Json => ({
  name: schema.name,
  summary: schema.doc ?? '',
  contentType: 'application/avro',
  payload: { schemaFormat: AVRO, schema },
  'x-schema-id': id,
})

const liveItems = {
  type: 'array',
  items: {
    type: 'object',
    required: ['key', 'version', 'item'],
    properties: {
      key: { type: 'string' },
      version: { type: 'integer' },
      item: { type: ['object', 'null'] },
      expired: { type: 'boolean' },
    },
  },
} as const

const liveMessage = (type: string, more: Readonly<Record<string, Json>>): Json => ({
  payload: {
    type: 'object',
    required: ['type', 'epoch', 'cursor', ...Object.keys(more)],
    properties: { type: { const: type }, epoch: { type: 'integer' }, cursor: { type: 'string' }, ...more },
  },
})

const LIVE_MESSAGES: Json = {
  snapshot: liveMessage('snapshot', { items: liveItems }),
  resumed: liveMessage('resumed', { keys: { type: 'array', items: { type: 'string' } }, changes: liveItems }),
  changes: liveMessage('changes', { changes: liveItems }),
}
