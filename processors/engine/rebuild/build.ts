import type { Domain } from '../../../projections/projection.ts'
import type { Codec } from '../../../schemas/codec.ts'
import { isFault } from '../../../schemas/fault.ts'
import type { UnsentEvents } from '../generations/generation.ts'
import { totalOf, type Positions } from '../generations/positions.ts'
import { parkedInPartition, type Parked } from '../poison/parked-entry.ts'
import type { Log, LogRecord } from '../ports/log.ts'
import type { Series } from '../ports/series.ts'
import type { BuildTarget } from './build-target.ts'
import { createReplay, type Replay } from './replay.ts'
import { createPointBuffer } from './point-buffer.ts'
import { createWorkingSet } from './working-set.ts'

export interface BuildParts {
  readonly domain: Domain
  readonly log: Pick<Log, 'read'>
  readonly codec: Codec
  readonly target: BuildTarget
  /** The points of the generation. Absent if the domain has no points. */
  readonly series?: Pick<Series, 'write'> | undefined
  /** The end of the build in each partition. The ends are fixed, so that two builds of the same log have the same result. */
  readonly ends: Positions
  readonly signal?: AbortSignal
  /** Receives the number of folded events, including those of earlier runs. */
  readonly progress?: (events: number) => void
  /** The changed items in memory are flushed when they have about this many bytes. Default: 6 MiB. */
  readonly workingSet?: number
  /**
   * True for the keys that this worker folds, if several workers fold the same log. The target stores the checkpoints of each worker
   * separately. Default: all keys.
   */
  readonly share?: (key: string | null) => boolean
  /** The events whose derived events the serving generation does not send. Only these events get outbox rows. Default: none. */
  readonly unsent?: readonly UnsentEvents[]
}

const WORKING_SET = 6 * 1024 * 1024

export interface Built {
  readonly events: number
  readonly parked: readonly Parked[]
  /** The number of points that the series store rejected. */
  readonly rejected: number
  /** The number of events whose derived events got no outbox rows because they are too old: the ledger may have forgotten that they were sent. */
  readonly omitted: number
}

/**
 * Folds the log from the target's checkpoints to fixed ends. Makes the same decisions as a processor, in the order of the log, but does not
 * check `_pos` when it writes. Flushes items and checkpoints together, so that an interrupted build continues at its checkpoints.
 */
export const build = async (parts: BuildParts): Promise<Built> => {
  const { log, target, ends, signal, share } = parts
  const checkpoints = new Map(await target.checkpoints())
  const working = createWorkingSet(target, {
    limit: parts.workingSet ?? WORKING_SET,
    fresh: checkpoints.size === 0 || share !== undefined,
    events: totalOf(ends),
  })
  if (share !== undefined) for await (const page of target.scan()) working.registerStored(page)
  let replay: Replay | undefined
  const points = createPointBuffer(parts.series)
  const flush = async () => {
    replay?.settle()
    // Points are written first, as in a processor: a stored checkpoint guarantees that the points of all events before it are stored.
    await points.flush()
    await working.flush(checkpoints)
  }
  const parked: Parked[] = []
  let [events, omitted] = [0, 0]
  for (const [partition, end] of ends) {
    replay?.settle()
    const parkedBefore = (
      await parkedInPartition(
        target.reader(() => 0),
        partition,
      )
    ).filter(({ key }) => share === undefined || share(key))
    const { fold } = (replay = createReplay(parts, { items: working, points, parked, parkedBefore, through: end - 1 }))
    for await (const records of log.read(partition, checkpoints.get(partition) ?? 0, end)) {
      await foldAll(records, { fold, codec: parts.codec, share })
      events += records.length
      checkpoints.set(partition, (records.at(-1) as LogRecord).offset + 1)
      parts.progress?.(totalOf(checkpoints))
      working.packIdle()
      if (points.isFull()) await points.flush()
      if (working.isFull()) await flush()
      signal?.throwIfAborted()
    }
    checkpoints.set(partition, end)
    omitted += replay.omitted()
  }
  await flush()
  await working.flushed()
  return { events, parked, rejected: points.rejected(), omitted }
}

interface FoldAll extends Pick<BuildParts, 'codec'> {
  readonly fold: Replay['fold']
  readonly share: BuildParts['share'] | undefined
}

/**
 * Folds records one by one. If the data key of an event is not loaded, loads the keys of the remaining events and folds the event again.
 * This is safe, because the fault occurs before any change of the event.
 */
const foldAll = async (records: readonly LogRecord[], { fold, codec, share }: FoldAll): Promise<void> => {
  for (let index = 0; index < records.length; index += 1) {
    const record = records[index] as LogRecord
    if (share !== undefined && !share(record.key)) continue
    try {
      fold(record)
    } catch (error) {
      if (codec.keysOf === undefined || !isFault(error, 'key-not-loaded')) throw error
      await codec.keysOf(
        records
          .slice(index)
          .filter(({ key }) => share?.(key) ?? true)
          .map(({ value }) => value),
      )
      fold(record)
    }
  }
}
