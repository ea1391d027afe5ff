import type { Lease, LogRecord } from './log.ts'
import { MOST_TRIES, tryAlone, type Try, type Trying } from './tries.ts'

/** Sees that an event which kills whoever folds it is found and left alone, instead of being folded for ever. */
export interface Care {
  /** Processes a batch: as it is, or event by event where somebody died over it. */
  over(records: readonly LogRecord[], lease: Lease, process: (records: readonly LogRecord[]) => Promise<void>): Promise<void>
}

export type Killer = Pick<LogRecord, 'partition' | 'offset' | 'key'>

export interface CareParts extends Trying {
  readonly partition: number
  readonly failed: (error: unknown) => void
  /** Puts on record that an event kills. */
  readonly kills: (record: Killer) => Promise<void>
}

/**
 * Of one partition, from its assignment on. Only the first batch is written down before it is folded: a process that lives makes progress, and
 * whatever kills one later is in the first batch of the next. Where several did not finish that, its events are folded one by one, each written
 * down first; and only an event that was alone in the hands of several who died is taken for the cause.
 */
export const createCare = (parts: CareParts | undefined): Care => {
  if (parts === undefined) return { over: (records, _, process) => process(records) }
  const { tries, partition, failed } = parts
  const name = String(partition)
  let begun = false
  let suspect: Try | undefined

  const begin = async (records: readonly LogRecord[]): Promise<void> => {
    const [at, through] = [records[0]?.offset ?? 0, records.at(-1)?.offset ?? 0]
    const was = await tries.of(name)
    const unfinished = was !== undefined && was.through >= at ? was : undefined
    if (unfinished !== undefined && (unfinished.alone || unfinished.by.length >= MOST_TRIES)) suspect = unfinished
    else await tries.change(name, () => ({ at, through: Math.max(through, unfinished?.through ?? 0), alone: false, by: [...(unfinished?.by ?? []), tries.me] }))
    begun = true
  }
  const one = async (record: LogRecord, through: number, process: (records: readonly LogRecord[]) => Promise<void>): Promise<void> => {
    if (record.killed === true) return process([record])
    if ((await tryAlone(parts, { name, at: record.offset, through }, () => process([record]))) === 'done') return
    await parts.kills(record)
    await process([{ ...record, killed: true }])
  }
  const over: Care['over'] = async (records, lease, process) => {
    if (!begun) await begin(records).catch(failed)
    if (suspect === undefined) return process(records)
    const { at, through } = suspect
    const before = records.filter(({ offset }) => offset < at)
    if (before.length > 0) await process(before)
    for (const record of records) {
      if (record.offset < at || record.offset > through) continue
      if (!lease.held()) return
      await one(record, through, process)
    }
    const behind = records.filter(({ offset }) => offset > through)
    if ((records.at(-1)?.offset ?? 0) < through) return
    suspect = undefined
    await tries.change(name, () => null)
    if (behind.length > 0) await process(behind)
  }
  return { over }
}
