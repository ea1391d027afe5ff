import type { Reader } from '../projections/table.ts'

/** The page of an export that is requested. */
export interface ExportPaging {
  readonly limit: number
  readonly cursor?: string
  /** True: also past changes. False: only the current state. */
  readonly history: boolean
}

/** A row of an export. `kind`: the kind of thing that it describes. */
export type ExportRow = { readonly kind: string } & Readonly<Record<string, unknown>>

/** Exports all items of one key of a domain. */
export interface Exporter {
  /** Undefined if the key does not exist. */
  page(
    reader: Reader,
    key: string,
    paging: ExportPaging,
  ): Promise<{ readonly items: readonly ExportRow[]; readonly cursor?: string } | undefined>
  readonly columns: readonly string[]
  /** The CSV rows of an export row, by column. */
  cells(row: ExportRow): readonly Readonly<Record<string, unknown>>[]
}

/** The rows as CSV (RFC 4180). Every line ends with CRLF. */
export const csvRows = ({ columns, cells }: Pick<Exporter, 'columns' | 'cells'>, rows: readonly ExportRow[]): string =>
  rows
    .flatMap(cells)
    .map((row) => csvLine(columns.map((column) => row[column])))
    .join('')

export const csvHeader = ({ columns }: Pick<Exporter, 'columns'>): string => csvLine(columns)

const csvLine = (values: readonly unknown[]): string => `${values.map(cellOf).join(',')}\r\n`

/** A cell. A text that a spreadsheet would compute as a formula gets an apostrophe in front, which marks text. Numbers do not. */
const cellOf = (value: unknown): string => {
  const text = value === null || value === undefined ? '' : String(value)
  const safe = /^[=+\-@\t\r\n|%＝＋－＠]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
