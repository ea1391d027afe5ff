import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pages } from '../../docs/print-pages.ts'

const root = join(import.meta.dirname, '..', '..')

test('the page of the public API shows the types that only other declarations name', () => {
  const page = pages()['docs/api.md'] ?? ''
  for (const declaration of ['type Rates = ', 'interface Control extends ', 'interface ChangeFeed {'])
    expect(page).toContain(`\n${declaration}`)
})

test.each(Object.entries(pages()))(
  '%s equals the output of the program (npm run pages updates it)',
  (path, printed) => {
    expect(readFileSync(join(root, path), 'utf8')).toBe(printed)
  },
)
