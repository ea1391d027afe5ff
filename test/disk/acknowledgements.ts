import type { Founding } from '../../processors/engine/ports/key-store.ts'
import type { TableSpec } from '../../projections/table.ts'

export const TOPIC = 'events'
export const TABLE: TableSpec = { name: 'counts', ttl: 'ttl', indexes: [] }
export const FOUNDING: Founding = { id: 'store-1', plainBefore: {} }

/** An acknowledged write. The child process prints it as soon as the write is acknowledged. */
export type Ack =
  | { readonly what: 'topic'; readonly id: string }
  | { readonly what: 'founding' }
  | { readonly what: 'events'; readonly records: readonly (readonly [offset: number, key: string, length: number])[] }
  | { readonly what: 'row'; readonly table: string; readonly sk: string; readonly length: number }
  | { readonly what: 'key'; readonly subject: string; readonly secret: string }
  | { readonly what: 'destroyed'; readonly subject: string; readonly secret: string }
  | { readonly what: 'secret'; readonly subject: string; readonly version: number; readonly value: string }
  /** Not an acknowledgement, but a mark in the output: after it, several writes run at the same time. */
  | { readonly what: 'together' }

/** The folder below the data folder whose files contain the acknowledged write. */
export const folderOf = (ack: Ack): string => {
  if (ack.what === 'row') return `tables/${ack.table}/`
  return ['key', 'destroyed', 'secret', 'founding'].includes(ack.what) ? 'keys/' : 'log/'
}
