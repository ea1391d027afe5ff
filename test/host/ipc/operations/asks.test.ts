import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { list, release } from '../../../../cli/commands/asks.ts'
import { flip } from '../../../../cli/commands/flip.ts'
import { rebuild } from '../../../../cli/commands/rebuild.ts'
import { status } from '../../../../cli/commands/status.ts'
import type { Context } from '../../../../cli/context.ts'
import { createOutput } from '../../../../cli/output.ts'
import { createDomains } from '../../../../domains/domains.ts'
import { readConfig } from '../../../../host/config/config.ts'
import type { WaitingAskRow } from '../../../../host/ipc/operations/asks.ts'
import { startFetchers } from '../../../../host/serving/ask-handlers.ts'
import { openRuntime, type Runtime } from '../../../../host/wiring/runtime.ts'
import { bookFinished, recordWith } from '../../../testing/books/asking.ts'

/** A data folder, the commands of an operator on it, and the calls that its server makes outside. */
const createScene = () => {
  const data = mkdtempSync(join(tmpdir(), 'tributary-'))
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  const called: string[] = []
  const answer = (bookId: string) => ({ events: [{ type: 'BookFinished', data: { bookId, pages: 1 } }] })
  const record = recordWith(() => ({
    'look-up': { call: async () => answer('found') },
    order: {
      call: async ({ name }) => {
        called.push(name)
        return answer(`sent-${name}`)
      },
    },
  }))
  const domains = createDomains([record])
  const lines: string[] = []
  const write = (text: string) => lines.push(text)
  const output = createOutput({ out: { write }, err: { write }, color: false, now: () => 0 })
  const context: Context = {
    env: { TRIBUTARY_DATA: data },
    domains,
    output,
    input: Readable.from([]),
    signal: new AbortController().signal,
  }
  const printed = (): string => lines.splice(0).join('')
  const json = <T>(): T => JSON.parse(printed()) as T
  const serve = async (use: (runtime: Runtime) => Promise<void>): Promise<void> => {
    const runtime = await openRuntime({ config: readConfig(context.env, domains) })
    await runtime.pipeline('books').start('processor')
    await use(runtime).finally(() => runtime.close())
  }
  return { context, called, printed, json, serve }
}

const finish = async (runtime: Runtime, bookId: string): Promise<void> => {
  const { log, codec, serving } = runtime.pipeline('books')
  const event = bookFinished(bookId)
  await codec.keysFor?.([event])
  const [position] = await log.append([{ key: 'ada', value: codec.encode(event) }])
  expect(await serving().outcomes.untilFolded(position ?? { partition: 0, offset: 0 }, 20_000)).toBe(true)
}

const untilFound = (runtime: Runtime, bookId: string): Promise<void> =>
  vi.waitFor(
    async () => {
      const { store } = runtime.pipeline('books').serving()
      expect(await store.reader(Date.now).get({ PK: 'USER#ada', SK: `BOOK#${bookId}` })).toBeDefined()
    },
    { timeout: 20_000 },
  )

test('a call that changes something outside and is older than a flip is counted, listed and not made until it is released', async () => {
  const { context, called, printed, json, serve } = createScene()
  await serve(async (runtime) => {
    await finish(runtime, 'order-1')
    await finish(runtime, 'emma')
  })
  expect(await list(context, {})).toBe(0)
  expect(printed()).toContain('No call waits for an operator.')

  expect(await rebuild(context, { domain: 'books', flip: false })).toBe(0)
  expect(printed()).toContain('after a flip, 1 call of outside services waits for an operator')
  expect(await flip(context, { domain: 'books' })).toBe(0)
  expect(printed()).toContain('books: 1 call of outside services waits for an operator: tributary asks books')
  await status(context, { json: true })
  expect(json()).toMatchObject({ domain: 'books', asks: { due: 1, waiting: 1 } })
  await status(context, {})
  expect(printed()).toContain('books: 1 call of outside services waits for an operator: tributary asks books')

  expect(await list(context, { domain: 'books', json: true })).toBe(0)
  const row = json<WaitingAskRow>()
  expect(row).toMatchObject({
    domain: 'books',
    kind: 'order',
    name: 'order-1',
    key: 'ada',
    reason: 'armed-before-flip',
  })
  await list(context, {})
  expect(printed()).toMatch(/it changes something outside,\s/)
  await serve(async (runtime) => {
    startFetchers(runtime, pino({ level: 'silent' }))
    await untilFound(runtime, 'found')
    await finish(runtime, 'order-2')
    await untilFound(runtime, 'sent-order-2')
  })
  expect(called).toEqual(['order-2'])

  await expect(release(context, { id: 'other' })).rejects.toMatchObject({ code: 'ask-not-waiting' })
  await expect(release(context, {})).rejects.toMatchObject({ code: 'bad-usage' })
  expect(await release(context, { id: row.id })).toBe(0)
  expect(printed()).toContain('1 call released')
  await list(context, { json: true })
  expect(printed()).toBe('')
  await serve(async (runtime) => {
    startFetchers(runtime, pino({ level: 'silent' }))
    await untilFound(runtime, 'sent-order-1')
  })
  expect(called).toEqual(['order-2', 'order-1'])
})
