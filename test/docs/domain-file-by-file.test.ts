import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const path = join(import.meta.dirname, '..', '..', 'docs', 'domain-file-by-file.md')
const page = readFileSync(path, 'utf8')
const links = [...page.matchAll(/\[`(\w+)`\]\((\.\.\/[^)]+)\)/g)].map(([, name = '', file = '']) => ({ name, file }))

test('the page links the functions of every layer', () => {
  const folders = new Set(links.map(({ file }) => file.split('/')[1]))
  expect([...folders].sort()).toEqual(['domains', 'processors', 'producers', 'projections', 'schemas'])
  expect(links.length).toBeGreaterThan(30)
})

test.each(links)('$file declares $name', ({ name, file }) => {
  const source = readFileSync(join(dirname(path), file), 'utf8')
  expect(source).toMatch(new RegExp(`\\b(const|function|interface|type|record|class) ${name}\\b`))
})

test('every folder that the page names exists', () => {
  for (const [, folder = ''] of page.matchAll(/`((?:test|processors|producers|projections)\/[\w/]+)`/g))
    expect(existsSync(join(dirname(path), '..', folder)), folder).toBe(true)
})
