import { hash } from 'node:crypto'
import type { Key } from '../../../projections/item.ts'

/** The prefix of the rows of parked keys, in the table of a generation. Domains never write under this prefix. */
const PARKED = 'PARKED#'
/** The prefixes of rows in the control table: `MARKS#` for verdicts, `TRIES#` for delivery attempts. */
export const MARKS = 'MARKS#'
export const TRIES = 'TRIES#'

export const parkedPartition = (partition: number): string => `${PARKED}${partition}`
export const parkedKey = (partition: number, projection: string, key: string): Key => ({
  PK: parkedPartition(partition),
  SK: `${projection}#${shortened(key)}`,
})
export const isParkedEntry = ({ PK }: Key): boolean => PK.startsWith(PARKED)

/** A log key that is longer than this, or contains U+0000, is replaced by its hash. So a row can be written for every log key. */
const MAX_LOG_KEY_BYTES = 512
const shortened = (key: string): string =>
  Buffer.byteLength(key) > MAX_LOG_KEY_BYTES || key.includes('\u0000') ? `sha256:${hash('sha256', key)}` : key
