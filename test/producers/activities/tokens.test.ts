import { beforeEach, describe, expect, test } from 'vitest'
import type { StravaAnswer, TokenPair } from '../../../producers/activities/strava/client.ts'
import type { StravaFailure } from '../../../producers/activities/strava/failure.ts'
import { createTokenKeeper, TOKENS, tokensIn, type StoredTokens } from '../../../producers/activities/tokens.ts'
import { memorySecrets, type MemorySecrets } from './memory-secrets.ts'

const LINK = 'ada~strava~1'
const HOUR = 3_600_000
const NOW = Date.parse('2026-11-16T10:00:00Z')
const INVALID: StravaFailure = { kind: 'refused', status: 400, detail: 'RefreshToken/refresh_token/invalid' }
const DOWN: StravaFailure = { kind: 'unavailable', status: 503, detail: '' }

let secrets: MemorySecrets
let now: number
let posts: string[]
/** Replaces the answers of Strava. */
let failing: StravaFailure | undefined
/** The refresh tokens that Strava accepts. */
let accepted: Set<string>
let isStrict: boolean

/** Strava's part of the rotation. A strict Strava accepts each refresh token once; a lenient one accepts it again. */
const refresh = async (token: string): Promise<StravaAnswer<TokenPair>> => {
  posts.push(token)
  if (failing !== undefined) return { failure: failing, use: [] }
  if (!accepted.has(token)) return { failure: INVALID, use: [] }
  if (isStrict) accepted.delete(token)
  const next = `R${posts.length}`
  accepted.add(next)
  return { result: { access: `A${posts.length}`, refresh: next, expiresAt: now + 6 * HOUR }, use: [] }
}

/** A process that has just started: it remembers nothing. */
const keeper = () => createTokenKeeper({ secrets, strava: { refresh }, clock: { now: () => now } })

const stored = async (): Promise<StoredTokens> => {
  const secret = await secrets.read(LINK, TOKENS)
  if (secret === undefined) throw new Error('There is no secret')
  return tokensIn(secret)
}

const store = async (tokens: Partial<StoredTokens>) => {
  const value = { access: 'A0', refresh: 'R0', version: 1, expiresAt: now + HOUR, ...tokens }
  await secrets.write(LINK, TOKENS, { expect: 0, value: JSON.stringify(value) })
}

beforeEach(() => {
  ;[secrets, now, posts, failing, accepted, isStrict] = [memorySecrets(), NOW, [], undefined, new Set(['R0']), true]
})

describe('an access token', () => {
  test('is used while it is valid for more than 5 minutes', async () => {
    await store({ expiresAt: now + 5 * 60_000 + 1 })
    expect(await keeper().accessToken(LINK)).toMatchObject({ kind: 'token', access: 'A0' })
    expect(posts).toEqual([])
  })

  test('is refreshed otherwise, and the new tokens are stored before they are used', async () => {
    await store({ expiresAt: now + 5 * 60_000 })
    expect(await keeper().accessToken(LINK)).toMatchObject({ kind: 'token', access: 'A1' })
    expect(await stored()).toEqual({
      access: 'A1',
      refresh: 'R1',
      previous: 'R0',
      version: 2,
      expiresAt: now + 6 * HOUR,
    })
  })

  test('is absent for a link without tokens, and for a link that was forgotten', async () => {
    expect(await keeper().accessToken(LINK)).toEqual({ kind: 'none' })
    await store({ expiresAt: now })
    secrets.forget(LINK)
    expect(await keeper().accessToken(LINK)).toEqual({ kind: 'none' })
  })

  test('that Strava refused is replaced once', async () => {
    await store({})
    expect(await keeper().accessToken(LINK, { refused: 1 })).toMatchObject({ access: 'A1', tokens: { version: 2 } })
    expect(await keeper().accessToken(LINK, { refused: 1 })).toMatchObject({ access: 'A1' })
    expect(posts).toEqual(['R0'])
  })

  test('is lost if Strava refuses both tokens', async () => {
    await store({ refresh: 'unknown' })
    expect(await keeper().accessToken(LINK, { refused: 1 })).toEqual({ kind: 'lost', version: 1 })
    expect(await stored()).not.toHaveProperty('refreshingUntil')
  })

  test('is used until it expires if Strava refuses the refresh token', async () => {
    await store({ refresh: 'unknown', expiresAt: now + 60_000 })
    expect(await keeper().accessToken(LINK)).toMatchObject({ kind: 'token', access: 'A0' })
    now += 60_000
    expect(await keeper().accessToken(LINK)).toEqual({ kind: 'lost', version: 1 })
  })

  test('comes from the previous refresh token if Strava refuses the newest one', async () => {
    await store({ refresh: 'unknown', previous: 'R0', version: 2, expiresAt: now })
    expect(await keeper().accessToken(LINK)).toMatchObject({ kind: 'token', tokens: { version: 3 } })
    expect(posts).toEqual(['unknown', 'R0'])
  })

  test('is not lost if Strava does not answer, or refuses the application', async () => {
    await store({ expiresAt: now })
    for (const failure of [
      DOWN,
      { kind: 'refused', status: 401, detail: 'Application/client_secret/invalid' } as const,
    ]) {
      failing = failure
      expect(await keeper().accessToken(LINK)).toEqual({ kind: 'failed', failure })
    }
    failing = undefined
    expect(await keeper().accessToken(LINK)).toMatchObject({ kind: 'token', tokens: { version: 2 } })
  })
})

describe('two processes', () => {
  test('refresh once: the other one waits, and then reads the new token', async () => {
    await store({ expiresAt: now })
    const results = await Promise.all([keeper().accessToken(LINK), keeper().accessToken(LINK)])
    expect(results.map(({ kind }) => kind).sort()).toEqual(['later', 'token'])
    expect(await keeper().accessToken(LINK)).toMatchObject({ kind: 'token', access: 'A1' })
    expect(posts).toEqual(['R0'])
  })

  test('the other one tries itself when the first one has not finished within a minute', async () => {
    await store({ expiresAt: now, refreshingUntil: now + 60_000 })
    expect(await keeper().accessToken(LINK)).toEqual({ kind: 'later', at: now + 2_000 })
    now += 60_000
    expect(await keeper().accessToken(LINK)).toMatchObject({ kind: 'token', access: 'A1' })
  })

  test('the first one keeps the token of the second one, if that one was faster', async () => {
    await store({ expiresAt: now })
    isStrict = false
    const slow = createTokenKeeper({
      secrets,
      strava: {
        refresh: async (token) => {
          const answer = await refresh(token)
          now += 60_000
          await keeper().accessToken(LINK)
          return answer
        },
      },
      clock: { now: () => now },
    })
    expect(await slow.accessToken(LINK)).toMatchObject({ kind: 'token', access: 'A2', tokens: { version: 2 } })
    expect(await stored()).toMatchObject({ access: 'A2', version: 2 })
  })

  test('the first one stores its token although the second one has marked the secret', async () => {
    await store({ expiresAt: now })
    const slow = createTokenKeeper({
      secrets,
      strava: {
        refresh: async (token) => {
          const answer = await refresh(token)
          now += 60_000
          failing = DOWN
          await keeper().accessToken(LINK)
          return answer
        },
      },
      clock: { now: () => now },
    })
    expect(await slow.accessToken(LINK)).toMatchObject({ kind: 'token', access: 'A1' })
    expect(await stored()).toMatchObject({ access: 'A1', refresh: 'R1', version: 2 })
  })
})

/** The calls of the key store in a refresh: 1 reads, 2 writes the mark, 3 reads again, 4 stores the new tokens. */
describe('a process that dies in a refresh (golden case 11)', () => {
  const dieAndRestart = async (call: number, when: 'before' | 'after') => {
    await store({ expiresAt: now })
    secrets.dieAt(call, when)
    await expect(keeper().accessToken(LINK)).rejects.toThrow('killed')
    secrets.dieAt(undefined)
    now += 60_000
    return keeper().accessToken(LINK)
  }

  test.each([1, 2] as const)('before the request, at call %s, loses nothing', async (call) => {
    for (const when of ['before', 'after'] as const) {
      ;[secrets, posts, accepted] = [memorySecrets(), [], new Set(['R0'])]
      expect(await dieAndRestart(call, when)).toMatchObject({ kind: 'token', tokens: { version: 2 } })
      expect(posts).toEqual(['R0'])
    }
  })

  test('after the new tokens were stored, uses them: version 2, one request', async () => {
    expect(await dieAndRestart(4, 'after')).toMatchObject({ kind: 'token', access: 'A1', tokens: { version: 2 } })
    expect(posts).toEqual(['R0'])
  })

  test.each([3, 4] as const)(
    'between the answer and the store, at call %s, asks a lenient Strava again',
    async (call) => {
      isStrict = false
      expect(await dieAndRestart(call, 'before')).toMatchObject({ kind: 'token', tokens: { version: 2 } })
      expect(posts).toEqual(['R0', 'R0'])
    },
  )

  test.each([3, 4] as const)(
    'between the answer and the store, at call %s, loses the tokens of a strict Strava',
    async (call) => {
      expect(await dieAndRestart(call, 'before')).toEqual({ kind: 'lost', version: 1 })
    },
  )

  test('keeps the new tokens in memory while the key store fails', async () => {
    await store({ expiresAt: now })
    const process = keeper()
    secrets.dieAt(4)
    await expect(process.accessToken(LINK)).rejects.toThrow('killed')
    secrets.dieAt(undefined)
    expect(await process.accessToken(LINK)).toMatchObject({ kind: 'token', access: 'A1' })
    expect(posts).toEqual(['R0'])
    expect(await stored()).toMatchObject({ version: 2 })
  })
})
