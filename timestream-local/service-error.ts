/** An error answer of the service. `name` is its `__type`, `detail` has its further fields, such as the rejected records. */
export class ServiceError extends Error {
  override readonly name: string
  readonly status: number
  readonly detail: Readonly<Record<string, unknown>>

  constructor(
    name: string,
    message: string,
    options: { status?: number; detail?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message)
    this.name = name
    this.status = options.status ?? 400
    this.detail = options.detail ?? {}
  }
}

export const invalid = (message: string): ServiceError => new ServiceError('ValidationException', message)
export const notFound = (message: string): ServiceError => new ServiceError('ResourceNotFoundException', message)
export const conflict = (message: string): ServiceError => new ServiceError('ConflictException', message)
