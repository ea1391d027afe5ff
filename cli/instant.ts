import { Fault } from '../schemas/fault.ts'

const INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/

export const isInstant = (text: string): boolean => INSTANT.test(text) && !Number.isNaN(Date.parse(text))

/** The epoch milliseconds of a time on the command line, such as 2026-11-16. Fault: `bad-usage`, with the name of the option. */
export const instant = (option: string, text: string): number => {
  if (!isInstant(text))
    throw new Fault(
      'bad-usage',
      `${option} "${text}" is not a time. Write for example 2026-11-16 or 2026-11-16T08:00:00Z.`,
    )
  return Date.parse(text)
}
