import type { Logs, OpenTopic } from '../../processors/engine/ports/log-admin.ts'
import type { LogRecord } from '../../processors/engine/ports/log.ts'
import { bytes } from './listener.ts'

/** An opened log adapter for the contract suite. */
export interface LogSetup {
  logs: Logs
  cleanup(): Promise<void>
  /** Closes the logs and opens the same storage again, like a restart. */
  reopen?(): Promise<Logs>
  /** Removes the records before an offset, as retention does. */
  trim?(topic: string, partition: number, before: number): Promise<void>
}

export interface LogSubject {
  /** Returns the opened adapter. All tests of the suite use the same one. */
  readonly setup: () => LogSetup
  /** Opens a new empty topic. */
  readonly fresh: () => Promise<OpenTopic>
}

export const record = (key: string, value: string) => ({ key, value: bytes(value) })
export const numbered = (key: string, count: number, prefix = '') =>
  Array.from({ length: count }, (_, index) => record(key, `${prefix}${index}`))

export async function all(batches: AsyncIterable<readonly LogRecord[]>): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const batch of batches) records.push(...batch)
  return records
}
