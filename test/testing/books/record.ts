import {
  access,
  accessFolds,
  accessRefusals,
  ACCESS_KINDS,
  command,
  defineDomain,
  drafts,
  DUPLICATE,
  FORGOTTEN,
  forgetting,
  inUser,
  isoOf,
  KEY,
  projection,
  question,
  refusing,
  shape,
  TOKEN_INDEX,
  TTL,
  USER_PARTITIONS,
  type CommonEvent,
  type Domain,
  type Event,
  type Get,
  type Key,
  type Result,
} from '../../../api/domain.ts'

export type BookFinished = Event<
  'BookFinished',
  { readonly bookId: string; readonly pages: number },
  { readonly note: string | null }
>

type BookItem = Key & { readonly bookId: string; readonly pages: number; readonly note: string | null }
type DiaryItem = Key & { readonly bookId: string; readonly finishedAt: string }
type ShelfItem = Key & { readonly books: number; readonly pages: number }

const books = inUser<BookItem, [id: string]>('book', 'BOOK#')
const diary = inUser<DiaryItem, [event: string]>('diary entry', 'DIARY#')
const shelves = inUser<ShelfItem>('shelf', 'SHELF')

const refusals = { invalid: ['book-invalid'] } as const
const refuse = refusing(refusals)
const MAX_PAGES = 10_000
const BOOK_ID = /^[a-z0-9-]{1,40}$/

const bookFinished = ({ meta, data, personal }: BookFinished, get: Get): Result => {
  const { bookId, pages } = data
  if (!BOOK_ID.test(bookId) || pages < 1 || pages > MAX_PAGES)
    return refuse('book-invalid', `A book has an id and from 1 to ${MAX_PAGES} pages.`)
  const key = books.key(meta.key, bookId)
  if (get(key) !== undefined) return DUPLICATE
  const note = personal === null || personal === FORGOTTEN ? null : personal.note
  const shelf = get<ShelfItem>(shelves.key(meta.key))
  return {
    items: [
      { ...key, bookId, pages, note },
      { ...shelves.key(meta.key), books: (shelf?.books ?? 0) + 1, pages: (shelf?.pages ?? 0) + pages },
    ],
  }
}

const { personalItems, personForgotten } = forgetting({ personal: { [books.prefix]: { note: KEY } } })
const event = drafts<BookFinished>()
const book = shape<BookItem>()({
  bookId: { type: 'string' },
  pages: { type: 'integer' },
  note: { type: ['string', 'null'] },
})
const diaryEntry = shape<DiaryItem>()({ bookId: { type: 'string' }, finishedAt: { type: 'string' } })
const shelf = shape<ShelfItem>()({ books: { type: 'integer' }, pages: { type: 'integer' } })

const finishBook = command({
  method: 'POST',
  url: '/v1/books',
  operationId: 'finishBook',
  summary: 'Add a finished book.',
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['bookId', 'pages'],
    properties: {
      bookId: { type: 'string', pattern: '^[a-z0-9-]{1,40}$' },
      pages: { type: 'integer', minimum: 1, maximum: MAX_PAGES },
      note: { type: 'string', maxLength: 100 },
    },
  },
  status: 201,
  result: book.schema,
  decide: ({ body: { bookId, pages, note } }) => ({
    id: bookId,
    draft: event('BookFinished', { bookId, pages }, { note: note ?? null }),
  }),
  answer: async ({ caller: { reader, user } }, { id = '' }) => {
    const found = await books.get(reader, user, id)
    return found && book.view(found)
  },
})

const readShelf = question({
  method: 'GET',
  url: '/v1/shelf',
  operationId: 'readShelf',
  summary: 'The number of your books and of their pages.',
  result: shelf.schema,
  answer: async ({ caller: { reader, user } }) => {
    const found = await shelves.get(reader, user)
    return found === undefined ? { books: 0, pages: 0 } : shelf.view(found)
  },
})

const readDiary = question({
  method: 'GET',
  url: '/v1/diary',
  operationId: 'readDiary',
  summary: 'The books that you finished, in the order of their events.',
  result: { type: 'object', required: ['items'], properties: { items: { type: 'array', items: diaryEntry.schema } } },
  answer: async ({ caller: { further, user } }) => {
    const reader = further?.[DIARY]
    return { items: reader === undefined ? [] : (await diary.every(reader, user, { limit: 100 })).map(diaryEntry.view) }
  },
})

/** A further domain of the log: it stores each finished book, also those that the domain books refuses. */
const DIARY = 'books-diary'
const diaryDomain: Domain = {
  name: DIARY,
  topic: 'books.events',
  table: { name: DIARY, ttl: TTL, indexes: [], kinds: [diary.kind] },
  partitions: USER_PARTITIONS,
  schemas: new URL('./schemas/', import.meta.url),
  foldVersion: 1,
  projections: [
    projection<BookFinished>('diary', {
      BookFinished: ({ meta, data }, get) => {
        const key = diary.key(meta.key, meta.eventId)
        if (get(key) !== undefined) return DUPLICATE
        return { items: [{ ...key, bookId: data.bookId, finishedAt: isoOf(meta.occurredAt) }] }
      },
    }),
  ],
}

const domain: Domain = {
  name: 'books',
  topic: 'books.events',
  table: { name: 'books', ttl: TTL, indexes: [TOKEN_INDEX], kinds: [books.kind, shelves.kind, ...ACCESS_KINDS] },
  partitions: USER_PARTITIONS,
  schemas: new URL('./schemas/', import.meta.url),
  foldVersion: 1,
  personal: personalItems,
  projections: [
    projection<BookFinished | CommonEvent>('books', {
      BookFinished: bookFinished,
      ...accessFolds,
      PersonForgotten: personForgotten,
    }),
  ],
}

/** A domain as somebody else writes it: in its own folder, and with the public API only. */
export const booksRecord = defineDomain({
  domain,
  also: [diaryDomain],
  edge: { name: 'books', routes: [finishBook, readShelf, readDiary], access, refusals: [accessRefusals, refusals] },
  simulation: async () => (await import('./simulation.ts')).simulationOf(domain, [diaryDomain]),
})
