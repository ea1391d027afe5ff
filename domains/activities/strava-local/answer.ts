/** The answer to one request. `body` is written as JSON, `html` and `text` as they are. */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly html?: string
}

export const json = (body: unknown, status = 200): Answer => ({ status, body })

/** Strava's error format: a message and a list of `{resource, field, code}`. */
const fault = (status: number, message: string, ...error: readonly [string, string, string] | []): Answer => {
  const [resource, field, code] = error
  return { status, body: { message, errors: resource === undefined ? [] : [{ resource, field, code }] } }
}

export const badRequest = (resource: string, field: string, code: string): Answer =>
  fault(400, 'Bad Request', resource, field, code)

/** The access token is unknown, expired or revoked. */
export const invalidToken = (): Answer => fault(401, 'Authorization Error', 'Athlete', 'access_token', 'invalid')

/** The access token has no scope by which activities can be read. */
export const missingActivityScope = (): Answer =>
  fault(401, 'Authorization Error', 'AccessToken', 'activity:read_permission', 'missing')

/** The client secret is wrong. */
export const wrongSecret = (): Answer => fault(401, 'Authorization Error', 'Application', '', 'invalid')

/** The application has no paying owner. */
export const inactive = (): Answer => fault(403, 'Forbidden', 'Application', 'Status', 'Inactive')

export const activityNotFound = (): Answer => fault(404, 'Resource Not Found', 'Activity', '', 'not found')

export const pathNotFound = (): Answer => fault(404, 'Record Not Found', 'resource', 'path', 'invalid')

export const rateLimitExceeded = (which: 'overall' | 'read'): Answer =>
  fault(429, 'Rate Limit Exceeded', 'Application', `${which} rate limit`, 'exceeded')

export const serverError = (status: number): Answer => fault(status, 'error')
