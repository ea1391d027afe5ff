import {
  engineRefusals,
  kindOf,
  pointerOf,
  type CodeIn,
  type RefusalKind,
  type Refusals,
} from '../../projections/refusal.ts'

/** One mistake in a request. `pointer` is a JSON Pointer (RFC 6901) into the body, or begins with header, querystring or params: `params/name`. */
export interface Mistake<Code extends string = string> {
  readonly pointer: string
  readonly code: Code
  readonly detail: string
}

export interface ProblemExtras {
  readonly errors?: readonly Mistake[]
  /** The value of the header `Retry-After`, in seconds. */
  readonly retryAfter?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Further members of the answer, such as the current revision. */
  readonly members?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/** An error that the edge answers as problem+json (RFC 9457). `code` is stable and listed in docs/errors.md. */
export class Problem<Code extends string = string> extends Error {
  override readonly name = 'Problem'
  readonly status: number
  readonly code: Code
  readonly errors: readonly Mistake[]
  readonly headers: Readonly<Record<string, string>>
  readonly members: Readonly<Record<string, unknown>>

  constructor(status: number, code: Code, detail: string, extras: ProblemExtras = {}) {
    super(detail, extras.cause === undefined ? undefined : { cause: extras.cause })
    this.status = status
    this.code = code
    this.errors = extras.errors ?? []
    this.members = extras.members ?? {}
    this.headers =
      extras.retryAfter === undefined
        ? (extras.headers ?? {})
        : { ...extras.headers, 'retry-after': String(extras.retryAfter) }
  }
}

/** A Problem with one mistake. */
export const mistake = <const Code extends string>(
  status: number,
  { pointer, code, detail }: Mistake<Code>,
): Problem<Code> => new Problem(status, code, detail, { errors: [{ pointer, code, detail }] })

const STATUS: Readonly<Record<RefusalKind, number>> = {
  missing: 404,
  forbidden: 403,
  conflict: 409,
  invalid: 400,
  reused: 422,
}

/**
 * Returns the function that creates a Problem for a request that breaks a rule of the domain: `throw refused('payer-only', 'Only …')`. The edge
 * throws it before it appends an event. `pointer`: the wrong field. Default: the field that belongs to the code, if any.
 */
export const refusedEarly =
  <const R extends Refusals>(refusals: R) =>
  <Code extends CodeIn<R>>(
    code: Code,
    detail: string,
    pointer: string | undefined = pointerOf(code, [refusals]),
  ): Problem<Code> => {
    const status = STATUS[kindOf(code, [refusals]) ?? 'conflict']
    return pointer === undefined ? new Problem(status, code, detail) : mistake(status, { pointer, code, detail })
  }

/** The HTTP status for an event that its fold refused. `invalid` gives 409 instead of 400, because the edge had accepted the content as valid. */
export const refusedStatus = (code: string, lists: readonly Refusals[]): number => {
  const kind = kindOf(code, [...lists, engineRefusals]) ?? 'conflict'
  return STATUS[kind === 'invalid' ? 'conflict' : kind]
}

export interface ProblemBody {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly field?: string
  readonly errors?: readonly Mistake[]
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Not authenticated',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  408: 'Request took too long',
  409: 'Refused by a rule',
  413: 'Body too large',
  415: 'Unsupported media type',
  422: 'Idempotency-Key used before',
  429: 'Too many requests',
  431: 'Headers too large',
  500: 'Server error',
  503: 'Not available now',
}

export const problemBody = ({ status, code, message, errors, members }: Problem): ProblemBody => ({
  ...members,
  type: `urn:tributary:problem:${code}`,
  title: TITLES[status] ?? 'Problem',
  status,
  code,
  detail: message,
  ...(errors[0] ? { field: errors[0].pointer, errors } : {}),
})

export const problemSchema = {
  $id: 'Problem',
  type: 'object',
  description: 'RFC 9457. `code` is stable; `field` is the JSON Pointer of the first mistake.',
  required: ['type', 'title', 'status', 'code', 'detail'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string' },
    detail: { type: 'string' },
    field: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['pointer', 'code', 'detail'],
        properties: { pointer: { type: 'string' }, code: { type: 'string' }, detail: { type: 'string' } },
      },
    },
    event: { type: 'string' },
    request: { type: 'string', description: 'Id of the request in the server log. Only with status 500 and above.' },
    revision: { type: 'integer', description: 'The current revision, if the request named an older one.' },
  },
} as const
