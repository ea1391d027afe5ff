/** An error as the service answers it: `__type`, a message, and for rejected records which ones and why. */
export class ServiceError extends Error {
  override readonly name: string
  readonly status: number
  readonly detail: Readonly<Record<string, unknown>>

  constructor(name: string, message: string, options: { status?: number; detail?: Readonly<Record<string, unknown>> } = {}) {
    super(message)
    this.name = name
    this.status = options.status ?? 400
    this.detail = options.detail ?? {}
  }
}

export const invalid = (message: string): ServiceError => new ServiceError('ValidationException', message)
export const notFound = (message: string): ServiceError => new ServiceError('ResourceNotFoundException', message)
export const conflict = (message: string): ServiceError => new ServiceError('ConflictException', message)
