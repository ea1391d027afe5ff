import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createDomains } from '../../../domains/domains.ts'
import { configurableEdge, type DomainRecord, type Outside } from '../../../domains/record.ts'
import { readConfig } from '../../../host/config/config.ts'
import { startFetchers } from '../../../host/serving/ask-handlers.ts'
import { openRuntime } from '../../../host/wiring/runtime.ts'
import type { Ask, AskHandlers } from '../../../projections/ask.ts'
import type { Domain, Get, Result } from '../../../projections/projection.ts'
import { booksRecord, type BookFinished } from '../../testing/books/record.ts'

const [books] = booksRecord.domain.projections
const finished = books?.folds['BookFinished'] as (event: BookFinished, get: Get) => Result

/** The asks of a finished book: a call for each book of a request, and the forgetting of a person who finished the book `leave`. */
const asksOf = (bookId: string, { source, key }: { source: string; key: string }, at: number): readonly Ask[] => {
  if (source === 'fetcher') return [{ name: bookId === 'left' ? 'leave' : 'look-up', at: null }]
  if (bookId !== 'leave') return [{ name: 'look-up', at, kind: 'look-up' }]
  const body = { subject: key, answer: 'BookFinished', data: { bookId: 'left', pages: 1 } }
  return [{ name: 'leave', at, kind: 'forget', body }]
}

const domain: Domain = {
  ...booksRecord.domain,
  asks: { 'look-up': {} },
  projections: [
    {
      name: 'books',
      folds: {
        ...books?.folds,
        BookFinished: (event: BookFinished, get: Get) => ({
          ...finished(event, get),
          asks: asksOf(event.data.bookId, event.meta, event.meta.occurredAt),
        }),
      },
    },
  ],
}

/** The record of books with an outside service that finds another book. */
const recordWith = (asks: (outside: Outside) => AskHandlers): DomainRecord => ({
  ...booksRecord,
  domain,
  also: [],
  edge: configurableEdge({}, () => ({ edge: () => booksRecord.edge as never, asks, checks: [] })),
})

const bookFinished = (bookId: string) => ({
  type: 'BookFinished',
  meta: {
    eventId: `event-${bookId}`,
    key: 'ada',
    occurredAt: 1_000,
    recordedAt: 1_000,
    source: 'test',
    correlationId: null,
    causationId: null,
    actorId: 'ada',
    subjectId: 'ada',
    request: null,
  },
  data: { bookId, pages: 3 },
  personal: { note: 'a secret note' },
})

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
