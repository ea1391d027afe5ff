import { readFileSync } from 'node:fs'
import { buildShared, workersFor } from '../host/wiring/build-workers.ts'
import { openReadingCodec, keyFileIn } from '../host/wiring/sealing.ts'
import { openKeyFileStore } from '../processors/adapters/key-file/store.ts'
import { makeScratch } from '../host/wiring/embedded.ts'
import { OUR_DOMAINS } from '../domains/list.ts'
import { sharedFold } from '../host/wiring/build-storage.ts'
import { lmdbLogs } from '../processors/adapters/lmdb/log.ts'
import { lmdbStores, type LmdbStore } from '../processors/adapters/lmdb/store.ts'
import { systemClock } from '../processors/adapters/system-clock.ts'
import { build } from '../processors/engine/rebuild/build.ts'
import { verify } from '../processors/engine/proof/verify.ts'
import { createKeyring } from '../processors/engine/people/keyring.ts'
import type { Log } from '../processors/engine/ports/log.ts'
import { activities } from '../processors/activities/domain.ts'
import { keyOf, type Stored } from '../projections/item.ts'
import { openCodec, type Codec } from '../schemas/codec.ts'
import { appendAll } from './append.ts'
import { activityEvents } from '../domains/activities/benchmark-events.ts'
import { mealEvents } from '../domains/meals/benchmark-events.ts'
import type { Event } from '../schemas/event.ts'

/** The result of one phase of the rebuild benchmark. Each phase runs in its own process, so that its memory and garbage are separate. */
export interface PhaseResult {
  readonly events: number
  readonly items: number
  readonly seconds: number
  /**
   * The largest measured size of anonymous memory, in MB. It does not contain the mapped files of the stores, because the operating system can free
   * their pages at any time.
   */
  readonly anonymousMb: number
}

const [phase = '', folder = '', count = '0', kind = 'plain', name = 'meals'] = process.argv.slice(2)
const events = Number(count)
const domain = OUR_DOMAINS.named(name)
const workload: Iterable<Event> =
  name === activities.name ? activityEvents({ events, users: 1_000 }) : mealEvents({ events, users: 1_000 })
const logs = lmdbLogs({ folder: `${folder}/log` })
/**
 * Opens the codec that encodes the events of the log. For a sealed log, the codec also creates the key of each person. The other phases read these
 * keys.
 */
const writingCodec = async (): Promise<Codec> => {
  if (kind === 'plain') return openCodec()
  const keys = await openKeyFileStore({
    path: keyFileIn(folder),
    mode: 'write',
    found: () => Promise.resolve({ id: 'bench', plainBefore: {} }),
  })
  return openCodec({ sealing: createKeyring(keys, { now: Date.now }).sealing(domain.name) })
}
const codec = phase === 'fill' ? await writingCodec() : await openReadingCodec(folder, domain)
let anonymousMb = 0

const sampleMemory = () => {
  const [, kilobytes = '0'] = /RssAnon:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  anonymousMb = Math.max(anonymousMb, Math.round(Number(kilobytes) / 1024))
}

const decodeAll = async (log: Log) => {
  let seen = 0
  for await (const records of log.read(0, 0, events)) {
    for (const { value } of records) codec.decode(value)
    seen += records.length
    if ((seen & 0xffff) < records.length) sampleMemory()
  }
}

const open = (name: string) => lmdbStores({ folder: `${folder}/${name}` }).create(domain.table, 1) as Promise<LmdbStore>

/** Rebuilds as the program does: several workers fold a long log in parallel. */
const rebuildAll = async (log: Log) => {
  let last = 0
  const progress = (done: number) => {
    if (done - last < 50_000) return
    last = done
    sampleMemory()
  }
  const ends = new Map([[0, events]])
  const workers = workersFor(events)
  if (workers > 1)
    return void (await buildShared({ data: folder }, domain, {
      log,
      codec,
      generation: 1,
      ends,
      unsent: [],
      progress,
      workers,
    }))
  const target = await open('tables')
  await build({ domain, log, codec, target, ends, progress })
  await target.close()
}

/** Verifies as the command does without a running server: workers fold the log again, then all stored items are compared with the folded items. */
const verifyAll = async (log: Log): Promise<number> => {
  const store = await open('tables')
  const ends = await store.checkpoints()
  const scratch = await makeScratch(
    domain,
    sharedFold({ data: folder, domains: OUR_DOMAINS }, domain, { log, codec, ends, progress: () => undefined }),
  )
  const { items, differences } = await verify({ domain, log, codec, clock: systemClock, store, scratch: scratch.store })
  await scratch.remove()
  await store.close()
  if (differences.length > 0) throw new Error(`${differences.length} items differ`)
  return items
}

const BATCH = 50_000

/**
 * Writes the items of a rebuild again, sorted and without the engine, so that the rebuild can be compared with its I/O alone. The returned time
 * excludes the reads of the items.
 */
const writeSorted = async (): Promise<{ readonly seconds: number; readonly items: number }> => {
  const built = await open('tables')
  const target = await open('copied')
  let seconds = 0
  let items = 0
  let batch: Stored[] = []
  const flush = async () => {
    batch.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    const began = performance.now()
    await target.write(batch, [], new Map())
    seconds += (performance.now() - began) / 1000
    items += batch.length
    batch = []
  }
  for await (const page of built.scan()) {
    batch.push(...page)
    if (batch.length >= BATCH) await flush()
  }
  await flush()
  const began = performance.now()
  await target.close()
  return { seconds: seconds + (performance.now() - began) / 1000, items }
}

const run = async (): Promise<PhaseResult> => {
  const log = await logs.open(domain.topic)
  const began = performance.now()
  let items = 0
  let untimed = 0
  if (phase === 'fill') await appendAll(log, codec, workload, 4_096)
  else if (phase === 'rebuild') await rebuildAll(log)
  else if (phase === 'verify') items = await verifyAll(log)
  else if (phase === 'decode') await decodeAll(log)
  else if (phase === 'same-io') {
    await decodeAll(log)
    const before = performance.now()
    const written = await writeSorted()
    untimed = (performance.now() - before) / 1000 - written.seconds
    items = written.items
  }
  const seconds = (performance.now() - began) / 1000 - untimed
  sampleMemory()
  await logs.close()
  return { events, items, seconds, anonymousMb }
}

process.stdout.write(JSON.stringify(await run()) + '\n')
