import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mealEvents } from '../../domains/meals/benchmark-events.ts'
import { openEmbeddedLogs, openTables } from '../../host/wiring/embedded.ts'
import type * as workers from '../../host/wiring/build-workers.ts'
import { build } from '../../processors/engine/rebuild/build.ts'
import type { Log } from '../../processors/engine/ports/log.ts'
import { meals } from '../../processors/meals/domain.ts'
import { canonical } from '../../projections/item.ts'
import { openCodec } from '../../schemas/codec.ts'

// Imports the built program, because the worker threads load built files.
const { buildShared } = (await import(
  new URL('../../dist/host/wiring/build-workers.js', import.meta.url).href
)) as typeof workers

interface Bench {
  readonly data: string
  readonly log: Log
  readonly ends: ReadonlyMap<number, number>
}

const codec = openCodec()

const withLog = async (count: number, use: (bench: Bench) => Promise<void>): Promise<void> => {
  const data = mkdtempSync(join(tmpdir(), 'tributary-workers-'))
  const events = [...mealEvents({ events: count, users: 37 })]
  const logs = await openEmbeddedLogs(data, 'write')
  try {
    const log = await logs.open(meals.topic)
    await log.append(events.map((event) => ({ key: event.meta.key, value: codec.encode(event) })))
    await use({ data, log, ends: new Map([[0, events.length]]) })
  } finally {
    await logs.close()
    rmSync(data, { recursive: true, force: true })
  }
}

/** Builds generation 1 with one thread, and expects generation 2, which several workers built, to be equal, including checkpoints. */
const expectBuiltAlone = async ({ data, log, ends }: Bench): Promise<void> => {
  const tables = await openTables(join(data, 'tables'))
  const [alone, shared] = [await tables.create(meals.table, 1), await tables.create(meals.table, 2)]
  await build({ domain: meals, log, codec, target: alone, ends })
  const dump = async (store: typeof alone) => {
    const found: string[] = []
    for await (const page of store.scan()) found.push(...page.map((item) => canonical(item)))
    return found
  }
  const expected = await dump(alone)
  expect(expected.length).toBeGreaterThan(3_000)
  expect(await dump(shared)).toEqual(expected)
  expect(await shared.checkpoints()).toEqual(await alone.checkpoints())
  await tables.close()
}

/** The files below a folder that this process and its threads have open. Empty if the system has no /proc, which only Linux has. */
const openFilesOf = (folder: string): readonly string[] => {
  if (!existsSync('/proc/self/fd')) return []
  const targetOf = (descriptor: string): string => {
    try {
      return readlinkSync(join('/proc/self/fd', descriptor))
    } catch {
      return ''
    }
  }
  return readdirSync('/proc/self/fd')
    .map(targetOf)
    .filter((path) => path.startsWith(folder))
}

test(
  'several workers build the same bytes and checkpoints as one worker',
  () =>
    withLog(6_000, async (bench) => {
      await buildShared(bench, meals, { ...bench, codec, generation: 2, unsent: [], workers: 3, progress: () => {} })
      await expectBuiltAlone(bench)
    }),
  120_000,
)

test(
  'several workers that were stopped in the middle resume at their own checkpoints',
  () =>
    withLog(12_000, async (bench) => {
      const stopping = new AbortController()
      const work = { ...bench, codec, generation: 2, unsent: [], workers: 3, workingSet: 50_000 }
      // The limit of writes makes the workers slow. Without it, they can reach the end before this thread handles their progress.
      const stopped = buildShared(bench, meals, {
        ...work,
        writesPerSecond: 1_500,
        signal: stopping.signal,
        progress: (events) => events > 3_000 && stopping.abort(),
      })
      await expect(stopped).rejects.toThrow('aborted')
      expect(openFilesOf(join(bench.data, 'tables'))).toEqual([])
      const seen: number[] = []
      const { events } = await buildShared(bench, meals, { ...work, progress: (done) => seen.push(done) })
      expect(events).toBeLessThan(11_000)
      expect(seen.at(-1)).toBe(12_000)
      await expectBuiltAlone(bench)
    }),
  120_000,
)
