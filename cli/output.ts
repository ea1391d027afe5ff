import { styleText } from 'node:util'
import { formatTable, widthOf, type TableOptions } from './table.ts'

export const EXIT = { fine: 0, failed: 1, usage: 2, differs: 3, parked: 4, interrupted: 130 } as const
export type Exit = (typeof EXIT)[keyof typeof EXIT]

const PROGRESS_EVERY_MS = 5000

export interface Output {
  /** Writes a line for people, or a line of JSON, to stdout. Escapes control characters. */
  line(text: string): void
  /** Writes a line of a file format to stdout. Escapes control characters only on a terminal, because a file must contain the stored text. */
  exact(text: string): void
  /** Writes a line for people to stderr. Escapes control characters. */
  note(text: string): void
  /** On a terminal, rewrites the last line, with a bar if `share` is given. Elsewhere, writes at most one line per 5 s. */
  progress(text: string, share?: number): void
  /** Removes the progress line, so that the next output begins on a new line. */
  settle(): void
  /** On a terminal, replaces the previous text of `redraw`, without scrolling. Elsewhere, writes the text and an empty line to stdout. */
  redraw(text: string): void
  /** Formats rows as a table that fits the terminal. The first row contains the headings. */
  table(rows: readonly (readonly string[])[], options?: TableOptions): string
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
}

export interface Terminal {
  readonly out: {
    write(text: string): unknown
    readonly isTTY?: boolean
    readonly columns?: number
    readonly rows?: number
  }
  readonly err: { write(text: string): unknown; readonly isTTY?: boolean }
  readonly color: boolean
  /** The width that the user demands (COLUMNS), whether stdout is a terminal or not. */
  readonly columns?: number | undefined
  now(): number
}

/** The width of a table, in columns, if stdout is no terminal or its width is unknown. */
export const WIDTH = 80

export const createOutput = ({ out, err, color, columns, now }: Terminal): Output => {
  let open = false
  let last = -Infinity
  let drawn = 0
  const settle = (): void => {
    if (open) err.write('\r\u001b[K')
    open = false
  }
  const shown = color ? escapeButColors : escapeControls
  const write = (text: string): void => {
    settle()
    out.write(`${text}\n`)
  }
  const paint =
    (format: Format) =>
    (text: string): string =>
      color ? styleText(format, text, { validateStream: false }) : text
  // A terminal of unknown size reports 0, so `||` selects the default.
  const width = (): number => columns ?? ((out.isTTY === true && out.columns) || WIDTH)
  const redraw = (text: string): void => {
    if (out.isTTY !== true) return write(`${shown(text)}\n`)
    const lines = fitting(shown(text), { width: width(), height: (out.rows || Infinity) - 1 })
    write(`${drawn === 0 ? '' : `\u001b[${drawn}A\r\u001b[J`}${lines.text}`)
    drawn = lines.height
  }
  return {
    line: (text) => write(shown(text)),
    exact: (text) => write(out.isTTY === true ? escapeControls(text) : text),
    note: (text) => {
      settle()
      err.write(`${shown(text)}\n`)
    },
    progress: (line, share) => {
      const text = escapeControls(line)
      if (err.isTTY === true) {
        err.write(`\r\u001b[K${share === undefined ? '' : `${bar(share)} `}${text}`)
        open = true
      } else if (now() - last >= PROGRESS_EVERY_MS) {
        last = now()
        err.write(`${text}\n`)
      }
    },
    settle,
    redraw,
    // Escapes the cells before `formatTable` measures them, because an escaped character is wider.
    table: (rows, options = {}) =>
      formatTable(
        rows.map((row) => row.map(shown)),
        options,
        { width: width(), breaks: columns !== undefined || out.isTTY === true, heading: paint('bold') },
      ),
    bold: paint('bold'),
    dim: paint('dim'),
    red: paint('red'),
  }
}

type Format = 'bold' | 'dim' | 'red'

/** Returns the first lines of a text that fit the screen, and the number of screen rows that these lines take. A long line takes several rows. */
const fitting = (
  text: string,
  { width, height }: { width: number; height: number },
): { readonly text: string; readonly height: number } => {
  const lines: string[] = []
  let taken = 0
  for (const line of text.split('\n')) {
    const rows = Math.max(1, Math.ceil(widthOf(line) / width))
    if (taken + rows > height) break
    lines.push(line)
    taken += rows
  }
  return { text: lines.join('\n'), height: taken }
}

/** All control characters except line feed and tab, and the marks that reverse the direction of text. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Replaces control characters by JSON escapes, because stored text must not move the cursor, change the title or hide lines of a terminal. */
const escapeControls = (text: string): string =>
  text.replace(CONTROLS, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Like `escapeControls`, but keeps the colour codes that `paint` writes. */
const escapeButColors = (text: string): string =>
  text
    .split(COLORS)
    .map((part, index) => (index % 2 === 0 ? escapeControls(part) : part))
    .join('')
const COLORS = /(\u001b\[(?:1|2|22|31|39)m)/

const BAR = 20
const bar = (share: number): string => `[${'#'.repeat(Math.floor(share * BAR)).padEnd(BAR, '.')}]`

/** `NO_COLOR` and `--no-color` switch colours off, `FORCE_COLOR` switches them on. Default: only on a terminal. */
export const wantsColor = (env: Env, args: readonly string[], isTTY: boolean): boolean => {
  if ((env['NO_COLOR'] ?? '') !== '' || args.includes('--no-color') || env['FORCE_COLOR'] === '0') return false
  return (env['FORCE_COLOR'] ?? '') !== '' || (isTTY && env['TERM'] !== 'dumb')
}

const LEAST_COLUMNS = 40

/**
 * The width that the variable `COLUMNS` demands, at least `LEAST_COLUMNS`. Undefined if the variable is not set or is not a number of two to five
 * digits. A shell does not export its own COLUMNS, so a value comes from the user.
 */
export const columnsIn = ({ COLUMNS }: Env): number | undefined =>
  /^\d{2,5}$/.test(COLUMNS ?? '') ? Math.max(LEAST_COLUMNS, Number(COLUMNS)) : undefined

type Env = Readonly<Record<string, string | undefined>>
