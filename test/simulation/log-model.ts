import type { Log, LogRecord, NewRecord, Position } from '../../processors/engine/log.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Coordinator } from './group-model.ts'
import { mix } from './random.ts'
import type { Operation, Process, Scheduler } from './scheduler.ts'

/** A topic as the brokers keep it: it outlives every process. */
export interface Topic {
  readonly name: string
  readonly partitions: readonly LogRecord[][]
  /** Copies that the broker kept by itself, by position: faults of the world, not of those who append. */
  readonly copies: Set<string>
}

export const createTopic = (name: string, partitions: number): Topic =>
  ({ name, partitions: Array.from({ length: partitions }, () => []), copies: new Set() })

export const partitionOf = (topic: Topic, key: string): number =>
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

/** The log port, for one process. */
export const logFor = (world: { scheduler: Scheduler; coordinator: Coordinator }, process: Process, topic: Topic): Log => {
  const { scheduler, coordinator } = world
  const ask = <T>(operation: Operation<T>) => scheduler.call(process, operation)
  const simply = <T>(port: string, value: () => T) => ask({ port, *steps() { return value() }, refused: unavailable })
  const high = (partition: number) => topic.partitions[partition]?.length ?? 0

  const append = (records: readonly NewRecord[]) => ask<readonly Position[]>({
    port: 'log.append',
    *steps(fault) {
      const positions: Position[] = []
      for (const record of records) {
        const at = { partition: partitionOf(topic, record.key), timestamp: scheduler.now() }
        positions.push(put(topic, record, at))
        if (fault === 'duplicate') topic.copies.add(positionName(put(topic, record, at)))
        coordinator.appended(topic)
        if (positions.length < records.length) yield
      }
      return positions
    },
    refused: unavailable,
    unknown,
    own: ['duplicate'],
  })

  async function* pages(partition: number, from: number, to: number, wanted: (record: LogRecord) => boolean) {
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
    watermarks: () => simply('log.watermarks', () => topic.partitions.map((records, partition) => ({ partition, low: 0, high: records.length }))),
    identity: () => simply('log.identity', () => ({ cluster: 'simulated', topic: topic.name, partitions: topic.partitions.length })),
    committed: (group) => simply('log.committed', () => coordinator.committed(topic, group)),
    setCommitted: (group, offsets) => simply('log.setCommitted', () => coordinator.setCommitted(topic, group, offsets)),
  }
}
