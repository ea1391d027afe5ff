import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const root = new URL('../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

const linesOf = (domain: string, count: number, letters: string): readonly string[] => [
  ...Array.from({ length: count }, (_, n) => `${domain}${n + 1}`),
  ...[...letters].map((letter) => `${domain}-${letter}`),
]
const lines = [
  ...linesOf('M', 30, 'abcdefghijkl'),
  ...linesOf('S', 66, 'abcdefghijklmnop'),
  ...linesOf('E', 46, 'abcdefghijklm'),
  ...linesOf('A', 26, 'abcdefghijkl'),
]
const rows = [...read('docs/requirements.md').matchAll(/^\| ([MSEA][-\w]+) \| .+? \| (.+) \|$/gm)].map(
  ([, line = '', files = '']) => ({ line, files: [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file) }),
)

const listed = rows.map(({ line }) => line).sort()

/** The names of the tests in a file, including the names in `test.each`. */
const namesIn = (file: string): readonly string[] =>
  [...read(file).matchAll(/\b(?:test|it)\b[^\n]*?\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g)].map(([, , name = '']) => name)

describe('every line of the requirements', () => {
  test('is on the page once, and nothing else is', () => expect(listed).toEqual([...lines].sort()))

  test.each(rows)('$line is in the name of a test in every file that the page lists', ({ line, files }) => {
    expect(files.length).toBeGreaterThan(0)
    const named = new RegExp(`(?<![\\w-])${line}(?![\\w-])`)
    for (const file of files) {
      expect(existsSync(new URL(file, root)), file).toBe(true)
      expect(
        namesIn(file).some((name) => named.test(name)),
        `${file} has a test that names ${line}`,
      ).toBe(true)
    }
  })
})
