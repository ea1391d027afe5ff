import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { importFile } from '../../../../cli/commands/import.ts'
import type { Context } from '../../../../cli/context.ts'
import type { EventRow } from '../../../../host/ipc/operations/events.ts'
import type { Output } from '../../../../cli/output.ts'
import { OUR_DOMAINS } from '../../../../domains/list.ts'
import { withOperations } from '../../../../host/ipc/call-operation.ts'

const silent = { line: () => undefined, note: () => undefined, progress: () => undefined } as Partial<Output> as Output

test(
  'an import that stopped before its end appends its record when it is repeated, once',
  { timeout: 60_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tributary-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const context: Context = {
      env: { TRIBUTARY_DATA: join(folder, 'data') },
      domains: OUR_DOMAINS,
      output: silent,
      input: process.stdin,
      signal: new AbortController().signal,
    }
    const rows = ['ada', 'bob'].map((user) =>
      JSON.stringify({
        PK: `USER#${user}`,
        SK: 'MEAL#2024-03-01T08:00:00.000Z#m1',
        mealSummary: 'Soup',
        calories: 300,
        protein: 1,
        carbs: 2,
        fat: 3,
        userDate: '2024-03-01',
      }),
    )
    const fileOf = (name: string, lines: readonly string[]): string => {
      writeFileSync(join(folder, name), lines.join('\n'))
      return join(folder, name)
    }
    const file = fileOf('rows.ndjson', rows)
    const importId = createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 32)
    const records = () =>
      withOperations(context, {}, async (call) => {
        const types: string[] = []
        await call('events', { domain: 'meals' }, (row) => void types.push((row as EventRow).type))
        return types.filter((type) => type === 'MealsImported').length
      })
    await withOperations(context, { processing: true, first: true }, (call) =>
      call('import', { domain: 'meals', importId, lines: rows.map((text, index) => ({ line: index + 1, text })) }),
    )
    expect(await records()).toBe(0)
    await importFile(context, { domain: 'meals', file: fileOf('reversed.ndjson', rows.toReversed()), values: {} })
    expect(await records()).toBe(0)
    for (let run = 0; run < 2; run += 1) {
      await importFile(context, { domain: 'meals', file, values: {} })
      expect(await records()).toBe(2)
    }
  },
)
