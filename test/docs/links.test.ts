import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const docs = readdirSync(join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : []))
const pages = ['README.md', 'CONTRIBUTING.md', 'timestream-local/README.md', ...docs]

/** Returns the anchor of a heading, by the rules of code hosts such as GitHub. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

/** The headings by their anchors. If headings have the same anchor, the second one ends with `-1`, the third with `-2`. */
const headingsIn = (text: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  const uses = new Map<string, number>()
  for (const [, heading = ''] of text.replace(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)) {
    const [anchor, before] = [anchorOf(heading), uses.get(anchorOf(heading)) ?? 0]
    uses.set(anchor, before + 1)
    found.set(before === 0 ? anchor : `${anchor}-${before}`, heading)
  }
  return found
}

test.each(pages)('every link of %s leads to a file and a heading that exist', (page) => {
  const text = readFileSync(join(root, page), 'utf8')
  const broken = [...text.replace(/^```[^]*?^```$/gm, '').matchAll(/\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]+))?\)/g)]
    .map(([, file = '', anchor]) => ({ file, anchor }))
    .filter(({ file, anchor }) => {
      const path = file === '' ? join(root, page) : join(root, dirname(page), file)
      return !existsSync(path) || (anchor !== undefined && !headingsIn(readFileSync(path, 'utf8')).has(anchor))
    })
  expect(broken).toEqual([])
})

test('every name in the lists of docs/api.md leads to its own heading', () => {
  const text = readFileSync(join(root, 'docs', 'api.md'), 'utf8')
  const headings = headingsIn(text)
  const links = [...text.matchAll(/\[`(\w+)`\]\(#([\w-]+)\)/g)]
  expect(links.length).toBeGreaterThan(200)
  expect(links.filter(([, name, anchor = '']) => headings.get(anchor) !== name).map(([link]) => link)).toEqual([])
})

test('the README has at most 150 lines', () => {
  expect(readFileSync(join(root, 'README.md'), 'utf8').split('\n').length).toBeLessThanOrEqual(150)
})
