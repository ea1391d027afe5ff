import { expect, test } from 'vitest'
import { listHandler } from '../../../../processors/engine/asks/list.ts'
import { MAX_LISTED, type ListBody } from '../../../../projections/ask.ts'
import type { Page, Query } from '../../../../projections/table.ts'

const called = async (body: ListBody, page: Page) => {
  const queries: Query[] = []
  const query = async (each: Query) => {
    queries.push(each)
    return page
  }
  const reader = { query, get: async () => undefined, getMany: async () => [] }
  const call = { id: 'i', name: 'n', kind: 'list', key: 'k', body, reader, now: 0, signal: AbortSignal.timeout(1_000) }
  return { result: await listHandler.call(call), queries }
}

const BODY: ListBody = { pk: 'P', prefix: 'S#', answer: 'Listed', data: { step: 2 } }
const item = (SK: string) => ({ PK: 'P', SK, text: 'not in the answer' })

test('the answer has the keys of the items, and whether there are more', async () => {
  const { result, queries } = await called({ ...BODY, limit: 2 }, { items: [item('S#1'), item('S#2')], cursor: 'c' })
  const items = [{ pk: 'P', sk: 'S#1' }, { pk: 'P', sk: 'S#2' }] // prettier-ignore
  expect(result).toEqual({ events: [{ type: 'Listed', data: { step: 2, items, more: true } }] })
  expect(queries).toEqual([{ pk: 'P', prefix: 'S#', limit: 2 }])
})

test('without a limit, the answer has at most the maximum number of keys', async () => {
  const { result, queries } = await called(BODY, { items: [] })
  expect(result).toEqual({ events: [{ type: 'Listed', data: { step: 2, items: [], more: false } }] })
  expect(queries).toMatchObject([{ limit: MAX_LISTED }])
})
