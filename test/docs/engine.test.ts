import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const page = read('docs/engine.md')
const namedIn = (text: string) => [...text.matchAll(/`([a-z-]+\.ts)`/g)].map(([, file = '']) => file)

test('the page on the engine names every file of it, and no other', () => {
  expect([...new Set(namedIn(page))].sort()).toEqual(readdirSync(new URL('processors/engine/', root)).sort())
})

test('the core is as small as the page says', () => {
  const core = new Set(namedIn(page.slice(page.indexOf('## The core'), page.indexOf('## Why it is right'))))
  expect(core.size).toBe(9)
  const lines = [...core].reduce((sum, file) => sum + read(`processors/engine/${file}`).trimEnd().split('\n').length, 0)
  expect(lines).toBeLessThan(1_000)
})

test('every function that the page names is in the core', () => {
  const core = page.slice(page.indexOf('## The core'), page.indexOf('## Why it is right'))
  const sources = [...new Set(namedIn(core))].map((file) => read(`processors/engine/${file}`)).join('\n')
  for (const [, name = ''] of core.matchAll(/`([a-z]+[A-Z]\w+|[A-Z][a-z]+)`/g)) expect(sources, name).toMatch(new RegExp(`\\b(const|type|interface) ${name}\\b`))
})
