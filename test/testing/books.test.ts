import { describe, expect, test } from 'vitest'
import { domainContract, eventOf, foldsOf, openMemoryEdge, edgeOf, send, simulateDomain } from '../../api/testing.ts'
import { projection, removed, workloadOf, type Domain, type Get, type Result } from '../../api/domain.ts'
import { booksRecord, type BookFinished } from './books/record.ts'

const finished = (key: string, bookId: string, pages = 100): BookFinished =>
  eventOf<BookFinished>('BookFinished', { key, data: { bookId, pages }, personal: { note: 'good' } })

domainContract({
  record: booksRecord,
  pools: { keys: ['ada', 'bob'], fields: () => ({ bookId: ['emma', 'momo'], pages: [1, 300] }) },
})

describe('given, when, then', () => {
  const { domain } = booksRecord
  const { given } = foldsOf(domain)

  test('shows the items, the reads and the writes of the tested events', () => {
    const example = given(finished('ada', 'emma')).when(finished('ada', 'momo', 50))
    example.then({ 'USER#ada / BOOK#momo': { pages: 50 }, 'USER#ada / SHELF': { books: 2, pages: 150 } })
    example.thenWrites('USER#ada / BOOK#momo', 'USER#ada / SHELF')
    expect(example.reads).toEqual(['USER#ada / BOOK#momo', 'USER#ada / SHELF'])
    expect(Object.keys(example.before)).toEqual(['USER#ada / BOOK#emma', 'USER#ada / SHELF'])
  })

  test('recognises a duplicate and a refusal', () => {
    given(finished('ada', 'emma')).when(finished('ada', 'emma')).thenDuplicate()
    given()
      .when(finished('ada', 'emma', 0))
      .thenRefused('book-invalid', /from 1 to/)
    expect(() => given().when(finished('ada', 'emma')).thenDuplicate()).toThrow()
    expect(() => given().when(finished('ada', 'emma')).thenRefused('book-invalid')).toThrow()
  })

  const itemOf = (user: string) => ({ PK: `USER#${user}`, SK: 'BOOK#emma' })
  test.each<[law: string, results: readonly ((event: BookFinished, get: Get) => Result)[], message: RegExp]>([
    ['writes an item of another log key', [() => ({ items: [itemOf('bob')] })], /uses .* of the log key "bob"/],
    ['removes an item of another log key', [() => ({ items: [removed(itemOf('bob'))] })], /of the log key "bob"/],
    [
      'reads an item of another log key',
      [(_, get) => ({ items: [get({ PK: 'USER#bob', SK: 'BOOK#emma' }) ?? itemOf('ada')] })],
      /uses .* of the log key "bob"/,
    ],
    ['writes a key twice', [() => ({ items: [itemOf('ada'), itemOf('ada')] })], /a key twice/],
    [
      'refuses an event and changes an item',
      [() => ({ items: [itemOf('ada')], refusal: { code: 'no', detail: 'No.' } })],
      /A refusal or a duplicate changes items/,
    ],
    ['sets a timer to no instant', [() => ({ timers: [{ name: 'due', at: Number.NaN }] })], /not set to an instant/],
    [
      'writes an item of another projection',
      [() => ({ items: [itemOf('ada')] }), () => ({ items: [removed(itemOf('ada'))] })],
      /of another projection/,
    ],
  ])('throws if a fold %s', (_law, results, message) => {
    const broken: Domain = {
      ...domain,
      projections: results.map((fold, index) => projection<BookFinished>(`p${index}`, { BookFinished: fold })),
    }
    expect(() => foldsOf(broken).tableOf([finished('ada', 'emma')])).toThrow(message)
  })
})

test('an edge in memory folds a command before it answers, also in the further domains', async () => {
  const edge = edgeOf(booksRecord)
  if (edge === undefined) throw new Error('The record has no edge.')
  const { app, token } = await openMemoryEdge({ domain: booksRecord.domain, also: booksRecord.also, edge })
  const ada = await token('ada')
  const answer = await send(app, { method: 'POST', url: '/v1/books', token: ada, body: { bookId: 'emma', pages: 7 } })
  expect(answer).toMatchObject({ status: 201, body: { bookId: 'emma', pages: 7, note: null } })
  expect((await send(app, { url: '/v1/shelf', token: ada })).body).toEqual({ books: 1, pages: 7 })
  expect((await send(app, { url: '/v1/diary', token: ada })).body).toMatchObject({ items: [{ bookId: 'emma' }] })
})

describe('the simulation of one domain', () => {
  test('runs its workload, sealed and with forgotten people, and reports the number of runs', async () => {
    expect(await simulateDomain(booksRecord, { seeds: 20 })).toMatchObject({ seeds: 20 })
  })

  test('throws with the broken invariant and the line that repeats the run', async () => {
    const workload = (await booksRecord.simulation?.())?.workload
    if (workload === undefined) throw new Error('The record has no simulation.')
    const simulation = async () => ({
      workload: (...draw: Parameters<typeof workload>) => ({
        ...workload(...draw),
        check: () => [{ checker: 'domain' as const, detail: 'a shelf is empty' }],
      }),
    })
    await expect(simulateDomain({ ...booksRecord, simulation }, { seeds: 1, first: 5 })).rejects.toThrow(
      /a shelf is empty[\s\S]*await simulateDomain\(record, \{ seeds: 1, first: 5 \}\)/,
    )
  })

  test('throws if a drawn event does not fit its schema', async () => {
    const draw = () => ({ type: 'BookFinished', key: 'ada', data: { bookId: 7 } })
    const simulation = async () => ({ workload: workloadOf(booksRecord.domain, draw) })
    await expect(simulateDomain({ ...booksRecord, simulation }, { seeds: 1 })).rejects.toThrow('bookId')
  })

  test('throws if the record has no simulation', async () => {
    const { simulation: _, ...record } = booksRecord
    await expect(simulateDomain(record, { seeds: 1 })).rejects.toThrow('The record of books has no simulation.')
  })
})
