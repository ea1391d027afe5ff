import { configurableEdge, type DomainRecord, type Outside } from '../../../domains/record.ts'
import type { Ask, AskHandlers } from '../../../projections/ask.ts'
import type { Domain, Get, Result } from '../../../projections/projection.ts'
import { booksRecord, type BookFinished } from './record.ts'

const [books] = booksRecord.domain.projections
const finished = books?.folds['BookFinished'] as (event: BookFinished, get: Get) => Result

/** By the book of an answer: the name of the answered ask. The answer to an order is the book `sent-<name>`. */
const ANSWERED: Readonly<Record<string, string>> = { left: 'leave', found: 'look-up' }

/**
 * The ask of a finished book. The book `leave` forgets the person, a book `order…` orders something outside, and any other book is looked up.
 */
const asksOf = (bookId: string, { source, key }: { source: string; key: string }, at: number): readonly Ask[] => {
  if (source === 'fetcher') return [{ name: ANSWERED[bookId] ?? bookId.replace('sent-', ''), at: null }]
  if (bookId.startsWith('order'))
    return [{ name: bookId, at, kind: 'order', ...(bookId === 'order-once' && { once: true }) }]
  if (bookId !== 'leave') return [{ name: 'look-up', at, kind: 'look-up' }]
  const body = { subject: key, answer: 'BookFinished', data: { bookId: 'left', pages: 1 } }
  return [{ name: 'leave', at, kind: 'forget', body }]
}

const domain: Domain = {
  ...booksRecord.domain,
  asks: { 'look-up': {}, order: { changes: true } },
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

/** The record of books whose folds ask, with an outside service that finds another book. */
export const recordWith = (asks: (outside: Outside) => AskHandlers): DomainRecord => ({
  ...booksRecord,
  domain,
  also: [],
  edge: configurableEdge({}, () => ({ edge: () => booksRecord.edge as never, asks, checks: [] })),
})

export const bookFinished = (bookId: string) => ({
  type: 'BookFinished',
  meta: {
    eventId: `event-${bookId}`,
    key: 'ada',
    occurredAt: 1_000,
    recordedAt: Date.now(),
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
