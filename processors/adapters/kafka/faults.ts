import type { Watermarks } from '../../engine/ports/log.ts'
import { Fault, isFault, messageOf } from '../../../schemas/fault.ts'
import type { SaslOptions } from './options.ts'
import type { TopicIdentity } from '../../engine/ports/log-admin.ts'

/** The fields of kafkajs' errors that the adapter reads. */
export interface KafkaError {
  readonly name: string
  readonly message: string
  readonly type?: string
  readonly retriable?: boolean
  readonly cause?: unknown
}

/** The errors of one failure, outermost first. */
export function causesOf(error: unknown): KafkaError[] {
  const causes: KafkaError[] = []
  for (let cause: unknown = error; cause instanceof Error && causes.length < 8; cause = cause.cause) causes.push(cause)
  return causes
}

export const hasType = (error: unknown, types: readonly string[]): boolean =>
  causesOf(error).some(({ type }) => type !== undefined && types.includes(type))

export const unavailable = (what: string, cause?: unknown): Fault =>
  new Fault(
    'log-unavailable',
    `${what}: ${sentenceOf(cause)} Check that Kafka runs and that TRIBUTARY_KAFKA names its brokers.`,
    { retriable: true, cause },
  )

export const loginRefused = ({ mechanism, username }: SaslOptions, cause: KafkaError): Fault =>
  new Fault(
    'log-login-failed',
    `Kafka refused the login of ${username} by ${mechanism}: ${sentenceOf(cause)} Check TRIBUTARY_KAFKA_SASL_*.`,
    { cause },
  )

export const appendUnknown = (topic: string, cause?: unknown): Fault =>
  new Fault(
    'append-unknown',
    `Kafka did not report whether it wrote the records for ${topic}: ${sentenceOf(cause)} Send the same request again with the same Idempotency-Key.`,
    { cause },
  )

export const tooLarge = (topic: string, size: number, limit: number): Fault =>
  new Fault(
    'record-too-large',
    `A record of ${size} bytes for ${topic} is larger than the topic's limit (max.message.bytes ${limit}). Send less, or raise the limit of the topic.`,
  )

export const overloaded = (topic: string, limit: number): Fault =>
  new Fault(
    'log-overloaded',
    `More than ${limit} bytes wait to be appended to ${topic}. Nothing of this request was written. Send more slowly.`,
    { retriable: true },
  )

export const recreated = (topic: string, expected: TopicIdentity, found: TopicIdentity): Fault =>
  new Fault(
    'topic-recreated',
    `Topic ${topic} is not the one of the control table: expected ${describe(expected)}, found ${describe(found)}. ` +
      'Set TRIBUTARY_KAFKA to the right cluster. If the old topic is lost for good, start with an empty control table and a rebuild.',
  )

export const missing = (topic: string, expected: TopicIdentity): Fault =>
  new Fault(
    'topic-missing',
    `Topic ${topic} (${describe(expected)}) is not in the cluster. It is not created again, because checkpoints refer to it. Restore it, or set TRIBUTARY_KAFKA to the cluster that has it.`,
  )

export const trimmed = (topic: string, from: number, { partition, low }: Watermarks): Fault =>
  new Fault(
    'log-trimmed',
    `Records ${from} to ${low - 1} of ${topic} partition ${partition} were removed from the log before they were read. ` +
      'Set retention.ms=-1, retention.bytes=-1 and cleanup.policy=delete on the topic, then restore it from a backup.',
  )

export const truncated = (topic: string, from: number, { partition, high }: Watermarks): Fault =>
  new Fault(
    'log-truncated',
    `${topic} partition ${partition} ends at offset ${high}, before offset ${from} that was already read. ` +
      'Acknowledged records were lost (an unclean leader election, or a restored backup). Restore the log, or rebuild from the records that it contains.',
  )

export const partitionsAdded = (topic: string, used: number, found: number): Fault =>
  new Fault(
    'partitions-added',
    `Topic ${topic} has ${found} partitions now. Only the first ${used} are used, so that no key changes its partition. ` +
      `Records in partitions ${used} to ${found - 1} are not read. Let other producers use the first ${used}.`,
  )

export const stalled = (topic: string, partition: number): Fault =>
  new Fault(
    'log-stalled',
    `${topic} partition ${partition} has records that the consumer does not fetch. A new consumer replaces it.`,
    { retriable: true },
  )

export const offsetsRefused = (topic: string, partition: number, cause: unknown): Fault =>
  new Fault(
    'offsets-refused',
    `Kafka does not store the committed offset of the group for ${topic} partition ${partition}: ${sentenceOf(cause)} ` +
      'Nothing is lost, because the tables contain their own checkpoints. Tools that watch the group show an old lag. Check the brokers that store __consumer_offsets.',
    { retriable: true, cause },
  )

/** The error itself if it is a fault, otherwise `log-unavailable` with the error as its cause. */
export const asFault = (what: string, error: unknown): Fault => (isFault(error) ? error : unavailable(what, error))

const describe = ({ cluster, topic, partitions }: TopicIdentity): string =>
  `cluster ${cluster}, topic id ${topic}, ${partitions} partitions`

function sentenceOf(error: unknown): string {
  const text = error === undefined ? 'no answer' : messageOf(error)
  return /[.!?]$/.test(text) ? text : `${text}.`
}
