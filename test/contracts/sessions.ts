import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSessions, SESSIONS_TABLE } from '../../host/wiring/sessions.ts'
import type { Stores } from '../../processors/engine/ports/store.ts'
import type { Session, Sessions } from '../../producers/access/sessions.ts'

export interface SessionsUnderTest {
  readonly stores: Pick<Stores, 'create' | 'enableTtl'>
  cleanup(): Promise<void>
}

const NOON = Date.UTC(2026, 10, 16, 12)

/** The contract of the sessions port. It runs over every store. */
export const sessionsContract = (name: string, make: () => Promise<SessionsUnderTest>): void => {
  describe(`the sessions contract, ${name}`, () => {
    const clock = { at: NOON, now: () => clock.at }
    let under: SessionsUnderTest
    let sessions: Sessions
    let other: Sessions
    beforeAll(async () => {
      under = await make()
      sessions = createSessions({ stores: under.stores, clock })
      other = createSessions({ stores: under.stores, clock })
    })
    afterAll(() => under.cleanup())
    const secret = () => randomBytes(32).toString('base64url')
    const somebody = () => `person-${randomBytes(6).toString('hex')}`
    const sessionOf = (user: string, more: Partial<Session> = {}): Session => ({
      user,
      token: null,
      email: null,
      openedAt: clock.at,
      expiresAt: clock.at + 60_000,
      ...more,
    })
    const opened = async (user: string, more: Partial<Session> = {}) => {
      const id = secret()
      await sessions.open(id, sessionOf(user, more))
      return id
    }
    const rows = async (): Promise<string> => {
      const found: unknown[] = []
      for await (const page of (await under.stores.create(SESSIONS_TABLE, 1)).scan()) found.push(page)
      return JSON.stringify(found)
    }

    test('finds a session by its id, in every process', async () => {
      const user = somebody()
      const session = sessionOf(user, { token: { domain: 'meals', hash: 'abc' }, email: 'ann@example.com' })
      const id = secret()
      await sessions.open(id, session)
      expect([await sessions.find(id), await other.find(id)]).toEqual([session, session])
      expect(await sessions.find(secret())).toBeUndefined()
    })

    test('stores neither the id nor the e-mail address in clear', async () => {
      const id = await opened(somebody(), { email: 'planted@example.com' })
      const text = await rows()
      expect([text.includes(id), text.includes('planted')]).toEqual([false, false])
    })

    test('finds no ended session, and ends it once', async () => {
      const user = somebody()
      const [id, kept] = [await opened(user), await opened(user)]
      await other.end(id)
      await sessions.end(id)
      expect([await sessions.find(id), (await sessions.find(kept))?.user]).toEqual([undefined, user])
    })

    test('finds no expired session, although its row is still stored', async () => {
      const id = await opened(somebody(), { expiresAt: clock.at + 1 })
      expect(await sessions.find(id)).toBeDefined()
      clock.at += 1
      expect(await sessions.find(id)).toBeUndefined()
    })

    test('ends all sessions of a user, and no other', async () => {
      const [user, neighbour] = [somebody(), somebody()]
      const ids = await Promise.all(Array.from({ length: 3 }, () => opened(user)))
      const kept = await opened(neighbour)
      await other.endAll(user)
      expect(await Promise.all(ids.map((id) => sessions.find(id)))).toEqual([undefined, undefined, undefined])
      expect(await rows()).not.toContain(user)
      expect(await sessions.find(kept)).toBeDefined()
      await sessions.endAll(user)
    })

    test('gives a value to one of several callers, once', async () => {
      const key = secret()
      await sessions.putOnce(key, 'ann', clock.at + 60_000)
      const taken = await Promise.all([sessions, other, sessions, other].map((each) => each.takeOnce(key)))
      expect(taken.filter((value) => value !== undefined)).toEqual(['ann'])
      expect([await sessions.takeOnce(key), await sessions.takeOnce(secret())]).toEqual([undefined, undefined])
    })

    test('gives no expired value', async () => {
      const key = secret()
      await sessions.putOnce(key, 'ann', clock.at + 1)
      clock.at += 1
      expect(await sessions.takeOnce(key)).toBeUndefined()
    })

    test('removes expired rows, if the store itself removes none', async () => {
      const user = somebody()
      await opened(user)
      clock.at += 2 * 60 * 60 * 1000
      await opened(somebody())
      expect((await rows()).includes(user)).toBe(under.stores.enableTtl !== undefined)
    })
  })
}
