import { expandWithDocs, fullName, type NamedSchema } from '../../schemas/avro.ts'
import { latest, lockOf } from '../../schemas/lock.ts'
import { isEvent, namesOf, readSources, typeOf } from '../../schemas/sources.ts'
import type { DomainEdge } from './domain.ts'

type DescribedEdge = Pick<DomainEdge, 'name' | 'topic' | 'schemas' | 'live' | 'channels'>

export interface AsyncApiParts {
  readonly version: string
  readonly domains: readonly DescribedEdge[]
}

export type Json = Readonly<Record<string, unknown>>

export const AVRO = 'application/vnd.apache.avro+json;version=1.9.0'

/** The AsyncAPI 3.0 document of the log's topics, the MQTT topics and the live feeds. */
export const asyncapi = ({ version, domains }: AsyncApiParts): Json => {
  const channels = domains.flatMap(channelsOf)
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Tributary',
      version,
      description:
        "The events on the log (Avro in Confluent's wire format, in order per key), the messages of devices, and the messages of live feeds.",
    },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(channels.map(({ name, channel }) => [name, channel])),
    operations: Object.fromEntries(
      channels.map(({ name, action }) => [name, { action, channel: { $ref: `#/channels/${name}` } }]),
    ),
  }
}

interface Channel {
  readonly name: string
  /** `send`: the program sends the messages. */
  readonly action: 'send' | 'receive'
  readonly channel: unknown
}

const channelsOf = ({ name, topic, schemas, live, channels = {} }: DescribedEdge): readonly Channel[] => [
  {
    name: `${name}Events`,
    action: 'send',
    channel: {
      address: topic,
      description: `The events of ${name}. The items of the domain are folded from this topic.`,
      messages: messagesOf(name, schemas),
      bindings: { kafka: { topic } },
    },
  },
  ...Object.entries(channels).map(([key, channel]) => ({ name: key, action: 'receive', channel }) as const),
  ...(live === undefined
    ? []
    : [
        {
          name: live.channel ?? `${name}Live`,
          action: 'send',
          channel: {
            address: live.url,
            description: live.summary,
            bindings: { ws: { method: 'GET', query: live.query } },
            messages: LIVE_MESSAGES,
          },
        } as const,
      ]),
]

/** Returns the descriptions of all events in the log of a domain. `folder`: the schemas of the domain's package. Default: those of this program. */
const messagesOf = (domain: string, folder: URL | undefined): Json => {
  const [sources, locked] = [readSources(folder), latest(lockOf(folder))]
  const known = namesOf(sources)
  const events = sources.filter(
    (source) =>
      isEvent(source.schema) && (folder !== undefined || source.domain === domain || source.domain === 'common'),
  )
  return Object.fromEntries(
    events.map(({ schema }) => [
      typeOf(schema),
      messageOf(expandWithDocs(schema, known), locked.get(fullName(schema))?.id),
    ]),
  )
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
