import { stripVTControlCharacters } from 'node:util'

export interface TableOptions {
  /** The headings of columns of numbers, whose cells are aligned on the right. */
  readonly right?: readonly string[]
  /** The headings of columns of text. If the table is too wide, cells of these columns continue on the next line. */
  readonly wrap?: readonly string[]
}

export interface TableSpace {
  readonly width: number
  /** True: a word that is longer than the width is cut into lines. False: the word stays whole, so that a script finds it. */
  readonly breaks: boolean
  readonly heading: (text: string) => string
}

type Rows = readonly (readonly string[])[]

const GAP = 2
/** The minimum width of a column of text, in characters. */
const LEAST = 16

/**
 * Formats rows of text as a table. The first row contains the headings. If the table is wider than the space, headings and columns of text take
 * several lines. If it is still too wide, each row becomes a block with one line per cell.
 */
export const formatTable = (rows: Rows, { right = [], wrap = [] }: TableOptions, space: TableSpace): string => {
  const [head = [], ...body] = rows.map((row) => row.map((cell) => cell.replace(/\s*\n\s*/g, ' ')))
  const isRight = head.map((name) => right.includes(name))
  const widths = widthsOf([head, ...body], { wrap, space })
  if (widths === undefined) return blocksOf(head, body, space)
  const lines = (row: readonly string[]): readonly string[] =>
    linesOf(
      row.map((cell, index) => wrapped(cell, widths[index] ?? 0, space.breaks)),
      widths,
      isRight,
    )
  return [...lines(head).map(space.heading), ...body.flatMap(lines)].join('\n')
}

/** The width of each column. Undefined if the table does not fit the space. */
const widthsOf = (
  [head = [], ...body]: Rows,
  { wrap, space }: { wrap: readonly string[]; space: TableSpace },
): readonly number[] | undefined => {
  const cells = head.map((_, index) => widest(body.map((row) => row[index] ?? '')))
  const natural = head.map((name, index) => Math.max(cells[index] ?? 0, widthOf(name)))
  const room = space.width - GAP * (head.length - 1)
  if (sum(natural) <= room) return natural
  const widths = head.map((name, index) => Math.max(cells[index] ?? 0, widest(name.split(' '))))
  const least = head.map((name, index) => {
    const words = [name, ...body.map((row) => row[index] ?? '')].flatMap((text) => text.split(' '))
    // A long word in the last column moves no other column, so the last column can be narrower than its words.
    return wrap.includes(name)
      ? Math.min(widths[index] ?? 0, space.breaks || index === head.length - 1 ? LEAST : Math.max(LEAST, widest(words)))
      : (widths[index] ?? 0)
  })
  if (sum(least) > room) return undefined
  for (let excess = sum(widths) - room; excess > 0;) {
    const spare = widths.map((width, index) => width - (least[index] ?? 0))
    const index = spare.indexOf(Math.max(...spare))
    const taken = Math.min(excess, Math.ceil((spare[index] ?? 0) / 2))
    widths[index] = (widths[index] ?? 0) - taken
    excess -= taken
  }
  return widths
}

const linesOf = (
  cells: readonly (readonly string[])[],
  widths: readonly number[],
  isRight: readonly boolean[],
): readonly string[] =>
  Array.from({ length: Math.max(1, ...cells.map(({ length }) => length)) }, (_, line) =>
    cells
      .map((parts, index) => padded(parts[line] ?? '', widths[index] ?? 0, isRight[index] === true))
      .join(' '.repeat(GAP))
      .trimEnd(),
  )

/** Formats each row as a block: one line per cell that is not empty, after its heading. A row without a first cell continues the previous block. */
const blocksOf = (head: readonly string[], body: Rows, { width, breaks, heading }: TableSpace): string => {
  const indent = widest(head) + GAP
  const block = (row: readonly string[]): readonly string[] =>
    row.flatMap((cell, index) => {
      if (cell === '') return []
      const [first = '', ...rest] = wrapped(cell, width - indent, breaks)
      return [
        heading(padded(head[index] ?? '', indent, false)) + first,
        ...rest.map((line) => ' '.repeat(indent) + line),
      ]
    })
  return body.flatMap((row, index) => [...(index > 0 && row[0] !== '' ? [''] : []), ...block(row)]).join('\n')
}

/** Splits a text into lines of at most this width. A longer word makes a longer line if `breaks` is false. */
const wrapped = (text: string, width: number, breaks: boolean): readonly string[] => {
  if (widthOf(text) <= width) return [text]
  const lines: string[] = []
  for (const word of text.split(' ').flatMap((each) => (breaks ? cut(each, width) : [each]))) {
    const last = lines.at(-1)
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

const cut = (word: string, width: number): readonly string[] => {
  if (widthOf(word) <= width) return [word]
  const parts = ['']
  for (const sign of word) {
    if (widthOf(`${parts.at(-1)}${sign}`) > width) parts.push('')
    parts[parts.length - 1] += sign
  }
  return parts
}

/** Letters of East Asian scripts and emoji. A terminal shows each of them in two columns. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u

/** The number of terminal columns that a text takes. Colour codes take none. */
export const widthOf = (text: string): number => {
  const plain = stripVTControlCharacters(text)
  if (/^[\u0020-\u00ff]*$/.test(plain)) return plain.length
  let width = 0
  for (const sign of plain) width += WIDE.test(sign) ? 2 : 1
  return width
}

const padded = (text: string, width: number, isRight: boolean): string => {
  const fill = ' '.repeat(Math.max(0, width - widthOf(text)))
  return isRight ? fill + text : text + fill
}

const widest = (texts: readonly string[]): number => texts.reduce((most, text) => Math.max(most, widthOf(text)), 0)
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
