import type { Reader } from '../projections/table.ts'

/** Selects one page of an export. */
export interface ExportPaging {
  readonly limit: number
  readonly cursor?: string
  /** True: also past changes. False: only the current state. */
  readonly history: boolean
  /** The readers of the further domains of the record (`also`), by name. */
  readonly further?: Readonly<Record<string, Reader>>
}

/** A row of an export. `kind` names what the row describes, for example `expense`. */
export type ExportRow = { readonly kind: string } & Readonly<Record<string, unknown>>

/** Exports everything that a domain stores for one log key, for example for one group. */
export interface Exporter {
  /** Returns one page of rows, with a cursor if another page follows. Undefined if the key does not exist. */
  page(
    reader: Reader,
    key: string,
    paging: ExportPaging,
  ): Promise<{ readonly items: readonly ExportRow[]; readonly cursor?: string } | undefined>
  readonly columns: readonly string[]
  /** Returns the CSV rows of an export row. Each CSV row has its cells by the name of the column. */
  cells(row: ExportRow): readonly Readonly<Record<string, unknown>>[]
}

/** The rows as CSV (RFC 4180), without the header. Every line ends with CRLF. */
export const csvRows = ({ columns, cells }: Pick<Exporter, 'columns' | 'cells'>, rows: readonly ExportRow[]): string =>
  rows
    .flatMap(cells)
    .map((row) => csvLine(columns.map((column) => row[column])))
    .join('')

export const csvHeader = ({ columns }: Pick<Exporter, 'columns'>): string => csvLine(columns)

const csvLine = (values: readonly unknown[]): string => `${values.map(cellOf).join(',')}\r\n`

/** Formats a cell. If a spreadsheet would run the text as a formula, puts an apostrophe in front, so that it is shown as text. Numbers get none. */
const cellOf = (value: unknown): string => {
  const text = value === null || value === undefined ? '' : String(value)
  const safe = /^[=+\-@\t\r\n|%＝＋－＠]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
