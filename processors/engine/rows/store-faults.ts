import { Fault } from '../../../schemas/fault.ts'

/** The codes of the faults after which no attempt to write the same item can succeed. */
const REJECTIONS = ['item-too-large', 'key-too-large', 'value-not-storable', 'item-rejected']

export const isRejection = (error: unknown): error is Fault => error instanceof Fault && REJECTIONS.includes(error.code)

/** The fault of an operation on a table that was deleted. */
export const tableMissing = (what: string, cause?: unknown): Fault =>
  new Fault(
    'table-missing',
    `There is no table for ${what}: it was deleted. Restore it from a backup, or build the next generation: tributary rebuild DOMAIN. The program does not create it again, because the events that it contained would be skipped.`,
    { retriable: true, cause },
  )
