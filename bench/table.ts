/** Columns as wide as their widest cell; numbers to the right. Benchmarks print, and never judge. */
export const printTable = (title: string, rows: readonly (readonly (string | number)[])[]): void => {
  const cells = rows.map((row) => row.map(String))
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)))
  const line = (row: readonly string[]) => `| ${row.map((cell, column) => pad(cell, widths[column] ?? 0)).join(' | ')} |`
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  const [head = [], ...body] = cells
  process.stdout.write([`\n${title}\n`, line(head), rule, ...body.map(line), ''].join('\n'))
}

const pad = (cell: string, width: number): string => (/^[\d,.]+/.test(cell) ? cell.padStart(width) : cell.padEnd(width))

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
