import { hash, randomBytes } from 'node:crypto'
import { memberOf } from '../json-member.ts'
import type { UserSessions } from '../access/sessions.ts'
import { sameHash } from '../http/auth.ts'

const PREFIX = 'strava-connect '
const BYTES = 32
/** The lifetime of a state and of its cookie. */
export const CONNECT_SECONDS = 600

/** The values that `GET /strava/connect` gives to Strava and to the browser. */
export interface NewState {
  readonly state: string
  readonly cookie: string
}

/** The `state` of OAuth: it is bound to a person and a browser, and is valid once and for 10 minutes. */
export interface ConnectStates {
  create(user: string, now: number): Promise<NewState>
  /**
   * True if the state was created for this person. `cookie`: the cookie of the browser; undefined if the caller did not send a cookie but a token
   * of the person.
   */
  redeem(user: string, shown: { readonly state: string; readonly cookie: string | undefined }): Promise<boolean>
}

export const createConnectStates = (sessions: Pick<UserSessions, 'putOnce' | 'takeOnce'>): ConnectStates => ({
  async create(user, now) {
    const [state, cookie] = [random(), random()]
    await sessions.putOnce(
      PREFIX + state,
      JSON.stringify({ user, cookie: hashOf(cookie) }),
      now + CONNECT_SECONDS * 1000,
    )
    return { state, cookie }
  },
  async redeem(user, { state, cookie }) {
    const value = await sessions.takeOnce(PREFIX + state)
    if (value === undefined) return false
    const stored: unknown = JSON.parse(value)
    return (
      memberOf(stored, 'user') === user &&
      (cookie === undefined || sameHash(String(memberOf(stored, 'cookie')), hashOf(cookie)))
    )
  },
})

const random = (): string => randomBytes(BYTES).toString('base64url')
const hashOf = (text: string): string => hash('sha256', text, 'hex')
