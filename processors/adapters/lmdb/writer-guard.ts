import type { Database, RootDatabase } from 'lmdb'
import { Fault } from '../../../schemas/fault.ts'
import { utf8Keys, type LmdbKey } from './environment.ts'

/**
 * Finds a second writer of the log. The log has one entry whose version counts the transactions of all writers. A writer commits only if this
 * version has not changed since its own last transaction, and increments the version in the same transaction.
 */
export interface WriterGuard {
  /** The number of transactions so far. Null if only earlier releases wrote the log. */
  count(): number | null
  /** Commits the writes of `put`, all or nothing, if the log still has `count` transactions. Otherwise writes nothing and resolves to false. */
  commit(count: number | null, put: () => void): Promise<boolean>
}

const ENTRY = 'log'
const NOTHING = Buffer.alloc(0)

export const openWriterGuard = (root: RootDatabase): WriterGuard => {
  const options = { name: 'writers', encoding: 'binary' as const, keyEncoder: utf8Keys, useVersions: true }
  const writers: Database<Buffer, LmdbKey> = root.openDB<Buffer, LmdbKey>(options)
  return {
    count: () => writers.getEntry(ENTRY)?.version ?? null,
    commit: (count, put) => {
      const work = (): void => {
        put()
        void writers.put(ENTRY, NOTHING, (count ?? 0) + 1)
      }
      return count === null ? writers.ifNoExists(ENTRY, work) : writers.ifVersion(ENTRY, count, work)
    },
  }
}

export const secondWriter = (path: string): Fault =>
  new Fault(
    'log-second-writer',
    `Another process appended to the log at ${path}, which belongs to one process. Nothing of this request was written, and this process appends nothing any more. Stop every process that uses the data folder, then start one.`,
  )
