// A child process of runner-guard.test.ts. Stops the Runner of kafkajs while it rebuilds its fetchers, as if a broker returned during a stop.
// Prints "ended" if the runner ends, or "spins" if it fetches without end. The first argument is `guarded` or `plain`.
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'

const require = createRequire(import.meta.url)
if (process.argv[2] === 'guarded') (await import('../../../../processors/adapters/kafka/runner-guard.ts')).guardRunner()
const Runner = require('kafkajs/src/consumer/runner.js')

const SPINS = 100_000
let fetchesAfterStop = 0
const debug = (message) => {
  if (message !== 'consumer not running, exiting' || ++fetchesAfterStop < SPINS) return
  process.stdout.write('spins')
  process.exit(0)
}
const logger = { namespace: () => logger, debug, info() {}, warn() {}, error() {} }
let nodes = [1, 2]
const consumerGroup = {
  groupId: 'group',
  memberId: 'member',
  connect: async () => {},
  joinAndSync: async () => {},
  leave: async () => {},
  heartbeat: async () => {},
  getNodeIds: () => nodes,
  fetch: async (node) => {
    await sleep(node === 1 ? 5 : 300)
    return []
  },
}
const runner = new Runner({
  logger,
  consumerGroup,
  concurrency: 1,
  instrumentationEmitter: { emit() {} },
  eachBatch: async () => {},
  onCrash: (error) => {
    throw error
  },
  retry: { initialRetryTime: 10, retries: 2 },
})
await runner.start()
await sleep(100)
// A broker returns. The fetcher of node 1 ends at its next fetch. The manager waits for the fetcher of node 2, and then builds three new fetchers.
nodes = [1, 2, 3]
await sleep(50)
await runner.stop()
process.stdout.write('ended')
