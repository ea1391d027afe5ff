import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pages } from '../../docs/print-pages.ts'

const root = join(import.meta.dirname, '..', '..')

test.each(Object.entries(pages()))(
  '%s equals the output of the program (npm run pages updates it)',
  (path, printed) => {
    expect(readFileSync(join(root, path), 'utf8')).toBe(printed)
  },
)
