import { hash, timingSafeEqual } from 'node:crypto'
import type { Secrets } from '../../processors/engine/ports/secrets.ts'

const NAME = 'connect'
const BYTES = 32
export const CONNECT_SECONDS = 600

/** The latest attempt of a person to connect. Only hashes are stored. */
interface StoredState {
  readonly state: string
  readonly cookie: string
  /** Epoch milliseconds. */
  readonly until: number
}

/** The values that `GET /strava/connect` gives to Strava and to the browser. */
export interface NewState {
  readonly state: string
  readonly cookie: string
}

/** The `state` of OAuth: it is bound to a person and a browser, is valid for 10 minutes and once. A new attempt replaces the previous one. */
export interface ConnectStates {
  create(user: string, now: number): Promise<NewState>
  /** True if this is the state of the person's latest attempt. `cookie` undefined: the caller did not send a cookie but a token of the person. */
  redeem(
    user: string,
    shown: { readonly state: string; readonly cookie: string | undefined },
    now: number,
  ): Promise<boolean>
}

/** `subjectOf`: the subject of a person's secrets. */
export const createConnectStates = ({
  secrets,
  randomBytes,
  subjectOf,
}: {
  readonly secrets: Secrets
  readonly randomBytes: (size: number) => Uint8Array
  readonly subjectOf: (user: string) => string
}): ConnectStates => {
  const random = (): string => Buffer.from(randomBytes(BYTES)).toString('base64url')
  return {
    async create(user, now) {
      const [state, cookie] = [random(), random()]
      const stored: StoredState = { state: hashOf(state), cookie: hashOf(cookie), until: now + CONNECT_SECONDS * 1000 }
      let expect = (await secrets.read(subjectOf(user), NAME))?.version ?? 0
      for (;;) {
        const conflict = await secrets.write(subjectOf(user), NAME, { expect, value: JSON.stringify(stored) })
        if (conflict === undefined) return { state, cookie }
        expect = conflict.version
      }
    },
    async redeem(user, shown, now) {
      const secret = await secrets.read(subjectOf(user), NAME)
      if (secret === undefined) return false
      const { state, cookie, until } = JSON.parse(secret.value) as StoredState
      const fits =
        isSame(hashOf(shown.state), state) && (shown.cookie === undefined || isSame(hashOf(shown.cookie), cookie))
      if (!fits || until <= now) return false
      // Of two requests with the same state, only one replaces this version.
      const used: StoredState = { state: '', cookie: '', until: 0 }
      const conflict = await secrets.write(subjectOf(user), NAME, {
        expect: secret.version,
        value: JSON.stringify(used),
      })
      return conflict === undefined
    },
  }
}

const hashOf = (text: string): string => hash('sha256', text, 'hex')

const isSame = (given: string, stored: string): boolean =>
  given.length === stored.length && timingSafeEqual(Buffer.from(given, 'latin1'), Buffer.from(stored, 'latin1'))
