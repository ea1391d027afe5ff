import type { Reader } from '../projections/table.ts'

export interface ExportPaging {
  readonly limit: number
  readonly cursor?: string
  /** What happened, too, and not only what is there now. */
  readonly history: boolean
}

/** One thing of an export: its `kind` tells what it is. */
export type ExportRow = { readonly kind: string } & Readonly<Record<string, unknown>>

/** How a domain gives out all it has of one key. */
export interface Exporter {
  /** Undefined where there is no such key. */
  page(reader: Reader, key: string, paging: ExportPaging): Promise<{ readonly items: readonly ExportRow[]; readonly cursor?: string } | undefined>
  readonly columns: readonly string[]
  /** A row of a table, or several; by the names of columns. */
  cells(row: ExportRow): readonly Readonly<Record<string, unknown>>[]
}

/** Lines of RFC 4180, each ended. */
export const csvOf = ({ columns, cells }: Pick<Exporter, 'columns' | 'cells'>, rows: readonly ExportRow[]): string =>
  rows.flatMap(cells).map((row) => csvLine(columns.map((column) => row[column]))).join('')

export const csvHead = ({ columns }: Pick<Exporter, 'columns'>): string => csvLine(columns)

const csvLine = (values: readonly unknown[]): string => `${values.map(cellOf).join(',')}\r\n`

/** What people wrote must not be reckoned by a spreadsheet: a text that would be a formula is led by an apostrophe, as spreadsheets mark text. Numbers stay numbers. */
const cellOf = (value: unknown): string => {
  const text = value === null || value === undefined ? '' : String(value)
  const safe = /^[=+\-@\t\r\n|%＝＋－＠]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
