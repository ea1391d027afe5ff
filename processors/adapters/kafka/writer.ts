import type { Message, Producer, RecordMetadata } from 'kafkajs'
import { createClient } from './client.ts'
import { hasType } from './faults.ts'
import type { Settings } from './options.ts'

/** The result of one attempt. `stuck`: this producer's sequence is broken, the attempt wrote nothing. `held-back`: `release` returned false. */
type Attempt =
  | { readonly kind: 'written'; readonly offset: number }
  | { readonly kind: 'held-back' }
  | { readonly kind: 'not-written' | 'unknown' | 'stuck' | 'too-large'; readonly error: unknown }

/** The part of a producer that is used, so that tests can put a broken one in its place. */
export interface ProducerPort {
  /** Calls `release` right before the client gets the request. If it returns false, the client gets nothing and the result is undefined. */
  send(messages: Message[], release: () => boolean): Promise<RecordMetadata[] | undefined>
  /** How many requests to write have been handed to the network. */
  requests(): number
  close(): Promise<void>
}
export type OpenProducer = (partition: number) => Promise<ProducerPort>

export interface Writer {
  /** `release` is called right before the client gets the request, and can hold it back. */
  write(messages: Message[], release: () => boolean): Promise<Attempt>
  /** The next write uses a new producer; needed whenever it is not known what the old one wrote. */
  replace(): void
  close(): Promise<void>
}

const SEQUENCE_ERRORS = ['OUT_OF_ORDER_SEQUENCE_NUMBER', 'UNKNOWN_PRODUCER_ID', 'INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED', 'INVALID_PRODUCER_ID_MAPPING']
const TOO_LARGE = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']

/**
 * Writes to one partition, one request at a time. A failed request leaves the client's sequence rolled back although
 * the broker may have written: the same records are then recognised, but others of the same count would be taken for
 * them and lost. So the same producer only ever repeats, and `replace` comes before anything else is sent.
 */
export function createWriter(partition: number, open: OpenProducer): Writer {
  let producer: Promise<ProducerPort> | undefined
  let floor = 0
  const replace = (): void => {
    void producer?.then((held) => held.close()).catch(() => {})
    producer = undefined
  }
  const write: Writer['write'] = async (messages, release) => {
    let held: ProducerPort
    try {
      held = await (producer ??= open(partition))
    } catch (error) {
      producer = undefined
      return { kind: 'not-written', error }
    }
    const before = held.requests()
    try {
      const answers = await held.send(messages, release)
      if (answers === undefined) return { kind: 'held-back' }
      const offset = offsetOf(answers, partition, floor)
      floor = offset + messages.length
      return { kind: 'written', offset }
    } catch (error) {
      return { kind: judge(error, held.requests() > before), error }
    }
  }
  return { write, replace, close: async () => { await (await producer?.catch(() => undefined))?.close() } }
}

function judge(error: unknown, sent: boolean): 'not-written' | 'unknown' | 'stuck' | 'too-large' {
  if (hasType(error, TOO_LARGE)) return 'too-large'
  if (hasType(error, SEQUENCE_ERRORS)) return 'stuck'
  return sent ? 'unknown' : 'not-written'
}

/** The client may resolve without an answer for the partition; and an old offset would be the answer to other records. */
function offsetOf(answers: RecordMetadata[], partition: number, floor: number): number {
  const [answer, ...more] = answers
  const offset = Number(answer?.baseOffset ?? Number.NaN)
  if (!answer || more.length > 0 || answer.partition !== partition || answer.errorCode !== 0 || !Number.isSafeInteger(offset) || offset < floor) {
    throw new Error(`the answer does not acknowledge partition ${partition} at or after ${floor}: ${JSON.stringify(answers)}`)
  }
  return offset
}

const METADATA_MAX_AGE_MS = 3_000

/** An idempotent producer for one partition. `verify` throws when the topic is not the one kept. */
export const openProducer = (settings: Settings, topic: string, verify: () => Promise<unknown>): OpenProducer => async () => {
  const { clock, timing } = settings
  let verifiedAt = -Infinity
  const verifyNowAndThen = async (): Promise<void> => {
    const now = clock.now()
    if (now - verifiedAt < timing.check) return
    await verify()
    verifiedAt = now
  }
  await verifyNowAndThen()
  let requests = 0
  // A leader that hangs answers nothing that would make the client look again who leads; age does.
  const producer: Producer = createClient(settings, () => { requests++ }).producer({
    idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false, metadataMaxAge: METADATA_MAX_AGE_MS,
    retry: { retries: 1, initialRetryTime: 50, maxRetryTime: 250 },
    createPartitioner: () => ({ message }) => message.partition ?? 0,
  })
  try {
    await producer.connect()
  } catch (error) {
    await producer.disconnect().catch(() => {})
    throw error
  }
  return {
    async send(messages, release) {
      await verifyNowAndThen()
      if (!release()) return undefined
      return producer.send({ topic, acks: -1, timeout: timing.request, messages })
    },
    requests: () => requests,
    close: () => producer.disconnect().catch(() => {}),
  }
}
