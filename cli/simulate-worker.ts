import { parentPort, workerData } from 'node:worker_threads'
import { runSeed } from '../test/simulation/run.ts'
import type { SeedsSaid, SeedsShare } from './simulate-workers.ts'

/** Runs every so-manieth seed, in a thread of its own, until it is ended or one fails. */
const { first, step, count } = workerData as SeedsShare
const TOLD = 20
const say = (said: SeedsSaid) => parentPort?.postMessage(said)
// Faults are the daily bread here, and nobody reads their stacks: a failing seed is run again where they are kept.
Error.stackTraceLimit = 0

let [seeds, events, calls] = [0, 0, 0]
const tell = () => {
  say({ kind: 'ran', seeds, events, calls })
  ;[seeds, events, calls] = [0, 0, 0]
}
for (let seed = first; seed < first + count * step; seed += step) {
  const report = await runSeed(seed)
  seeds += 1
  events += report.events
  calls += report.calls.length
  if (report.violations.length > 0) {
    tell()
    say({ kind: 'failed', seed })
    break
  }
  if (seeds >= TOLD) tell()
}
tell()
say({ kind: 'done' })
