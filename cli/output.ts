import type { Says } from './socket.ts'

export const EXIT = { fine: 0, failed: 1, usage: 2, differs: 3, parked: 4, interrupted: 130 } as const
export type Exit = (typeof EXIT)[keyof typeof EXIT]

const PROGRESS_EVERY_MS = 5000

export interface Output {
  /** A line for people or of JSON, to stdout. Control characters in it are escaped. */
  line(text: string): void
  /** A line of a file format, to stdout: escaped on a terminal only, because a file must contain what was stored. */
  exact(text: string): void
  /** For people, to stderr. */
  note(text: string): void
  /** On a terminal the last line is rewritten, with a bar where a share is known; elsewhere a line every 5 s. */
  progress(text: string, share?: number): void
  /** Ends a progress line, so that what follows begins on its own. */
  settle(): void
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
}

export interface Terminal {
  readonly out: { write(text: string): unknown; readonly isTTY?: boolean }
  readonly err: { write(text: string): unknown; readonly isTTY?: boolean }
  readonly color: boolean
  now(): number
}

export const createOutput = ({ out, err, color, now }: Terminal): Output => {
  let open = false
  let last = -Infinity
  const settle = (): void => {
    if (open) err.write('\r\u001b[K')
    open = false
  }
  const shown = color ? escapeButColors : escapeControls
  const write = (text: string): void => {
    settle()
    out.write(`${text}\n`)
  }
  const paint = (code: number) => (text: string): string => (color ? `\u001b[${code}m${text}\u001b[0m` : text)
  return {
    line: (text) => write(shown(text)),
    exact: (text) => write(out.isTTY === true ? escapeControls(text) : text),
    note: (text) => {
      settle()
      err.write(`${shown(text)}\n`)
    },
    progress: (told, share) => {
      const text = escapeControls(told)
      if (err.isTTY === true) {
        err.write(`\r\u001b[K${share === undefined ? '' : `${bar(share)} `}${text}`)
        open = true
      } else if (now() - last >= PROGRESS_EVERY_MS) {
        last = now()
        err.write(`${text}\n`)
      }
    },
    settle,
    bold: paint(1),
    dim: paint(2),
    red: paint(31),
  }
}

/** All control characters but line feed and tab, and the marks that reverse the direction of text. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Stored text must not move the cursor, change the title or hide lines of a terminal. The escapes are those of JSON. */
const escapeControls = (text: string): string => text.replace(CONTROLS, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The colours of `paint` stay. */
const escapeButColors = (text: string): string => text.split(COLORS).map((part, index) => (index % 2 === 0 ? escapeControls(part) : part)).join('')
const COLORS = /(\u001b\[(?:0|1|2|31)m)/

const BAR = 20
const bar = (share: number): string => `[${'#'.repeat(Math.floor(share * BAR)).padEnd(BAR, '.')}]`

/** `NO_COLOR` (any value) and `--no-color` win; otherwise colours only on a terminal. */
export const wantsColor = (env: Readonly<Record<string, string | undefined>>, args: readonly string[], isTTY: boolean): boolean =>
  isTTY && (env['NO_COLOR'] ?? '') === '' && !args.includes('--no-color') && env['TERM'] !== 'dumb'

/** Rows of text as columns; those that the first row names in `right` end alike. */
export const columns = (rows: readonly (readonly string[])[], right: readonly string[] = []): string => {
  const head = rows[0] ?? []
  const widths = head.map((_, index) => rows.reduce((widest, row) => Math.max(widest, (row[index] ?? '').length), 0))
  const padded = (cell: string, index: number): string => (right.includes(head[index] ?? '') ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0))
  return rows.map((row) => row.map((cell, index) => (index === row.length - 1 && right.length === 0 ? cell : padded(cell, index))).join('  ').trimEnd()).join('\n')
}

export const saysTo = (output: Output, signal: AbortSignal, row: (row: unknown) => void): Says => ({ row, progress: output.progress, signal })
