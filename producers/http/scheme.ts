/** What a person's own service tells of them, beside who they are. */
export interface Profile {
  readonly name: string
  readonly username: string | null
  readonly avatarUrl: string | null
}

interface Recognised {
  readonly user: string
  /** The id of the chat from which they came, if the service signed it. */
  readonly chat?: string
  readonly profile?: Profile
}

/** Another way than a token of ours to say who asks. */
export interface Scheme {
  /** What stands before the credentials in `Authorization`. */
  readonly name: string
  readonly description: string
  /** Whose they are; a Problem of status 401 where they are nobody's. */
  recognise(credentials: string, now: number): Recognised
}

/** What the scheme of an `Authorization` header is followed by, perhaps nothing (HTTP trims the space behind it); undefined where it is of another scheme. */
export const credentialsOf = (scheme: string, authorization: string): string | undefined =>
  `${authorization} `.slice(0, scheme.length + 1).toLowerCase() === `${scheme.toLowerCase()} ` ? authorization.slice(scheme.length + 1) : undefined
