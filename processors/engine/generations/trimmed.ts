import { counted } from '../../../schemas/counted.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log, Watermarks } from '../ports/log.ts'
import { startPolling, type Polling } from '../timing/polling.ts'

/** A partition whose first `low` events were removed. */
export type Trimmed = Pick<Watermarks, 'partition' | 'low'>

/**
 * Returns the partitions that do not begin at offset 0. The logs of this program keep all events, so an operator or a retention setting has
 * removed the first events.
 */
export const trimmedIn = (marks: readonly Trimmed[]): readonly Trimmed[] =>
  marks.filter(({ low }) => low > 0).map(({ partition, low }) => ({ partition, low }))

export const logTrimmed = (topic: string, trimmed: readonly Trimmed[]): Fault =>
  new Fault(
    'log-trimmed',
    `Events were removed from the log: ${trimmed.map(({ partition, low }) => `the first ${counted(low, 'event')} of ${topic} partition ${partition}`).join(', ')}. ` +
      'Set retention.ms=-1, retention.bytes=-1 and cleanup.policy=delete on the topic, then restore it from a backup. Drop no generation: its items may be the only remaining result of these events.',
  )

/** Resolves to the watermarks. Throws `log-trimmed` if the log lacks its first events, because a fold of the rest would be wrong. */
export const refuseTrimmed = async (topic: string, log: Pick<Log, 'watermarks'>): Promise<readonly Watermarks[]> => {
  const marks = await log.watermarks()
  const trimmed = trimmedIn(marks)
  if (trimmed.length > 0) throw logTrimmed(topic, trimmed)
  return marks
}

export interface TrimWatchParts {
  readonly log: Pick<Log, 'topic' | 'watermarks'>
  readonly clock: Clock
  readonly checkMs: number
  readonly failed: (error: unknown) => void
}

/** Checks the low watermarks at once and then every `checkMs` milliseconds. Reports a trimmed log once. */
export const watchTrimming = ({ log, clock, checkMs, failed }: TrimWatchParts): Polling => {
  let isReported = false
  return startPolling({ clock, pollMs: checkMs, failed }, async () => {
    // If the log does not respond, this check reports nothing, because processors and requests report this error.
    const trimmed = trimmedIn(await log.watermarks().catch(() => []))
    if (trimmed.length > 0 && !isReported) failed(logTrimmed(log.topic, trimmed))
    isReported ||= trimmed.length > 0
  })
}

/** A checkpoint outside of the log. `mark` is the first offset of the partition (if the checkpoint is lower) or its end (if it is higher). */
interface Outside {
  readonly partition: number
  /** The next offset to fold. */
  readonly next: number
  readonly mark: number
}

export const trimmedBelow = (topic: string, { partition, next, mark }: Outside): Fault =>
  new Fault(
    'log-trimmed',
    `${topic} partition ${partition} now begins at ${mark}, but the checkpoint is ${next}: the events between were removed before they were folded. Restore the topic from a backup. The items stay as they are.`,
  )

export const truncated = (topic: string, { partition, next, mark }: Outside): Fault =>
  new Fault(
    'log-truncated',
    `${topic} partition ${partition} ends at ${mark}, but the checkpoint is ${next}: the log lost its end or is another one. Restore it, or drop this generation and rebuild.`,
  )
