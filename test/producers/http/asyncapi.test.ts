import { expect, test } from 'vitest'
import { asyncapi } from '../../../producers/http/asyncapi.ts'
import { barLive } from '../../../producers/scales/live.ts'
import { booksRecord } from '../../testing/books/record.ts'

interface Document {
  readonly channels: Readonly<Record<string, { readonly address: string; readonly messages: object }>>
  readonly operations: Readonly<Record<string, { readonly action: string }>>
}

const documentOf = (...domains: Parameters<typeof asyncapi>[0]['domains']): Document =>
  JSON.parse(JSON.stringify(asyncapi({ version: '1', domains }))) as Document
const { schemas } = booksRecord.domain

test('a domain in a package of its own has its own topic, its own events and those of all domains', () => {
  const { channels } = documentOf({ name: 'books', topic: 'shelf-log', schemas })
  expect(Object.keys(channels)).toEqual(['booksEvents'])
  expect(channels['booksEvents']).toMatchObject({ address: 'shelf-log', bindings: { kafka: { topic: 'shelf-log' } } })
  expect(channels['booksEvents']?.messages).toMatchObject({
    BookFinished: { summary: 'A person finished a book.', 'x-schema-id': 269393000 },
    PatIssued: { 'x-schema-id': expect.any(Number) },
  })
  expect(channels['booksEvents']?.messages).not.toHaveProperty('MealLogged')
})

test('every domain has the channel of its own live feed, to which the program sends', () => {
  const { channel: _, ...live } = barLive
  const { channels, operations } = documentOf(
    { name: 'scales', topic: 'scales.events', live: barLive },
    { name: 'books', topic: 'books.events', schemas, live: { ...live, url: '/v1/books/live' } },
  )
  expect(channels).toMatchObject({ live: { address: '/v1/live' }, booksLive: { address: '/v1/books/live' } })
  expect(operations).toMatchObject({ live: { action: 'send' }, booksLive: { action: 'send' } })
})
