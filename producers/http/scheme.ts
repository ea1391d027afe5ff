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
}

/** A way to authenticate without a token, such as the signed data of an outside service. */
export interface Scheme {
  /** The scheme in the header `Authorization`, before the credentials. */
  readonly name: string
  readonly description: string
  /** Returns the owner of the credentials. Throws a Problem with status 401 if the credentials are not valid. `now`: epoch milliseconds. */
  recognise(credentials: string, now: number): Recognised
}

/**
 * The credentials in an `Authorization` header. Undefined if the header has another scheme. Empty credentials are possible, because HTTP trims
 * the space after the scheme.
 */
export const credentialsOf = (scheme: string, authorization: string): string | undefined =>
  `${authorization} `.slice(0, scheme.length + 1).toLowerCase() === `${scheme.toLowerCase()} `
    ? authorization.slice(scheme.length + 1)
    : undefined
