import { expect } from 'vitest'
import { canonical, type Item, type Key, type Stored } from '../../projections/item.ts'
import type { Page, Query, Reader } from '../../projections/table.ts'
import type { Write } from '../../processors/engine/ports/store.ts'

export const NOW = 1_800_000_000_000
export const stored = (key: Key, pos: number, rest: Omit<Item, 'PK' | 'SK'> = {}): Stored => ({
  ...rest,
  ...key,
  _pos: pos,
})
export const at = (pk: string, sk: string): Key => ({ PK: pk, SK: sk })
export const create = (item: Stored): Write => ({ put: item, expect: null })
export const update = (item: Stored, expected: number): Write => ({ put: item, expect: expected })
export const same = (actual: readonly (Item | undefined)[], expected: readonly (Item | undefined)[]): void =>
  expect(actual.map((item) => item && canonical(item))).toEqual(expected.map((item) => item && canonical(item)))
export const sks = (page: Page): string[] => page.items.map((item) => item.SK)

export const allPages = async (reader: Reader, query: Query): Promise<Page[]> => {
  const pages: Page[] = []
  for (let cursor: string | undefined; ;) {
    const page = await reader.query(cursor === undefined ? query : { ...query, cursor })
    pages.push(page)
    if (page.cursor === undefined) return pages
    cursor = page.cursor
    expect(pages.length).toBeLessThan(1000)
  }
}
