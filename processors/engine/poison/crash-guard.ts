import type { Assignment, LogRecord } from '../ports/log.ts'
import { attemptAlone, MAX_ATTEMPTS, type AttemptParts, type DeliveryAttempt } from './delivery-attempts.ts'

/**
 * Finds an event that crashes every process that folds it, and parks the key of this event. Without the guard, each new process would fold
 * the event and crash.
 */
export interface CrashGuard {
  /** Folds a batch with `process`: as a whole, or event by event if earlier processes crashed in this batch. */
  fold(
    records: readonly LogRecord[],
    assignment: Assignment,
    process: (records: readonly LogRecord[]) => Promise<void>,
  ): Promise<void>
}

export type CrashingEvent = Pick<LogRecord, 'partition' | 'offset' | 'key'>

export interface CrashGuardParts extends AttemptParts {
  readonly partition: number
  readonly failed: (error: unknown) => void
  /** Stores the verdict that an event crashes processes. */
  readonly recordCrashing: (event: CrashingEvent) => Promise<void>
}

/**
 * Creates the crash guard of a partition when the partition is assigned. The guard stores only the first batch as an attempt. This is
 * enough: a process stores its progress, so an event that crashes the process later is in the first batch of the next process. If
 * `MAX_ATTEMPTS` processes did not finish the first batch, its events are folded one by one, and each is stored as an attempt before it is
 * folded. An event is recorded as the cause only if several processes crashed while they folded this event alone. Without `parts`, each
 * batch is folded as a whole.
 */
export const createCrashGuard = (parts: CrashGuardParts | undefined): CrashGuard => {
  if (parts === undefined) return { fold: (records, _, process) => process(records) }
  const { attempts, partition, failed } = parts
  const name = String(partition)
  let hasBegun = false
  let suspect: DeliveryAttempt | undefined

  const begin = async (records: readonly LogRecord[]): Promise<void> => {
    const [at, through] = [records[0]?.offset ?? 0, records.at(-1)?.offset ?? 0]
    const earlier = await attempts.load(name)
    const unfinished = earlier !== undefined && earlier.through >= at ? earlier : undefined
    if (unfinished !== undefined && (unfinished.alone || unfinished.by.length >= MAX_ATTEMPTS)) suspect = unfinished
    else
      await attempts.change(name, () => ({
        at,
        through: Math.max(through, unfinished?.through ?? 0),
        alone: false,
        by: [...(unfinished?.by ?? []), attempts.processName],
      }))
    hasBegun = true
  }
  const foldAlone = async (
    record: LogRecord,
    through: number,
    process: (records: readonly LogRecord[]) => Promise<void>,
  ): Promise<void> => {
    if (record.crashes === true) return process([record])
    const attempt = { name, at: record.offset, through }
    if ((await attemptAlone(parts, attempt, () => process([record]))) === 'done') return
    await parts.recordCrashing(record)
    await process([{ ...record, crashes: true }])
  }
  const fold: CrashGuard['fold'] = async (records, assignment, process) => {
    if (!hasBegun) await begin(records).catch(failed)
    if (suspect === undefined) return process(records)
    const { at, through } = suspect
    const before = records.filter(({ offset }) => offset < at)
    if (before.length > 0) await process(before)
    for (const record of records) {
      if (record.offset < at || record.offset > through) continue
      if (!assignment.isCurrent()) return
      await foldAlone(record, through, process)
    }
    const behind = records.filter(({ offset }) => offset > through)
    if ((records.at(-1)?.offset ?? 0) < through) return
    suspect = undefined
    await attempts.change(name, () => null)
    if (behind.length > 0) await process(behind)
  }
  return { fold }
}
