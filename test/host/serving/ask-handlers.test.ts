import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createDomains } from '../../../domains/domains.ts'
import { readConfig } from '../../../host/config/config.ts'
import { startFetchers } from '../../../host/serving/ask-handlers.ts'
import { bookFinished, recordWith } from '../../testing/books/asking.ts'
import { openRuntime } from '../../../host/wiring/runtime.ts'
import type { AskHandlers } from '../../../projections/ask.ts'

test('the handlers of a domain get its secrets and its rate budget, and the domain can forget the person of its key', async () => {
  const data = mkdtempSync(join(tmpdir(), 'tributary-'))
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  const used: unknown[] = []
  const record = recordWith(({ secrets, budget }) => {
    const calls = budget('library', [{ name: 'hour', ms: 3_600_000, limit: 100 }])
    const call: AskHandlers[string]['call'] = async ({ key, reader }) => {
      await secrets.write(key, 'library', { expect: 0, value: 'token' })
      const asked = await reader.get({ PK: `USER#${key}`, SK: 'BOOK#emma' })
      used.push(await calls.take(), (await secrets.read(key, 'library'))?.value, asked?.['pages'])
      return { events: [{ type: 'BookFinished', data: { bookId: 'found', pages: 9 } }] }
    }
    return { 'look-up': { call } }
  })
  const runtime = await openRuntime({ config: readConfig({ TRIBUTARY_DATA: data }, createDomains([record])) })
  onTestFinished(() => runtime.close())
  const { start, log, codec, serving } = runtime.pipeline('books')
  await start('processor')
  startFetchers(runtime, pino({ level: 'silent' }))
  const add = async (bookId: string) => {
    const event = bookFinished(bookId)
    await codec.keysFor?.([event])
    await log.append([{ key: 'ada', value: codec.encode(event) }])
  }
  const bookOf = (id: string) =>
    serving()
      .store.reader(Date.now)
      .get({ PK: 'USER#ada', SK: `BOOK#${id}` })
  await add('emma')
  await vi.waitFor(async () => expect(await bookOf('found')).toMatchObject({ pages: 9 }), { timeout: 20_000 })
  expect(used).toEqual([undefined, 'token', 3])
  const metric = 'tributary_ask_calls_total{domain="books",kind="look-up",outcome="answered"} 1'
  await vi.waitFor(async () => expect(await runtime.metrics.text([])).toContain(metric))

  await add('leave')
  await vi.waitFor(async () => expect(await bookOf('left')).toBeDefined(), { timeout: 20_000 })
  expect(await bookOf('emma')).toMatchObject({ note: null })
  expect(await runtime.keys.store.secrets.read('ada', 'library')).toBe(undefined)
})
