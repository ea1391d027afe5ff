import type { TopicIdentity, Watermarks } from '../../engine/log.ts'
import { Fault, isFault, messageOf } from '../../../schemas/fault.ts'
import type { SaslOptions } from './options.ts'

/** What Kafka's client throws, as far as we look at it. */
export interface KafkaError { readonly name: string; readonly message: string; readonly type?: string; readonly retriable?: boolean; readonly cause?: unknown }

/** The errors of one failure, outermost first. */
export function causesOf(error: unknown): KafkaError[] {
  const causes: KafkaError[] = []
  for (let at: unknown = error; at instanceof Error && causes.length < 8; at = at.cause) causes.push(at)
  return causes
}

export const hasType = (error: unknown, types: readonly string[]): boolean =>
  causesOf(error).some(({ type }) => type !== undefined && types.includes(type))

export const unavailable = (what: string, cause?: unknown): Fault =>
  new Fault('log-unavailable', `${what}: ${sentenceOf(cause)} Check that Kafka runs and that TRIBUTARY_KAFKA names its brokers.`, { retriable: true, cause })

export const loginRefused = ({ mechanism, username }: SaslOptions, cause: KafkaError): Fault =>
  new Fault('log-login-failed', `Kafka refused the login of ${username} by ${mechanism}: ${sentenceOf(cause)} Check TRIBUTARY_KAFKA_SASL_*.`, { cause })

export const appendUnknown = (topic: string, cause?: unknown): Fault =>
  new Fault('append-unknown', `Kafka did not say whether records for ${topic} were written: ${sentenceOf(cause)} Send the same request again with the same Idempotency-Key.`, { cause })

export const tooLarge = (topic: string, size: number, limit: number): Fault =>
  new Fault('record-too-large', `A record of ${size} bytes for ${topic} is larger than the topic takes (max.message.bytes ${limit}). Send less, or raise the limit of the topic.`)

export const overloaded = (topic: string, limit: number): Fault =>
  new Fault('log-overloaded', `More than ${limit} bytes wait to be appended to ${topic}. Send slower; nothing of this request was written.`, { retriable: true })

export const recreated = (topic: string, kept: TopicIdentity, found: TopicIdentity): Fault =>
  new Fault('topic-recreated', `Topic ${topic} is not the one kept: expected ${naming(kept)}, found ${naming(found)}. ` +
    'Point TRIBUTARY_KAFKA to the right cluster, or, if the old topic is lost for good, begin anew with an empty control table and a rebuild.')

export const missing = (topic: string, kept: TopicIdentity): Fault =>
  new Fault('topic-missing', `Topic ${topic} (${naming(kept)}) is gone from the cluster. Restore it, or point TRIBUTARY_KAFKA to the cluster that has it; it is not created anew over kept positions.`)

export const trimmed = (topic: string, from: number, { partition, low }: Watermarks): Fault =>
  new Fault('log-trimmed', `Records ${from} to ${low - 1} of ${topic} partition ${partition} were removed from the log before they were read. ` +
    'Set retention.ms=-1, retention.bytes=-1 and cleanup.policy=delete on the topic, then restore it from a backup.')

export const truncated = (topic: string, from: number, { partition, high }: Watermarks): Fault =>
  new Fault('log-truncated', `${topic} partition ${partition} ends at ${high}, before position ${from} that was already reached. ` +
    'Acknowledged records were lost (an unclean leader election, or a restored backup); restore the log, or rebuild from what it holds.')

export const partitionsAdded = (topic: string, kept: number, found: number): Fault =>
  new Fault('partitions-added', `Topic ${topic} has ${found} partitions now; ${kept} are used, so that no key moves. ` +
    `What other producers write to partitions ${kept} to ${found - 1} is not read; have them use the first ${kept}.`)

export const stalled = (topic: string, partition: number): Fault =>
  new Fault('log-stalled', `Records wait in ${topic} partition ${partition}, but the consumer brings none. It is replaced.`, { retriable: true })

export const offsetsRefused = (topic: string, partition: number, cause: unknown): Fault =>
  new Fault('offsets-refused', `Kafka does not take the offsets of the group for ${topic} partition ${partition}: ${sentenceOf(cause)} ` +
    'The items keep their own positions, so nothing is lost; but tools that watch the group see an old lag. Look at the brokers that hold __consumer_offsets.', { retriable: true, cause })

/** Whatever went wrong, as a fault. */
export const asFault = (what: string, error: unknown): Fault => (isFault(error) ? error : unavailable(what, error))

const naming = ({ cluster, topic, partitions }: TopicIdentity): string => `cluster ${cluster}, topic id ${topic}, ${partitions} partitions`

function sentenceOf(error: unknown): string {
  const text = error === undefined ? 'no answer' : messageOf(error)
  return /[.!?]$/.test(text) ? text : `${text}.`
}
