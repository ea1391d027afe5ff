import { DOMAIN_NAME } from '../../projections/domain-name.ts'

/** A session of a person in a browser. */
export interface Session {
  readonly user: string
  /** The domain and the hash of the token with which the person signed in. The session ends with the token. Null: the person signed in with a JWT. */
  readonly token: { readonly domain: string; readonly hash: string } | null
  /** The verified e-mail address of the JWT. Null if there is none. */
  readonly email: string | null
  /** Epoch milliseconds. */
  readonly openedAt: number
  readonly expiresAt: number
}

/** What a domain can do with sessions and with values that can be used once. */
export interface UserSessions {
  /** Ends all sessions of a user. */
  endAll(user: string): Promise<void>
  /** Stores a value under a key that nobody can guess, until `expiresAt` (epoch milliseconds). */
  putOnce(key: string, value: string, expiresAt: number): Promise<void>
  /** Removes a value, and returns it. Undefined if the value was taken before, has expired, or never existed. Only one of several callers gets it. */
  takeOnce(key: string): Promise<string | undefined>
}

/** The sessions of all people. They are not events: they are in a table of their own, in which only hashes of their ids are stored. */
export interface Sessions extends UserSessions {
  open(id: string, session: Session): Promise<void>
  /** Undefined if the session is unknown, ended or expired. */
  find(id: string): Promise<Session | undefined>
  /** No effect if there is no such session. */
  end(id: string): Promise<void>
}

/** The cookie that contains the id of the session. */
export const SESSION_COOKIE = 'cc_session'

/** Returns the id of a new session: the domain of its token (empty if it has no token), a dot, and 43 random characters. */
export const sessionId = (domain: string | null, random: Uint8Array): string =>
  `${domain ?? ''}.${Buffer.from(random).toString('base64url')}`

/** Finds the domain in the id of a session, in the header `Cookie`. */
export const SESSION_PREFIX = new RegExp(`(?:^|[ ;])(?:__Host-)?${SESSION_COOKIE}=(${DOMAIN_NAME})\\.`)
