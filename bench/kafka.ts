import { randomUUID } from 'node:crypto'
import { Kafka, logLevel, type EachBatchPayload } from 'kafkajs'
import { kafkaLogs } from '../processors/adapters/kafka/logs.ts'
import { systemClock } from '../processors/adapters/system-clock.ts'
import { startProcessor } from '../processors/engine/run/processor.ts'
import type { Store } from '../processors/engine/ports/store.ts'
import { meals } from '../processors/meals/domain.ts'
import { openCodec } from '../schemas/codec.ts'
import { appendAll } from './append.ts'
import { startServices } from './services.ts'
import { median, perSecond, printTable, ratio } from './table.ts'
import { mealEvents } from '../domains/meals/benchmark-events.ts'
import type { Logs } from '../processors/engine/ports/log-admin.ts'

const EVENTS = 300_000
const ROUNDS = 3
const codec = openCodec()

/** Reads all records with a plain consumer. Returns the seconds from the join of the group to the last record. */
const consume = async (brokers: readonly string[], topic: string, each: (value: Buffer) => void): Promise<number> => {
  const consumer = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).consumer({
    groupId: randomUUID(),
    maxBytesPerPartition: 1 << 20,
  })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  let seen = 0
  let began = 0
  consumer.on(consumer.events.GROUP_JOIN, () => (began = performance.now()))
  const ended = new Promise<number>((resolve, reject) => {
    const eachBatch = async ({ batch }: EachBatchPayload) => {
      for (const { value } of batch.messages) each(value as Buffer)
      seen += batch.messages.length
      if (seen === EVENTS) resolve((performance.now() - began) / 1000)
    }
    consumer.run({ autoCommit: false, eachBatch }).catch(reject)
  })
  const seconds = await ended
  await consumer.disconnect()
  return seconds
}

/** A store that contains nothing and stores nothing, so that only consuming, decoding and folding are measured. */
const emptyStore: Store = {
  peek: () => undefined,
  load: async (keys) => keys.map(() => undefined),
  commit: async (spans) => spans.map(() => ({ applied: 'all' })),
  checkpoints: async () => new Map(),
  bulk: async () => undefined,
  scan: async function* () {},
  reader: () => ({
    get: async () => undefined,
    getMany: async (keys) => keys.map(() => undefined),
    query: async () => ({ items: [] }),
  }),
  close: async () => undefined,
}

const fold = async (logs: Logs, topic: string, generation: number): Promise<number> => {
  const log = await logs.open(topic)
  let seen = 0
  let began = 0
  let finish: (seconds: number) => void = () => {}
  const ended = new Promise<number>((resolve) => (finish = resolve))
  const store: Store = {
    ...emptyStore,
    checkpoints: async () => {
      began ||= performance.now()
      return new Map()
    },
  }
  const domain = { ...meals, topic, name: `bench-${randomUUID()}` }
  const batchFolded = ({ events }: { events: number }) => {
    seen += events
    if (seen === EVENTS) finish((performance.now() - began) / 1000)
  }
  const processor = await startProcessor({ domain, generation, log, store, codec, clock: systemClock, batchFolded })
  const seconds = await ended
  await processor.stop()
  return seconds
}

/** Measures consuming, decoding and folding without writes, compared with a consumer that only decodes and with a consumer that does nothing. */
export const kafkaBench = async (): Promise<void> => {
  const services = await startServices()
  const topic = `bench-${randomUUID()}`
  const logs = kafkaLogs({ brokers: [...services.kafka] })
  try {
    process.stderr.write(`  producing ${EVENTS.toLocaleString('en')} events …\n`)
    await appendAll(await logs.open(topic), codec, mealEvents({ events: EVENTS, users: 2_000 }), 6_000)
    const rounds: { readonly raw: number; readonly decoded: number; readonly folded: number }[] = []
    for (let round = 0; round <= ROUNDS; round += 1) {
      const raw = await consume(services.kafka, topic, () => {})
      const decoded = await consume(services.kafka, topic, (value) => void codec.decode(value))
      const folded = await fold(logs, topic, round + 1)
      process.stderr.write(
        `  round ${round}: raw ${perSecond(EVENTS, raw)}/s, decode ${perSecond(EVENTS, decoded)}/s, fold ${perSecond(EVENTS, folded)}/s\n`,
      )
      if (round > 0) rounds.push({ raw, decoded, folded })
    }
    report(rounds)
  } finally {
    await logs.close()
    await services.stop()
  }
}

const report = (rounds: readonly { readonly raw: number; readonly decoded: number; readonly folded: number }[]) => {
  const of = (pick: (round: (typeof rounds)[number]) => number) => median(rounds.map(pick))
  printTable(
    `kafka: ${EVENTS.toLocaleString('en')} events in 6 partitions, one process (median of ${ROUNDS} interleaved rounds)`,
    [
      ['', 'events/s', 'ratio to decode only'],
      [
        'raw no-op consumer',
        perSecond(
          EVENTS,
          of(({ raw }) => raw),
        ),
        '',
      ],
      [
        'consume + decode',
        perSecond(
          EVENTS,
          of(({ decoded }) => decoded),
        ),
        ratio(1),
      ],
      [
        'consume + decode + fold',
        perSecond(
          EVENTS,
          of(({ folded }) => folded),
        ),
        ratio(of(({ decoded, folded }) => decoded / folded)),
      ],
    ],
  )
}
