import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const page = read('docs/engine.md')
const chapters = readdirSync(new URL('processors/engine/', root), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
const filesOf = (chapter: string) => readdirSync(new URL(`processors/engine/${chapter}/`, root))

/** The sections of the page by chapter (a folder of the engine), in the order of the page. */
const sections = new Map(
  page
    .split('\n## ')
    .slice(1)
    .flatMap((section) =>
      [...(section.split('\n')[0] ?? '').matchAll(/`([a-z-]+)\/`/g)].map(([, name = '']) => [name, section]),
    ),
)

test('the page has a section for every chapter, and for nothing else', () => {
  expect([...sections.keys()].sort()).toEqual([...chapters].sort())
})

test('the page names every file of a chapter, and no other', () => {
  for (const section of new Set(sections.values())) {
    const own = [...sections].filter(([, text]) => text === section).flatMap(([chapter]) => filesOf(chapter))
    const named = new Set([...section.matchAll(/`([a-z-]+\.ts)`/g)].map(([, file = '']) => file))
    // A section must name all files of its own chapters, and can also name files of other chapters.
    const all = chapters.flatMap(filesOf)
    for (const file of own) expect([...named], section.split('\n')[0]).toContain(file)
    for (const file of named) expect(all, section.split('\n')[0]).toContain(file)
  }
})

test('a chapter imports only chapters that the page lists before it', () => {
  const order = [...sections.keys()]
  for (const chapter of chapters)
    for (const file of filesOf(chapter))
      for (const [, other = ''] of read(`processors/engine/${chapter}/${file}`).matchAll(/from '\.\.\/([a-z-]+)\//g))
        expect(order.indexOf(other), `${chapter}/${file} imports ${other}/`).toBeLessThan(order.indexOf(chapter))
})

test('every function and type that the page names is in the engine', () => {
  const sources = chapters.flatMap((chapter) =>
    filesOf(chapter).map((file) => read(`processors/engine/${chapter}/${file}`)),
  )
  const core = page.slice(page.indexOf('## `ports/`'), page.indexOf('## `rows/`'))
  for (const [, name = ''] of core.matchAll(/`([a-z]+[A-Z]\w+|[A-Z][a-z]+)`/g))
    expect(sources.join('\n'), name).toMatch(new RegExp(`\\b(const|type|interface) ${name}\\b`))
})
