import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mealEvents } from '../../bench/workload.ts'
import { openEmbeddedLogs, openTables } from '../../cli/adapters.ts'
import type * as workers from '../../cli/build-workers.ts'
import { build } from '../../processors/engine/build.ts'
import { meals } from '../../processors/meals/domain.ts'
import { canonical } from '../../projections/item.ts'
import { openCodec } from '../../schemas/codec.ts'

// The workers are threads of the built program.
const { buildShared } = (await import(new URL('../../dist/cli/build-workers.js', import.meta.url).href)) as typeof workers

test('several workers build byte for byte what one builds, with the same checkpoints', async () => {
  const data = mkdtempSync(join(tmpdir(), 'tributary-workers-'))
  const codec = openCodec()
  const events = [...mealEvents({ events: 6_000, users: 37 })]
  try {
    const logs = await openEmbeddedLogs(data, 'write')
    const log = await logs.open(meals.topic)
    await log.append(events.map((event) => ({ key: event.meta.key, value: codec.encode(event) })))
    const ends = new Map([[0, events.length]])
    await buildShared({ data }, meals, { log, codec, generation: 2, ends, workers: 3, progress: () => {} })
    const tables = await openTables(data)
    const [alone, shared] = [await tables.open(meals.table, 1), await tables.open(meals.table, 2)]
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
    await logs.close()
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
})
