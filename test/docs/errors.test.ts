import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')

const source = ['cli', 'domains', 'host', 'processors', 'producers', 'projections', 'schemas']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(root, folder, name)),
  )
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n')

const documented = readFileSync(join(root, 'docs', 'errors.md'), 'utf8')
  .split('\n')
  .flatMap((line) => /^\| `([^`]+)` \|/.exec(line)?.[1] ?? [])

/** The forms in which the source contains the code of an error: as the code of a thrown error or a refusal, or in a table of answers. */
const FORMS = [
  /new Fault\(\s*'([a-z0-9-]+)'/g,
  /new Problem\(\s*[^,()]+,\s*'([a-z0-9-]+)'/g,
  /\b(?:refuse|unauthorized)\(\s*'([a-z0-9-]+)'/g,
  /\bcode: '([a-z0-9-]+)'(?! in )/g,
  /\[\d{3}, '([a-z0-9-]+)', '/g,
  /^ {2}\w+: \['([a-z0-9-]+)', \(/gm,
]

const found = new Set(FORMS.flatMap((form) => [...source.matchAll(form)].flatMap(([, code]) => code ?? [])))

test('every form of a code is in use', () => {
  for (const form of FORMS) expect([...source.matchAll(form)].length, String(form)).toBeGreaterThan(0)
})

test('every code in the source is documented', () => {
  expect([...found].filter((code) => !documented.includes(code)).sort()).toEqual([])
})

test('every documented code is in the source', () => {
  expect(documented.filter((code) => !source.includes(`'${code}'`))).toEqual([])
})

test('codes are documented once each, in order', () => {
  expect(documented).toEqual([...new Set(documented)].sort())
})
