import { columnsIn, WIDTH } from '../cli/output.ts'
import { formatTable } from '../cli/table.ts'

/** Prints a table that fits the terminal. Checks no limits: a benchmark never fails because of a slow result. */
export const printTable = (title: string, rows: readonly (readonly (string | number)[])[]): void => {
  const [head = [], ...body] = rows.map((row) => row.map(String))
  const right = head.filter((_, column) => body.every((row) => /^[\d,.]+/.test(row[column] ?? '')))
  const width = columnsIn(process.env) ?? (process.stdout.columns || WIDTH)
  const table = formatTable(
    [head, ...body],
    { right, wrap: head.slice(0, 1) },
    { width, breaks: false, heading: (text) => text },
  )
  process.stdout.write(`\n${title}\n${table}\n`)
}

export const perSecond = (count: number, seconds: number): string => Math.round(count / seconds).toLocaleString('en')

export const ratio = (value: number): string => value.toFixed(2)

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

export const quantile = (values: readonly number[], q: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0
}
