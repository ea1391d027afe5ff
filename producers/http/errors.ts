import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { isFault, type Fault } from '../../schemas/fault.ts'
import { Problem, problemBody } from './problem.ts'
import { violationsProblem, type Violation } from './validation.ts'

/**
 * Answers every error as problem+json. The server logs its own failures with the request's id. The answer contains that id, but no detail of the
 * failure.
 */
export const answerError = (
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply => {
  const problem = problemOf(error, request)
  // A Problem is expected, so its code is sufficient in the log.
  if (error instanceof Problem && problem.status >= 500)
    request.log.info({ code: problem.code, reqId: request.id }, 'request refused for now')
  else if (problem.status >= 500)
    request.log.error({ err: problem.cause ?? error, code: problem.code, reqId: request.id }, 'request failed')
  return sendProblem(reply, problem)
}

export const sendProblem = (reply: FastifyReply, problem: Problem): FastifyReply => {
  const event = reply.getHeader('tributary-event')
  reply.request.problem = problem.code
  return reply
    .code(problem.status)
    .headers(problem.headers)
    .type('application/problem+json')
    .serializer(JSON.stringify)
    .send({
      ...problemBody(problem),
      ...(event === undefined ? {} : { event }),
      ...(problem.status >= 500 && { request: reply.request.id }),
    })
}

const problemOf = (error: FastifyError | Error, request: FastifyRequest): Problem => {
  if (error instanceof Problem) return error
  if (isFault(error)) return faultProblem(error, request.method)
  if ('validation' in error && error.validation) return invalid(error, request)
  const known = 'code' in error && typeof error.code === 'string' ? FRAMEWORK[error.code] : undefined
  if (known) return new Problem(known[0], known[1], known[2])
  if (
    'statusCode' in error &&
    typeof error.statusCode === 'number' &&
    error.statusCode >= 400 &&
    error.statusCode < 500
  ) {
    return new Problem(
      error.statusCode,
      'bad-request',
      'The request cannot be parsed. Check its first line, headers and body.',
    )
  }
  return internal(error)
}

const internal = (cause: unknown): Problem =>
  new Problem(
    500,
    'internal',
    'The server failed to handle the request and has logged the failure. Send the request again later, or report it with the id in `request`.',
    { cause },
  )

const invalid = (error: FastifyError, request: FastifyRequest): Problem => {
  const place = error.validationContext ?? 'body'
  if (place === 'body' && request.body === undefined)
    return new Problem(400, 'body-missing', 'The body is empty. Send a JSON object.')
  return violationsProblem((error.validation ?? []) as readonly Violation[], place)
}

type FrameworkCode = 'body-too-large' | 'unsupported-media-type' | 'bad-content-length' | 'bad-url'

/** The answers by the error codes of the web framework. */
const FRAMEWORK: Readonly<Record<string, readonly [status: number, code: FrameworkCode, detail: string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: [
    413,
    'body-too-large',
    'The body is larger than the route accepts (64 KiB, for some routes more). Send less at once.',
  ],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [415, 'unsupported-media-type', 'Send the body as Content-Type: application/json.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    400,
    'bad-content-length',
    'The body does not have the length that Content-Length declares.',
  ],
  FST_ERR_BAD_URL: [400, 'bad-url', 'The path is not a valid URL. Check its percent-encoding.'],
}

const RETRY_SECONDS = 1

const faultProblem = (fault: Fault, method: string): Problem => {
  const status = FAULTS[fault.code]
  const extras = { cause: fault }
  // The texts of faults with a status below 500 are safe to show. The texts of other faults can quote a client library, so fixed texts replace them.
  if (status !== undefined && status < 500) return new Problem(status, fault.code, fault.message, extras)
  if (fault.code === 'append-unknown') {
    const detail =
      'The log did not report whether it has the event. It is safe to send the same request with the same Idempotency-Key again.'
    return new Problem(503, fault.code, detail, { ...extras, retryAfter: RETRY_SECONDS })
  }
  if (status !== undefined || fault.retriable) {
    const isQuestion = method === 'GET' || method === 'HEAD'
    const detail = isQuestion
      ? 'The store does not answer now. Send the request again later.'
      : 'The log or the store does not answer now, so nothing was written. Send the request again later.'
    return new Problem(503, fault.code, detail, { ...extras, retryAfter: RETRY_SECONDS })
  }
  return internal(fault)
}

/** The statuses of faults that can reach the edge. */
const FAULTS: Readonly<Record<string, number>> = {
  'bad-cursor': 400,
  'record-too-large': 413,
  'part-forgotten': 409,
  'log-unavailable': 503,
  'log-full': 503,
  'log-overloaded': 503,
  'log-second-writer': 503,
  'append-unknown': 503,
  'store-throttled': 503,
  'store-unavailable': 503,
  'too-slow': 503,
}
