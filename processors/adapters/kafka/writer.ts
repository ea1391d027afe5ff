import type { Message, Producer, RecordMetadata } from 'kafkajs'
import { createClient } from './client.ts'
import { hasType } from './faults.ts'
import type { Settings } from './options.ts'

/**
 * The result of one attempt. `written`: `offset` is the offset of the first record. `unknown`: the broker may have written the records. `stuck`: the
 * broker rejected the sequence number of this producer, and the attempt wrote nothing. `cancelled`: `release` returned false, and nothing was sent.
 */
type Attempt =
  | { readonly kind: 'written'; readonly offset: number }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'not-written' | 'unknown' | 'stuck' | 'too-large'; readonly error: unknown }

/** The part of a producer that the writer uses. Tests pass a broken producer. */
export interface ProducerPort {
  /** Calls `release` right before the client gets the request. If `release` returns false, the client gets nothing, and the result is undefined. */
  send(messages: Message[], release: () => boolean): Promise<RecordMetadata[] | undefined>
  /** The number of Produce requests that were passed to a socket. */
  requests(): number
  close(): Promise<void>
}
export type OpenProducer = (partition: number) => Promise<ProducerPort>

export interface Writer {
  /** Calls `release` right before the client gets the request. If `release` returns false, nothing is sent. */
  write(messages: Message[], release: () => boolean): Promise<Attempt>
  /** Closes the producer, so the next write opens a new producer. Needed after an unknown outcome before other records are written. */
  replace(): void
  close(): Promise<void>
}

const SEQUENCE_ERRORS = [
  'OUT_OF_ORDER_SEQUENCE_NUMBER',
  'UNKNOWN_PRODUCER_ID',
  'INVALID_PRODUCER_EPOCH',
  'PRODUCER_FENCED',
  'INVALID_PRODUCER_ID_MAPPING',
]
const TOO_LARGE = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']

/**
 * Writes to one partition, one request at a time. kafkajs rolls its sequence number back after a failed request, although the broker may have
 * written the records. If the producer sends the same records again, the broker recognises them by the number. If it sent other records with the
 * same number, the broker would drop them as duplicates. So the caller repeats the same records, or calls `replace` before it sends others.
 */
export function createWriter(partition: number, open: OpenProducer): Writer {
  let producer: Promise<ProducerPort> | undefined
  let floor = 0
  const replace = (): void => {
    void producer?.then((opened) => opened.close()).catch(() => {})
    producer = undefined
  }
  const write: Writer['write'] = async (messages, release) => {
    let opened: ProducerPort
    try {
      opened = await (producer ??= open(partition))
    } catch (error) {
      producer = undefined
      return { kind: 'not-written', error }
    }
    const requestsBefore = opened.requests()
    try {
      const answers = await opened.send(messages, release)
      if (answers === undefined) return { kind: 'cancelled' }
      const offset = offsetOf(answers, partition, floor)
      floor = offset + messages.length
      return { kind: 'written', offset }
    } catch (error) {
      return { kind: classify(error, opened.requests() > requestsBefore), error }
    }
  }
  return {
    write,
    replace,
    close: async () => {
      await (await producer?.catch(() => undefined))?.close()
    },
  }
}

function classify(error: unknown, wasSent: boolean): 'not-written' | 'unknown' | 'stuck' | 'too-large' {
  if (hasType(error, TOO_LARGE)) return 'too-large'
  if (hasType(error, SEQUENCE_ERRORS)) return 'stuck'
  return wasSent ? 'unknown' : 'not-written'
}

/**
 * Returns the offset of the first record. Throws if the answer does not acknowledge these records: kafkajs may resolve without an answer for the
 * partition, and an offset below `floor` belongs to earlier records.
 */
function offsetOf(answers: RecordMetadata[], partition: number, floor: number): number {
  const [answer, ...more] = answers
  const offset = Number(answer?.baseOffset ?? Number.NaN)
  if (
    !answer ||
    more.length > 0 ||
    answer.partition !== partition ||
    answer.errorCode !== 0 ||
    !Number.isSafeInteger(offset) ||
    offset < floor
  ) {
    throw new Error(
      `the answer does not acknowledge partition ${partition} at or after offset ${floor}: ${JSON.stringify(answers)}`,
    )
  }
  return offset
}

const METADATA_MAX_AGE_MS = 3_000

/** Opens an idempotent producer for one partition. `verify` throws if the topic was deleted or created again. */
export const openProducer =
  (settings: Settings, topic: string, verify: () => Promise<unknown>): OpenProducer =>
  async () => {
    const { clock, timing } = settings
    let verifiedAt = -Infinity
    const verifyPeriodically = async (): Promise<void> => {
      const now = clock.now()
      if (now - verifiedAt < timing.check) return
      await verify()
      verifiedAt = now
    }
    await verifyPeriodically()
    let requests = 0
    // kafkajs refreshes the leaders after an error answer. A broker that hangs sends no answer, so `metadataMaxAge` forces a refresh.
    const producer: Producer = createClient(settings, () => {
      requests++
    }).producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      metadataMaxAge: METADATA_MAX_AGE_MS,
      retry: { retries: 1, initialRetryTime: 50, maxRetryTime: 250 },
      createPartitioner:
        () =>
        ({ message }) =>
          message.partition ?? 0,
    })
    try {
      await producer.connect()
    } catch (error) {
      await producer.disconnect().catch(() => {})
      throw error
    }
    return {
      async send(messages, release) {
        await verifyPeriodically()
        if (!release()) return undefined
        return producer.send({ topic, acks: -1, timeout: timing.request, messages })
      },
      requests: () => requests,
      close: () => producer.disconnect().catch(() => {}),
    }
  }
