import { describe, expect, test } from 'vitest'
import { given } from './given.ts'
import { at, imported, usageSampled } from './events.ts'

const USAGE = 'USAGE#2026-11-16'

describe('ApiUsageSampled', () => {
  test('M6 M-j: a sample counts for its weight, on its UTC day', () =>
    given(usageSampled())
      .when(usageSampled({ reads: 0, writes: 1, weight: 4 }))
      .then({ [USAGE]: { reads: 10, writes: 4 } }))

  test('M-j: a repeated event changes nothing, because the event identifies a sample', () => {
    const once = usageSampled()
    given(once, usageSampled()).when(once).thenDuplicate()
  })

  test('M30: the counts expire 35 days after the end of their day', () => {
    const end = at('2026-11-17T00:00:00.000Z') / 1000
    given()
      .when(usageSampled())
      .then({ [USAGE]: { ttl: end + 35 * 86_400 } })
  })

  test('M30: ignored after its counts have expired', () => {
    const late = usageSampled({ meta: { occurredAt: at('2026-12-22T00:00:00.000Z') } })
    given(usageSampled()).when(late).thenUnchanged()
    const last = usageSampled({ meta: { occurredAt: at('2026-12-21T23:59:59.999Z') } })
    given(usageSampled())
      .when(last)
      .then({ [USAGE]: { reads: 20 } })
  })

  test.each([
    ['a day that is none', { date: '2026-02-29' }],
    ['a negative count', { reads: -1 }],
    ['no weight', { weight: 0 }],
    ['counts beyond all bounds', { reads: 9e15, weight: 9e15 }],
  ])('refuses %s', (_, fields) => given().when(usageSampled(fields)).thenRefused('usage-invalid'))
})

describe('MealsImported', () => {
  test('is stored as a record', () =>
    given()
      .when(imported())
      .then({ 'IMPORT#import-1': { count: 3, source: 'export.ndjson', importedAt: '2026-11-16T12:00:00.000Z' } }))

  test('a repeated event changes nothing', () => {
    given(imported())
      .when(imported({ count: 9 }))
      .thenDuplicate()
    expect(given(imported()).when(imported({ importId: 'import-2' })).items).toHaveProperty(['IMPORT#import-2'])
  })
})
