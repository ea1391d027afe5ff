import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../processors/adapters/system-clock.ts'
import { build } from '../processors/engine/build.ts'
import { withMarks } from '../processors/engine/marks.ts'
import { createPace } from '../processors/engine/pace.ts'
import { pacedTarget } from '../processors/engine/rebuild.ts'
import { openEmbeddedLogs } from './adapters.ts'
import { tablesAt } from './build-workers.ts'
import type { Said, Share } from './build-workers.ts'
import { DOMAINS } from './domains.ts'
import { codecBeside } from './sealing.ts'

/** Folds the keys of one share, in a thread of its own. Keys of different shares never meet in an item (law 4). */
const { data, domain: name, generation, ends, owed, marks, index, of, workingSet, writesPerSecond } = workerData as Share
const domain = DOMAINS.find((each) => each.name === name)
if (domain === undefined) throw new Error(`there is no domain ${name}`)
const say = (said: Said) => parentPort?.postMessage(said)

const shareOf = (key: string | null): number => {
  let hash = 7
  for (let at = 0; key !== null && at < key.length; at += 1) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) >>> 0
  return hash % of
}

const [logs, tables] = [await openEmbeddedLogs(data, 'read'), await tablesAt(workerData as Share, `${index}/${of}`)]
const [log, table] = [withMarks(await logs.open(domain.topic), () => Promise.resolve(marks)), await tables.create(domain.table, generation)]
const stopping = new AbortController()
parentPort?.once('message', () => stopping.abort())
const target = pacedTarget(table, writesPerSecond === undefined ? undefined : createPace({ clock: systemClock, perSecond: writesPerSecond, signal: stopping.signal }))
const built = await build({
  domain, log, target, owed,
  codec: await codecBeside(data, domain),
  ends: new Map(ends),
  share: (key) => shareOf(key) === index,
  progress: (done) => say({ kind: 'progress', events: done }),
  signal: stopping.signal,
  ...(workingSet === undefined ? {} : { workingSet }),
}).catch((error: unknown) => {
  if (!stopping.signal.aborted) throw error
  return undefined
})
await tables.close()
await logs.close()
say(built === undefined ? { kind: 'stopped' } : { kind: 'done', ...built })
parentPort?.unref()
