import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../processors/adapters/system-clock.ts'
import { build } from '../../processors/engine/rebuild/build.ts'
import { withVerdicts } from '../../processors/engine/poison/verdicts.ts'
import { createPace } from '../../processors/engine/timing/pace.ts'
import { pacedTarget } from '../../processors/engine/rebuild/rebuild.ts'
import { openEmbeddedLogs } from './embedded.ts'
import { openBuildTables } from './build-workers.ts'
import type { BuildMessage, BuildShare } from './build-workers.ts'
import { loadDomains } from '../config/domains.ts'
import { openReadingCodec } from './sealing.ts'

/** Folds the keys of one share in a thread. Each item is derived from one key, so two threads never write the same item. */
const {
  selection,
  data,
  domain: name,
  generation,
  ends,
  unsent,
  marks,
  index,
  of,
  workingSet,
  writesPerSecond,
} = workerData as BuildShare
const domain = (await loadDomains(selection)).named(name)
const send = (message: BuildMessage) => parentPort?.postMessage(message)

const shareOf = (key: string | null): number => {
  let hash = 7
  for (let at = 0; key !== null && at < key.length; at += 1) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) >>> 0
  return hash % of
}

const [logs, tables] = [
  await openEmbeddedLogs(data, 'read'),
  await openBuildTables(workerData as BuildShare, `${index}/${of}`),
]
const [log, table] = [
  withVerdicts(await logs.open(domain.topic), () => Promise.resolve(marks)),
  await tables.create(domain.table, generation),
]
const stopping = new AbortController()
parentPort?.once('message', () => stopping.abort())
const target = pacedTarget(
  table,
  writesPerSecond === undefined
    ? undefined
    : createPace({ clock: systemClock, perSecond: writesPerSecond, signal: stopping.signal }),
)
const built = await build({
  domain,
  log,
  target,
  unsent,
  codec: await openReadingCodec(data, domain),
  ends: new Map(ends),
  share: (key) => shareOf(key) === index,
  progress: (done) => send({ kind: 'progress', events: done }),
  signal: stopping.signal,
  ...(workingSet === undefined ? {} : { workingSet }),
}).catch((error: unknown) => {
  if (!stopping.signal.aborted) throw error
  return undefined
})
await tables.close()
await logs.close()
send(built === undefined ? { kind: 'stopped' } : { kind: 'done', ...built })
parentPort?.unref()
