/**
 * The one error of the program. `code` is stable and documented in docs/errors.md (a test keeps both equal);
 * `retriable` is read by the one retry loop. A message says what happened, where, and what to do.
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

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
