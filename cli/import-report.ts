import type { ImportLine } from '../projections/importing.ts'
import type { Imported, RowResult } from '../host/ipc/operations/import.ts'

/** The reason why a line of the file was not imported, or a note about this line. */
export interface LineReport {
  readonly line: number
  readonly reason: string
}

/** Each row counts once: `rows` is the sum of changed, known, derived, refused and unreadable rows. */
export interface Report {
  readonly rows: number
  readonly events: number
  readonly changed: number
  readonly known: number
  readonly derived: number
  readonly refused: readonly LineReport[]
  readonly unreadable: readonly LineReport[]
  readonly notes: readonly LineReport[]
}

/** The results from the weakest to the strongest. If the importer made several lines of one row of the file, the row has their strongest result. */
const ORDER: readonly RowResult['kind'][] = ['derived', 'known', 'changed', 'unreadable', 'refused']

type Row = RowResult & { readonly line: number }

/** Adds up the results of the parts of a file. */
export const startReport = () => {
  const counts = { derived: 0, known: 0, changed: 0 }
  const [failed, notes]: [Row[], LineReport[]] = [[], []]
  /** The results so far of rows of the file from which the importer made several lines, by the number of the row (`nth`). */
  const open = new Map<number, Row>()
  let events = 0
  const addRow = (row: Row, tally: { failed: Row[]; counts: typeof counts }): void => {
    if (row.kind === 'refused' || row.kind === 'unreadable') tally.failed.push(row)
    else tally.counts[row.kind] += 1
  }
  return {
    add(lines: readonly ImportLine[], part: Imported): void {
      events += part.events
      for (const [at, { line, nth }] of lines.entries()) {
        const row: Row = { kind: 'known', ...part.results[at], line }
        if (row.note !== undefined) notes.push({ line, reason: row.note })
        if (nth === undefined) addRow(row, { failed, counts })
        else open.set(nth, stronger(open.get(nth), row))
      }
    },
    read(): Report {
      const sum = { failed: [...failed], counts: { ...counts } }
      for (const row of open.values()) addRow(row, sum)
      const reportsOf = (kind: RowResult['kind']): readonly LineReport[] =>
        sum.failed
          .flatMap(({ line, reason = '', ...row }) => (row.kind === kind ? [{ line, reason }] : []))
          .sort((a, b) => a.line - b.line)
      const { derived, known, changed } = sum.counts
      return {
        rows: derived + known + changed + sum.failed.length,
        events,
        changed,
        known,
        derived,
        refused: reportsOf('refused'),
        unreadable: reportsOf('unreadable'),
        notes,
      }
    },
  }
}

const stronger = (before: Row | undefined, row: Row): Row =>
  before === undefined || ORDER.indexOf(row.kind) > ORDER.indexOf(before.kind) ? row : before
