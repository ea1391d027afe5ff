import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const engine = join(import.meta.dirname, '..', '..', '..', 'processors', 'engine')
const CORE = ['ports', 'fold']
const files = CORE.flatMap((chapter) =>
  readdirSync(join(engine, chapter)).map((name) => ({
    name: `${chapter}/${name}`,
    text: readFileSync(join(engine, chapter, name), 'utf8'),
  })),
)

test('the core has fewer than 1,100 lines', () => {
  const lines = files.reduce((sum, { text }) => sum + text.trimEnd().split('\n').length, 0)
  expect(lines).toBeLessThan(1_100)
})

test('the core imports no other chapter of the engine', () => {
  for (const { name, text } of files)
    for (const [, chapter = ''] of text.matchAll(/from '\.\.\/([\w-]+)\//g))
      expect(CORE, `${name} imports ${chapter}/`).toContain(chapter)
})
