import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { explain } from '../../../cli/commands/explain.ts'
import { verify } from '../../../cli/commands/verify.ts'
import type { Context } from '../../../cli/context.ts'
import { createOutput } from '../../../cli/output.ts'
import { createDomains, type Domains } from '../../../domains/domains.ts'
import type { DomainRecord } from '../../../domains/record.ts'
import { readConfig } from '../../../host/config/config.ts'
import { createPerform } from '../../../host/ipc/handlers.ts'
import { noOutput } from '../../../host/ipc/operations.ts'
import { statusRowsOf } from '../../../host/serving/domain-status.ts'
import { openEdge } from '../../../host/serving/serve.ts'
import { upgrade } from '../../../host/serving/upgrade.ts'
import { openRuntime, type Runtime } from '../../../host/wiring/runtime.ts'
import { booksRecord } from '../../testing/books/record.ts'

const DIARY = 'books-diary'

/** The record of books in a later release, in which only the folds of the diary changed. */
const withNewerDiary: DomainRecord = {
  ...booksRecord,
  also: booksRecord.also?.map((domain) => ({ ...domain, foldVersion: domain.foldVersion + 1 })) ?? [],
}

const contextIn = (data: string, domains: Domains) => {
  const lines: string[] = []
  const output = createOutput({
    out: { write: (text) => lines.push(text) },
    err: { write: () => true },
    color: false,
    now: () => 0,
  })
  const context: Context = {
    env: { TRIBUTARY_DATA: data },
    domains,
    output,
    input: Readable.from([]),
    signal: new AbortController().signal,
  }
  return { ...context, lines }
}

const withBooks = async ({ env, domains }: Context, use: (runtime: Runtime) => Promise<void>): Promise<void> => {
  const anyPort = { host: '127.0.0.1', port: 0 }
  const runtime = await openRuntime({
    config: { ...readConfig(env, domains), http: anyPort, admin: anyPort, mqtt: 'off' },
  })
  await use(runtime).finally(() => runtime.close())
}

/** Appends an event through the edge of books, and waits until the diary shows it. */
const finishBook = async (runtime: Runtime): Promise<void> => {
  const logger = pino({ level: 'silent' })
  const serving = await openEdge(runtime, { edge: true, processor: true, live: false, logger })
  try {
    const owner = { user: 'ada', domain: 'books', scopes: 'read,write', name: 'n' }
    const { token } = await createPerform(runtime)('token-create', owner, noOutput())
    const authorization = `Bearer ${token}`
    const finished = await fetch(`${serving.http}/v1/books`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ bookId: 'emma', pages: 7 }),
    })
    expect(finished.status).toBe(201)
    // The answer waits for the fold of books only, because the diary has a consumer group of its own.
    await vi.waitFor(async () => {
      const diary = await fetch(`${serving.http}/v1/diary`, { headers: { authorization } })
      expect(await diary.json()).toMatchObject({ items: [{ bookId: 'emma' }] })
    })
  } finally {
    await serving.stop()
  }
}

test('a further domain folds the log of its main domain, and has a consumer group, a table and generations of its own', async () => {
  const data = mkdtempSync(join(tmpdir(), 'tributary-'))
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  const context = contextIn(data, createDomains([booksRecord]))
  await withBooks(context, async (runtime) => {
    for (const name of ['books', DIARY]) await runtime.pipeline(name).start('processor')
    await finishBook(runtime)
  })

  expect(await verify(context, { domain: DIARY })).toBe(0)
  expect(context.lines.join('')).toMatch(/books-diary: .*1 item compared, 0 differ/)
  expect(await explain(context, { domain: DIARY, pk: 'USER#ada' })).toBe(0)
  expect(context.lines.join('')).toMatch(/BookFinished +DIARY#/)

  const later = contextIn(data, createDomains([withNewerDiary]))
  await withBooks(later, async (runtime) => {
    for (const pipeline of runtime.pipelines.values()) await upgrade(runtime, pipeline, later)
    expect(await statusRowsOf(runtime)).toMatchObject([
      { domain: 'books', generation: 1, table: 'books' },
      { domain: DIARY, generation: 2, foldVersion: 2, table: `${DIARY}.g2` },
    ])
  })
})
