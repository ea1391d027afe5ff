import type { Founding } from '../../processors/engine/key-store.ts'
import type { TableSpec } from '../../projections/table.ts'

export const TOPIC = 'events'
export const TABLE: TableSpec = { name: 'counts', ttl: 'ttl', indexes: [] }
export const FOUNDING: Founding = { id: 'store-1', plainBefore: {} }

/** What the program promised to the child. The child prints it as soon as it has the promise. */
export type Ack =
  | { readonly what: 'topic'; readonly id: string }
  | { readonly what: 'founding' }
  | { readonly what: 'events'; readonly records: readonly (readonly [offset: number, key: string, length: number])[] }
  | { readonly what: 'row'; readonly table: string; readonly sk: string; readonly length: number }
  | { readonly what: 'key'; readonly subject: string; readonly secret: string }
  | { readonly what: 'destroyed'; readonly subject: string; readonly secret: string }
  /** No promise: from here on several things are written at once. */
  | { readonly what: 'together' }

/** The folder, below the data folder, in whose files the promise is kept. */
export const folderOf = (ack: Ack): string => {
  if (ack.what === 'row') return `tables/${ack.table}/`
  return ['key', 'destroyed', 'founding'].includes(ack.what) ? 'keys/' : 'log/'
}
