import { expect, test } from 'vitest'
import { createControl } from '../../../../processors/engine/generations/control.ts'
import { createVerdicts } from '../../../../processors/engine/poison/verdicts.ts'
import { openPipeline } from '../../../../processors/engine/run/pipeline.ts'
import { tableMissing } from '../../../../processors/engine/rows/store-faults.ts'
import type { Stores } from '../../../../processors/engine/ports/store.ts'
import { jsonCodec, ledger, paid } from '../ledger.ts'
import { memoryLog } from '../memory-log.ts'
import { memoryStore, type MemoryStore } from '../../../../testing/memory-store.ts'
import { virtualClock } from '../virtual-clock.ts'

/** A pipeline over a log and tables in memory. A test can remove and restore the table of a generation in `tables`. */
const worldOf = (...events: Parameters<typeof memoryLog>) => {
  const [log, clock, tables] = [memoryLog(...events), virtualClock(), new Map<number, MemoryStore>()]
  const failures: unknown[] = []
  const stores: Stores = {
    open: async (_, generation) => {
      const found = tables.get(generation)
      if (found === undefined) throw tableMissing(`generation ${generation}`)
      return found
    },
    create: async (_, generation) =>
      tables.get(generation) ?? (tables.set(generation, memoryStore()).get(generation) as MemoryStore),
    drop: async (_, generation) => void tables.delete(generation),
    measure: async () => undefined,
    close: async () => undefined,
  }
  const [control, watermarks] = [createControl({ store: memoryStore(), now: clock.now }), createVerdicts(memoryStore())]
  const open = (more: { readonly readOnly?: boolean } = {}) =>
    openPipeline({
      domain: ledger,
      stores,
      control,
      verdicts: { ...watermarks, attempts: undefined },
      clock,
      codec: jsonCodec,
      processName: 'me',
      ledger: memoryStore(),
      logs: { open: async () => log, close: async () => undefined },
      observer: {
        batchFolded: () => undefined,
        parked: () => undefined,
        failed: (_, error) => void failures.push(error),
      },
      ...more,
    })
  return { log, clock, tables, open, control, failures }
}

test('a process is behind its start until every event that the log contained then is folded; later ones do not count', async () => {
  const { log, open } = worldOf([paid(1, 'p'), paid(2, 'q')])
  const pipeline = await open()
  await pipeline.start('processor')
  const behind = async () => pipeline.behindStart(await pipeline.serving().store.checkpoints())
  log.add(paid(3, 'r'))
  expect(await behind()).toBe(2)
  await log.deliver()
  expect(await behind()).toBe(0)
  log.add(paid(4, 's'))
  expect(await behind()).toBe(0)
  await pipeline.stop()
})

test('only the first opening creates the table of generation 1; a pipeline that reads creates nothing', async () => {
  const { tables, open, control } = worldOf()
  await expect(open({ readOnly: true })).rejects.toMatchObject({ code: 'domain-unknown' })
  expect([tables.size, await control.isListed(ledger.name)]).toEqual([0, false])
  await (await open()).stop()
  expect(tables.size).toBe(1)
  tables.clear()
  for (const readOnly of [true, false]) {
    const pipeline = await open({ readOnly })
    expect(() => pipeline.serving()).toThrow(
      expect.objectContaining({ code: 'table-missing', retriable: true }) as Error,
    )
    await pipeline.stop()
  }
  expect(tables.size).toBe(0)
})

test('a table that comes back is served without a restart; while it contains less than before, requests are not answered', async () => {
  const { log, clock, tables, open, failures } = worldOf([paid(1, 'p'), paid(2, 'q')])
  const first = await open()
  await first.start('processor')
  await log.deliver()
  await first.stop()
  const [table] = tables.values()
  tables.clear()
  const pipeline = await open()
  expect(() => pipeline.answering()).toThrow(expect.objectContaining({ code: 'table-missing' }) as Error)
  expect(failures).toMatchObject([{ code: 'table-missing' }])
  tables.set(1, table as MemoryStore)
  await clock.pass(6_000)
  expect(pipeline.answering().generation).toBe(1)
  await table?.setCheckpoint(1)
  await expect(pipeline.confirm()).rejects.toMatchObject({ code: 'table-rewound', retriable: true })
  expect(() => pipeline.answering()).toThrow(expect.objectContaining({ code: 'table-rewound' }) as Error)
  await table?.setCheckpoint(2)
  await pipeline.confirm()
  expect(pipeline.answering().generation).toBe(1)
  await pipeline.stop()
})
