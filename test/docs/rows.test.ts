import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const page = readFileSync(join(root, 'docs/rows.md'), 'utf8')

/** The folders whose code writes rows that are not items of a domain. */
const FOLDERS = [
  'processors/engine',
  'processors/adapters',
  'host',
  'cli',
  'producers/http',
  'producers/live',
  'producers/mqtt',
]

/** The lines of a comment, which can contain examples of keys. */
const COMMENTS = /^\s*(\/\/|\/\*|\*).*$/gm

const sources = FOLDERS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, folder, name), 'utf8').replace(COMMENTS, '')),
)

/** The forms in which source code contains the prefix of a key or a complete key. */
const KEY_PARTS = [
  /['`]([A-Z]{2,})#/g,
  /\bPK: '([A-Z]+)'/g,
  /\bconst PK = '([A-Z]+)'/g,
  /\bSK: '([A-Z]+)'/g,
  /\bconst SK = '([A-Z]+)'/g,
]

test('the page lists the kinds of rows that the code writes, and no others', () => {
  const written = new Set(
    sources.flatMap((source) => KEY_PARTS.flatMap((part) => [...source.matchAll(part)].map(([, name = '']) => name))),
  )
  const listed = new Set([...page.matchAll(/^\| `([A-Z]+)` \|/gm)].map(([, name = '']) => name))
  // Names of sort keys, such as `KEY`. They need no row of their own: the page lists them in the column of the key.
  const ofKeys = new Set([...page.matchAll(/ SK `([A-Z]+)`[: ]/g)].map(([, name = '']) => name))
  expect([...listed].filter((name) => !written.has(name))).toEqual([])
  expect([...written].filter((name) => !listed.has(name) && !ofKeys.has(name))).toEqual([])
})

test('the page describes tombstones and the removals of domains', () => {
  expect(page).toMatch(/^\| `_removed` \(tombstone\) \|/m)
  expect(page).toContain('`GONE#`')
})

test('every row has a key, a writer, a reader, a remover and a state after a crash', () => {
  const rows = page.split('\n').filter((line) => /^\| `[A-Z_]/i.test(line) && !line.startsWith('| `DOMAIN`'))
  for (const row of rows) {
    const cells = row.split(' | ').map((cell) => cell.replaceAll('|', '').trim())
    expect(cells, row).toHaveLength(6)
    for (const cell of cells) expect(cell, row).not.toBe('')
  }
})

test('every file that the page names exists', () => {
  for (const [, path = ''] of page.matchAll(/`((?:processors|projections|host|test)\/[\w/-]+\.ts)`/g))
    expect(() => readFileSync(join(root, path)), path).not.toThrow()
})
