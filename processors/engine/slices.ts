import type { LogRecord } from './log.ts'

/**
 * A batch in parts of about `size` records, each key whole in one of them and in order. What is decoded and folded for a part
 * is let go before the next: kept for a whole batch, it would outlive its youth, and collecting it costs more than folding it.
 */
export const slicesOf = (records: readonly LogRecord[], size: number): readonly (readonly LogRecord[])[] => {
  if (records.length <= size) return [records]
  const byKey = new Map<string | null, LogRecord[]>()
  for (const record of records) {
    const known = byKey.get(record.key)
    if (known === undefined) byKey.set(record.key, [record])
    else known.push(record)
  }
  const slices: LogRecord[][] = []
  let open: LogRecord[] = []
  for (const ofKey of byKey.values()) {
    if (open.length === 0) slices.push(open)
    for (const record of ofKey) open.push(record)
    if (open.length >= size) open = []
  }
  return slices
}
