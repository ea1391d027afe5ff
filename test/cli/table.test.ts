import { describe, expect, test } from 'vitest'
import { formatTable, widthOf, type TableOptions } from '../../cli/table.ts'

const table = (
  rows: readonly (readonly string[])[],
  { width = 80, breaks = true, ...options }: TableOptions & { width?: number; breaks?: boolean } = {},
): readonly string[] => formatTable(rows, options, { width, breaks, heading: (text) => text }).split('\n')

describe('a table', () => {
  test('has columns as wide as their widest cell, and numbers are right-aligned', () => {
    expect(
      table([
        ['a', 'bb', 'c'],
        ['aaa', 'b', ''],
      ]),
    ).toEqual(['a    bb  c', 'aaa  b'])
    expect(
      table(
        [
          ['name', 'count'],
          ['x', '1'],
          ['y', '1,000'],
        ],
        { right: ['count'] },
      ),
    ).toEqual(['name  count', 'x         1', 'y     1,000'])
  })

  test('that is too wide continues long headings and columns of text on the next line', () => {
    expect(
      table(
        [
          ['id', 'write units', 'why'],
          ['1', '2.5', 'because the fold of this event failed'],
        ],
        { width: 34, wrap: ['why'] },
      ),
    ).toEqual(['id  write  why', '    units', '1   2.5    because the fold of', '           this event failed'])
  })

  test('that is still too wide becomes one block per row', () => {
    expect(
      table(
        [
          ['id', 'user', 'note'],
          ['0123456789012345', 'ann', ''],
          ['6543210987654321', 'bob', 'x'],
        ],
        { width: 24 },
      ),
    ).toEqual(['id    0123456789012345', 'user  ann', '', 'id    6543210987654321', 'user  bob', 'note  x'])
  })

  test('breaks a word that is too long only if that is allowed', () => {
    const rows = [['id'], ['x'.repeat(100)]]
    expect(Math.max(...table(rows).map(widthOf))).toBe(80)
    expect(table(rows, { breaks: false })).toEqual([`id  ${'x'.repeat(100)}`])
  })

  test('fits its width, whatever the cells', () => {
    const words = ['', 'a', 'alpha beta gamma', 'x'.repeat(90), '漢字'.repeat(30), '🍺 beer', '\u001b[31mred\u001b[39m']
    for (const first of words)
      for (const second of words)
        for (const width of [40, 80]) {
          const lines = table(
            [
              ['first', 'second column'],
              [first, second],
              [second, first],
            ],
            { width, wrap: ['second column'] },
          )
          expect(
            lines.every((line) => widthOf(line) <= width),
            lines.join('\n'),
          ).toBe(true)
        }
  })

  test('keeps a cell with line feeds on its row', () =>
    expect(
      table([
        ['a', 'b'],
        ['one\n  two', 'x'],
      ]),
    ).toEqual(['a        b', 'one two  x']))
})
