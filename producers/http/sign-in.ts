import { sessionScheme } from '../access/session-scheme.ts'
import type { Sessions } from '../access/sessions.ts'
import type { Scheme } from './scheme.ts'
import type { EdgeDeps } from './server.ts'

/** The ways to authenticate that every domain has, in addition to its tokens. */
export interface SignIn {
  readonly sessions: Sessions
  /** The origins whose pages may send requests with the cookie of a session, in addition to the origin of the edge. */
  readonly origins: readonly string[]
  /** Schemes of the program, such as JWTs of an issuer. */
  readonly schemes: readonly Scheme[]
}

/** The authentication schemes that every domain has. */
export const schemesOf = ({ signIn, publicUrl }: Pick<EdgeDeps, 'signIn' | 'publicUrl'>): readonly Scheme[] =>
  signIn === undefined
    ? []
    : [...signIn.schemes, sessionScheme({ sessions: signIn.sessions, origins: signIn.origins, publicUrl })]
