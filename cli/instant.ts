import { Fault } from '../schemas/fault.ts'

const INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/

/** Epoch milliseconds of an instant as people write it on the command line. */
export const instant = (option: string, text: string): number => {
  const at = Date.parse(text)
  if (!INSTANT.test(text) || Number.isNaN(at)) throw new Fault('bad-usage', `${option} "${text}" is no instant. Write for example 2026-11-16 or 2026-11-16T08:00:00Z.`)
  return at
}
