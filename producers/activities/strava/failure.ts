import { memberOf, textMember } from '../../json-member.ts'

/** The reason why Strava did not give the requested data. */
export interface StravaFailure {
  /**
   * - `gone`: 404.
   * - `unauthorized`: 401, because the access token is not valid.
   * - `scope-missing`: 401, because the athlete did not grant `scope`.
   * - `inactive`: 403 for every call, because the application is not active.
   * - `rate-limited`: 429.
   * - `unavailable`: 5xx, a timeout, a broken connection, or an answer that is not JSON of the documented form.
   * - `refused`: every other status.
   */
  readonly kind: 'gone' | 'unauthorized' | 'scope-missing' | 'inactive' | 'rate-limited' | 'unavailable' | 'refused'
  /** The HTTP status. 0 if there was no answer. */
  readonly status: number
  /** The errors that the answer names, as `resource/field/code`, or the reason why there was no answer. Contains no data of the athlete. */
  readonly detail: string
  /** Only if the kind is `scope-missing`. */
  readonly scope?: string
}

interface NamedError {
  readonly resource: string
  readonly field: string
  readonly code: string
}

/** Classifies an answer with an error status. `body` is the parsed JSON, or undefined. */
export const failureOf = (status: number, body: unknown): StravaFailure => {
  const errors = errorsIn(body)
  const failure = {
    status,
    detail: errors.map(({ resource, field, code }) => `${resource}/${field}/${code}`).join(', '),
  }
  if (status === 404) return { kind: 'gone', ...failure }
  if (status === 429) return { kind: 'rate-limited', ...failure }
  if (status >= 500) return { kind: 'unavailable', ...failure }
  const missing = errors.find(({ field, code }) => code === 'missing' && field.endsWith(PERMISSION))
  if (status === 401 && missing !== undefined)
    return { kind: 'scope-missing', ...failure, scope: missing.field.slice(0, -PERMISSION.length) }
  if (status === 401) return { kind: 'unauthorized', ...failure }
  if (status === 403 && errors.some(isInactive)) return { kind: 'inactive', ...failure }
  return { kind: 'refused', ...failure }
}

/** The end of the field that names a missing scope, as in `activity:read_permission`. */
const PERMISSION = '_permission'

const isInactive = ({ resource, field, code }: NamedError): boolean =>
  resource === 'Application' && field === 'Status' && code === 'Inactive'

/** True if Strava refused the refresh token itself. Other refusals concern the application or the request. */
export const isRefreshTokenInvalid = ({ status, detail }: StravaFailure): boolean =>
  status === 400 && detail.split(', ').includes('RefreshToken/refresh_token/invalid')

const errorsIn = (body: unknown): readonly NamedError[] => {
  const errors = memberOf(body, 'errors')
  return (Array.isArray(errors) ? errors : [body])
    .map((each: unknown) => ({
      resource: textMember(each, 'resource'),
      field: textMember(each, 'field'),
      code: textMember(each, 'code'),
    }))
    .filter(({ code }) => code !== '')
}
