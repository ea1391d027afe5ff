import type { Log, LogRecord, NewRecord, Position } from '../processors/engine/ports/log.ts'
import { Fault } from '../schemas/fault.ts'
import type { Coordinator } from './group-model.ts'
import { mix } from './random.ts'
import type { Operation } from './calls.ts'
import type { Process } from './process.ts'
import type { Scheduler } from './scheduler.ts'
import type { OpenTopic } from '../processors/engine/ports/log-admin.ts'

/** A topic on the brokers. It outlives every process. */
export interface Topic {
  readonly name: string
  readonly partitions: readonly LogRecord[][]
  /** The first offset that retention has not removed, by partition. */
  readonly lows: number[]
  /** The positions of the copies that the fault `duplicate` made. */
  readonly copies: Set<string>
}

export const createTopic = (name: string, partitions: number): Topic => ({
  name,
  partitions: Array.from({ length: partitions }, () => []),
  lows: Array.from({ length: partitions }, () => 0),
  copies: new Set(),
})

const partitionOf = (topic: Topic, key: string): number =>
  mix(...Array.from(key, (char) => char.charCodeAt(0))) % topic.partitions.length

export const positionName = ({ partition, offset }: Position): string => `${partition}:${offset}`

export interface Logged {
  readonly key: string | null
  readonly value: Uint8Array
}

/** Puts a record at the end of a partition. */
export const put = (topic: Topic, record: Logged, at: { partition: number; timestamp: number }): Position => {
  const records = topic.partitions[at.partition]
  if (records === undefined) throw new RangeError(`no partition ${at.partition}`)
  const position = { partition: at.partition, offset: records.length }
  records.push({ ...position, timestamp: at.timestamp, key: record.key, value: record.value })
  return position
}

const unavailable = () =>
  new Fault('log-unavailable', 'The simulated log did not store the records. Try again.', { retriable: true })
const unknown = () =>
  new Fault('append-unknown', 'The simulated log may have stored the records. Send the same records again.', {
    retriable: true,
  })

const PAGE = 20

function* runInOrder<T>(
  isFirst: () => boolean,
  work: Generator<undefined, T>,
  leave: () => void,
): Generator<undefined, T> {
  while (!isFirst()) yield
  try {
    return yield* work
  } finally {
    leave()
  }
}

interface LogWorld {
  readonly scheduler: Scheduler
  readonly coordinator: Coordinator
}

/** The log port, for one process. */
export const logFor = (world: LogWorld, process: Process, topic: Topic): OpenTopic => {
  const { scheduler, coordinator } = world
  const call = <T>(operation: Operation<T>) => scheduler.call(process, operation)
  const read = <T>(port: string, value: () => T) =>
    call({
      port,
      *steps() {
        return value()
      },
      refused: unavailable,
    })
  const high = (partition: number) => topic.partitions[partition]?.length ?? 0

  async function* pages(partition: number, from: number, to: number, wanted: (record: LogRecord) => boolean) {
    if (from < (topic.lows[partition] ?? 0))
      throw new Fault('log-trimmed', `The simulated partition ${partition} begins after ${from}.`)
    if (from > high(partition))
      throw new Fault('log-truncated', `The simulated partition ${partition} ends before ${from}.`)
    for (let at = from; at < to; at += PAGE) {
      const page = await read('log.read', () => topic.partitions[partition]?.slice(at, Math.min(to, at + PAGE)) ?? [])
      const found = page.filter(wanted)
      if (found.length > 0) yield found
    }
  }

  return {
    topic: topic.name,
    append: createAppend(world, process, topic),
    subscribe: (group, subscriber) =>
      call({
        port: 'log.subscribe',
        *steps() {
          return coordinator.join({ topic, group, process, subscriber })
        },
        refused: unavailable,
      }),
    read: (partition, from, to) => pages(partition, from, to ?? high(partition), () => true),
    readKey: (key, from = 0) => {
      const partition = partitionOf(topic, key)
      return pages(partition, from, high(partition), (record) => record.key === key)
    },
    partitionOf: (key) => partitionOf(topic, key),
    watermarks: () =>
      read('log.watermarks', () =>
        topic.partitions.map((records, partition) => ({
          partition,
          low: topic.lows[partition] ?? 0,
          high: records.length,
        })),
      ),
    identity: () =>
      read('log.identity', () => ({ cluster: 'simulated', topic: topic.name, partitions: topic.partitions.length })),
    isFollowed: (group) => read('log.isFollowed', () => coordinator.followed(topic, group)),
    removeGroup: (group) => read('log.removeGroup', () => coordinator.remove(topic, group)),
  }
}

/**
 * Returns the `append` of one process. Its appends get their offsets in the order of the calls. Only an append that a fault other than `duplicate`
 * strikes can get its offset after a later call.
 */
const createAppend = ({ scheduler, coordinator }: LogWorld, process: Process, topic: Topic): Log['append'] => {
  function* appendSteps(records: readonly NewRecord[], twice: boolean): Generator<undefined, readonly Position[]> {
    const positions: Position[] = []
    for (const record of records) {
      const at = { partition: partitionOf(topic, record.key), timestamp: scheduler.now() }
      positions.push(put(topic, record, at))
      if (twice) topic.copies.add(positionName(put(topic, record, at)))
      coordinator.appended(topic)
      if (positions.length < records.length) yield
    }
    return positions
  }
  const waiting: object[] = []
  return (records) => {
    const ticket = {}
    waiting.push(ticket)
    const leave = () => void (waiting.includes(ticket) && waiting.splice(waiting.indexOf(ticket), 1))
    return scheduler.call<readonly Position[]>(process, {
      port: 'log.append',
      steps: (fault) => {
        if (fault !== undefined && fault !== 'duplicate') leave()
        return runInOrder(
          () => !waiting.includes(ticket) || waiting[0] === ticket,
          appendSteps(records, fault === 'duplicate'),
          leave,
        )
      },
      refused: unavailable,
      unknown,
      own: ['duplicate'],
    })
  }
}
