/**
 * The error class of the program. `code` is stable, and docs/errors.md explains each code. `retriable`: the same call can succeed later. A message
 * names what happened, where, and what to do.
 */
export class Fault extends Error {
  override readonly name = 'Fault'
  readonly code: string
  readonly retriable: boolean

  constructor(code: string, message: string, options: { retriable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.retriable = options.retriable ?? false
  }
}

export const isFault = (error: unknown, code?: string): error is Fault =>
  error instanceof Fault && (code === undefined || error.code === code)

/** True if the same call can succeed later. */
export const isRetriable = (error: unknown): boolean => error instanceof Fault && error.retriable

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
