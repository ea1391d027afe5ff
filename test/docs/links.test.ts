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

const anchorsIn = (text: string): readonly string[] =>
  [...text.replace(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))

test.each(pages)('every link of %s leads to a file and a heading that exist', (page) => {
  const text = readFileSync(join(root, page), 'utf8')
  const broken = [...text.replace(/^```[^]*?^```$/gm, '').matchAll(/\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]+))?\)/g)]
    .map(([, file = '', anchor]) => ({ file, anchor }))
    .filter(({ file, anchor }) => {
      const path = file === '' ? join(root, page) : join(root, dirname(page), file)
      return !existsSync(path) || (anchor !== undefined && !anchorsIn(readFileSync(path, 'utf8')).includes(anchor))
    })
  expect(broken).toEqual([])
})

test('the README has at most 150 lines', () => {
  expect(readFileSync(join(root, 'README.md'), 'utf8').split('\n').length).toBeLessThanOrEqual(150)
})
