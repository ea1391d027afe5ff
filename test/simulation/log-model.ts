import type { Log, LogRecord, NewRecord, Position } from '../../processors/engine/log.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Coordinator } from './group-model.ts'
import { mix } from './random.ts'
import type { Operation, Process, Scheduler } from './scheduler.ts'

/** A topic as the brokers keep it: it outlives every process. */
export interface Topic {
  readonly name: string
  readonly partitions: readonly LogRecord[][]
  /** The first offset that retention has left, by partition. */
  readonly lows: number[]
  /** Copies that the broker kept by itself, by position: faults of the world, not of those who append. */
  readonly copies: Set<string>
}

export const createTopic = (name: string, partitions: number): Topic =>
  ({ name, partitions: Array.from({ length: partitions }, () => []), lows: Array.from({ length: partitions }, () => 0), copies: new Set() })

const partitionOf = (topic: Topic, key: string): number =>
  mix(...Array.from(key, (char) => char.charCodeAt(0))) % topic.partitions.length

export const positionName = ({ partition, offset }: Position): string => `${partition}:${offset}`

export interface Logged {
  readonly key: string | null
  readonly value: Uint8Array
}

/** Puts a record at the end of a partition, whoever sent it. */
export const put = (topic: Topic, record: Logged, at: { partition: number; timestamp: number }): Position => {
  const records = topic.partitions[at.partition]
  if (records === undefined) throw new RangeError(`no partition ${at.partition}`)
  const position = { partition: at.partition, offset: records.length }
  records.push({ ...position, timestamp: at.timestamp, key: record.key, value: record.value })
  return position
}

const unavailable = () => new Fault('log-unavailable', 'The simulated log did not take it. Try again.', { retriable: true })
const unknown = () => new Fault('append-unknown', 'The simulated log may have taken it. Send the same again.', { retriable: true })

const PAGE = 20

function* inTurn<T>(isTurn: () => boolean, work: Generator<undefined, T>, leave: () => void): Generator<undefined, T> {
  while (!isTurn()) yield
  try {
    return yield* work
  } finally {
    leave()
  }
}

/** The log port, for one process. */
export const logFor = (world: { scheduler: Scheduler; coordinator: Coordinator }, process: Process, topic: Topic): Log => {
  const { scheduler, coordinator } = world
  const ask = <T>(operation: Operation<T>) => scheduler.call(process, operation)
  const simply = <T>(port: string, value: () => T) => ask({ port, *steps() { return value() }, refused: unavailable })
  const high = (partition: number) => topic.partitions[partition]?.length ?? 0

  function* keep(records: readonly NewRecord[], twice: boolean): Generator<undefined, readonly Position[]> {
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

  // What one process appends arrives in the order of its calls; only what hangs in the air is overtaken.
  const waiting: object[] = []
  const append = (records: readonly NewRecord[]) => {
    const turn = {}
    waiting.push(turn)
    const leave = () => void (waiting.includes(turn) && waiting.splice(waiting.indexOf(turn), 1))
    return ask<readonly Position[]>({
      port: 'log.append',
      steps: (fault) => {
        if (fault !== undefined && fault !== 'duplicate') leave()
        return inTurn(() => !waiting.includes(turn) || waiting[0] === turn, keep(records, fault === 'duplicate'), leave)
      },
      refused: unavailable,
      unknown,
      own: ['duplicate'],
    })
  }

  async function* pages(partition: number, from: number, to: number, wanted: (record: LogRecord) => boolean) {
    if (from < (topic.lows[partition] ?? 0)) throw new Fault('log-trimmed', `The simulated partition ${partition} begins after ${from}.`)
    if (from > high(partition)) throw new Fault('log-truncated', `The simulated partition ${partition} ends before ${from}.`)
    for (let at = from; at < to; at += PAGE) {
      const page = await simply('log.read', () => topic.partitions[partition]?.slice(at, Math.min(to, at + PAGE)) ?? [])
      const found = page.filter(wanted)
      if (found.length > 0) yield found
    }
  }

  return {
    topic: topic.name,
    append,
    subscribe: (group, subscriber) => ask({
      port: 'log.subscribe',
      *steps() { return coordinator.join({ topic, group, process, subscriber }) },
      refused: unavailable,
    }),
    read: (partition, from, to) => pages(partition, from, to ?? high(partition), () => true),
    readKey: (key, from = 0) => {
      const partition = partitionOf(topic, key)
      return pages(partition, from, high(partition), (record) => record.key === key)
    },
    partitionOf: (key) => partitionOf(topic, key),
    watermarks: () => simply('log.watermarks', () => topic.partitions.map((records, partition) => ({ partition, low: topic.lows[partition] ?? 0, high: records.length }))),
    identity: () => simply('log.identity', () => ({ cluster: 'simulated', topic: topic.name, partitions: topic.partitions.length })),
    followed: (group) => simply('log.followed', () => coordinator.followed(topic, group)),
    removeGroup: (group) => simply('log.removeGroup', () => coordinator.remove(topic, group)),
  }
}
