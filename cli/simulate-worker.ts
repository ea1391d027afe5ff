import { parentPort, workerData } from 'node:worker_threads'
import { loadDomains } from '../host/config/domains.ts'
import { runSeed } from '../simulation/run.ts'
import type { SeedMessage, SeedShare } from './simulate-workers.ts'

/** A thread that runs its share of the seeds. It stops at the first seed that fails. */
const { selection, first, step, count } = workerData as SeedShare
/** The number of seeds per progress message. */
const REPORTED_SEEDS = 20
const send = (message: SeedMessage) => parentPort?.postMessage(message)
// The simulation causes many faults, and nobody reads their stacks. A failing seed runs again in the main thread, with stacks.
Error.stackTraceLimit = 0
const domains = await (await loadDomains(selection)).simulations()

let [seeds, events, calls] = [0, 0, 0]
const report = () => {
  send({ kind: 'ran', seeds, events, calls })
  ;[seeds, events, calls] = [0, 0, 0]
}
for (let seed = first; seed < first + count * step; seed += step) {
  const run = await runSeed(seed, { domains })
  seeds += 1
  events += run.events
  calls += run.calls.length
  if (run.violations.length > 0) {
    report()
    send({ kind: 'failed', seed })
    break
  }
  if (seeds >= REPORTED_SEEDS) report()
}
report()
send({ kind: 'done' })
