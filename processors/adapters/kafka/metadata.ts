import { createClient } from './client.ts'
import { causesOf, loginRefused, unavailable } from './faults.ts'
import type { Settings } from './options.ts'
import { privateModule, unexpectedClient } from './pinned-client.ts'
import type { TopicIdentity } from '../../engine/ports/log-admin.ts'

export interface TopicMetadata extends TopicIdentity {
  /** True if every partition has a leader. */
  readonly ready: boolean
}

/** Reads topic ids. The newest Metadata request of kafkajs (v6) returns no topic ids, so this module sends v12 over a connection of kafkajs. */
export interface Metadata {
  /** Undefined if the topic does not exist. */
  topic(name: string): Promise<TopicMetadata | undefined>
  close(): Promise<void>
}

/** The parts of kafkajs' internal classes that are used here. */
interface Cluster {
  /** Connects to the next broker of the list that answers, unless the connection is still open. */
  connect(): Promise<void>
  disconnect(): Promise<void>
  readonly brokerPool: {
    readonly seedBroker: { readonly connectionPool: { send<T>(message: Message<T>): Promise<T> } }
  }
}
interface Message<T> {
  readonly request: { apiKey: number; apiVersion: number; apiName: string; encode(): Promise<Encoder> }
  readonly response: { decode(answer: Buffer): Promise<{ topic: T }>; parse(decoded: { topic: T }): Promise<T> }
}
interface Encoder {
  writeUVarInt(value: number): Encoder
  writeUVarIntString(value: string): Encoder
  writeBoolean(value: boolean): Encoder
  writeInt32(value: number): Encoder
}
interface Decoder {
  readInt16(): number
  readInt32(): number
  readBoolean(): boolean
  readBytes(length: number): Buffer
  readUVarInt(): number
  readUVarIntString(): string | null
  readUVarIntArray<T>(read: () => T): T[] | null
}

const UNKNOWN_TOPIC = 3
const TOPICS = 1
const ID_BYTES = 16

export function createMetadata(settings: Settings): Metadata {
  const cluster = createCluster(settings)
  const EncoderClass = privateModule('src/protocol/encoder.js') as new () => Encoder
  const DecoderClass = privateModule('src/protocol/decoder.js') as new (answer: Buffer) => Decoder
  let connected: Promise<void> = Promise.resolve()
  const connect = (): Promise<void> => (connected = cluster.connect())
  const send = (name: string): Promise<TopicMetadata | undefined> =>
    cluster.brokerPool.seedBroker.connectionPool.send({
      request: {
        apiKey: 3,
        apiVersion: 12,
        apiName: 'Metadata',
        encode: async () => encodeRequest(new EncoderClass(), name),
      },
      response: {
        decode: async (answer) => ({ topic: decodeTopic(new DecoderClass(answer)) }),
        parse: async ({ topic }) => topic,
      },
    })
  return {
    async topic(name) {
      try {
        await connect()
        // The connected broker may have died. If so, `connect` selects another broker of the list, and the request is sent again.
        return await send(name).catch(() => connect().then(() => send(name)))
      } catch (error) {
        const refusal = causesOf(error).find((cause) => cause.name === 'KafkaJSSASLAuthenticationError')
        throw refusal && settings.sasl
          ? loginRefused(settings.sasl, refusal)
          : unavailable(`Kafka does not return the metadata of topic ${name}`, error)
      }
    },
    async close() {
      // kafkajs cannot close a connection that is still being opened.
      await connected.catch(() => {})
      await cluster.disconnect()
    },
  }
}

function createCluster(settings: Settings): Cluster {
  const client = createClient(settings)
  const symbol = Object.getOwnPropertySymbols(client).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  )
  if (!symbol) throw unexpectedClient('its client has no private createCluster')
  const create = Reflect.get(client, symbol) as (options: { allowAutoTopicCreation: boolean }) => Cluster
  return create({ allowAutoTopicCreation: false })
}

/** Encodes the request for one topic by name, without automatic creation of the topic and without the list of authorized operations. */
function encodeRequest(encoder: Encoder, name: string): Encoder {
  const noTags = 0
  encoder.writeUVarInt(noTags).writeUVarInt(TOPICS + 1)
  for (let part = 0; part < ID_BYTES / 4; part++) encoder.writeInt32(0)
  return encoder
    .writeUVarIntString(name)
    .writeUVarInt(noTags)
    .writeBoolean(false)
    .writeBoolean(false)
    .writeUVarInt(noTags)
}

function decodeTopic(decoder: Decoder): TopicMetadata | undefined {
  skipTags(decoder)
  decoder.readInt32()
  decoder.readUVarIntArray(() => {
    decoder.readInt32()
    decoder.readUVarIntString()
    decoder.readInt32()
    decoder.readUVarIntString()
    skipTags(decoder)
  })
  const cluster = decoder.readUVarIntString() ?? ''
  decoder.readInt32()
  const [topic] =
    decoder.readUVarIntArray(() => {
      const error = decoder.readInt16()
      decoder.readUVarIntString()
      const id = decoder.readBytes(ID_BYTES).toString('base64url')
      decoder.readBoolean()
      const leaders = decoder.readUVarIntArray(() => decodeLeader(decoder)) ?? []
      decoder.readInt32()
      skipTags(decoder)
      return { error, id, leaders }
    }) ?? []
  if (!topic || topic.error === UNKNOWN_TOPIC) return undefined
  const ready = topic.error === 0 && topic.leaders.length > 0 && topic.leaders.every((leader) => leader >= 0)
  return { cluster, topic: topic.id, partitions: topic.leaders.length, ready }
}

function decodeLeader(decoder: Decoder): number {
  decoder.readInt16()
  decoder.readInt32()
  const leader = decoder.readInt32()
  decoder.readInt32()
  for (let lists = 0; lists < 3; lists++) decoder.readUVarIntArray(() => decoder.readInt32())
  skipTags(decoder)
  return leader
}

/** Skips tagged fields. `readTaggedFields` of kafkajs cannot be used, because it reads one byte too few per field. */
function skipTags(decoder: Decoder): void {
  for (let left = decoder.readUVarInt(); left > 0; left--) {
    decoder.readUVarInt()
    decoder.readBytes(decoder.readUVarInt())
  }
}
