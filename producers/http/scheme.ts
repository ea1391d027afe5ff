import type { FastifyRequest } from 'fastify'
import type { Session } from '../access/sessions.ts'

/** The profile of a person, from the service that authenticated the person. */
export interface Profile {
  readonly name: string
  readonly username: string | null
  readonly avatarUrl: string | null
}

/** The person whom an authentication scheme recognised. */
export interface Recognised {
  readonly user: string
  /** The place in the outside service that the person came from, if the service signed it, for example the id of a chat. */
  readonly place?: string
  readonly profile?: Profile
  /** The verified e-mail address. Null: the scheme knows none. */
  readonly email?: string | null
  /** The session of the request. If the session belongs to a token, the edge also checks the token, and the caller has the rights of the token. */
  readonly session?: OpenSession
}

/** The session of a request, with its secrets. */
export interface OpenSession extends Session {
  readonly id: string
  readonly csrfToken: string
}

/** The parts of a request that authentication schemes read. */
export interface PresentedRequest extends Pick<FastifyRequest, 'headers' | 'host' | 'hostname' | 'method'> {
  /** The header `Authorization`, or the token that a WebSocket client sent instead. */
  readonly authorization: string | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

/** A way to authenticate without a token, such as the signed data of an outside service. */
export interface Scheme {
  /** The scheme in the header `Authorization`, before the credentials, and the name in OpenAPI. */
  readonly name: string
  readonly description: string
  /** Returns the credentials of a request. Undefined: the request has none for this scheme. Default: the text after `name` in `Authorization`. */
  readonly credentialsIn?: (request: PresentedRequest) => string | undefined
  /** The description of the scheme in OpenAPI. Default: `Authorization` with the scheme `name`. */
  readonly openapi?: SecurityScheme
  /** Returns the owner of the credentials. Throws a Problem with status 401 if the credentials are not valid. `now`: epoch milliseconds. */
  recognise(credentials: string, now: number, request: PresentedRequest): Recognised | Promise<Recognised>
}

type SecurityScheme =
  | { readonly type: 'http'; readonly scheme: string; readonly bearerFormat?: string }
  | { readonly type: 'apiKey'; readonly in: 'cookie'; readonly name: string }

/**
 * The credentials in an `Authorization` header. Undefined if the header has another scheme. Empty credentials are possible, because HTTP trims
 * the space after the scheme.
 */
export const credentialsOf = (scheme: string, authorization: string): string | undefined =>
  `${authorization} `.slice(0, scheme.length + 1).toLowerCase() === `${scheme.toLowerCase()} `
    ? authorization.slice(scheme.length + 1)
    : undefined
