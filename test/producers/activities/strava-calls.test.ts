import { beforeEach, describe, expect, test } from 'vitest'
import type { CallBudget, ReportedUse } from '../../../projections/ask.ts'
import { createStravaCalls } from '../../../producers/activities/strava-calls.ts'
import type { StravaAnswer } from '../../../producers/activities/strava/client.ts'
import type { StravaFailure } from '../../../producers/activities/strava/failure.ts'
import type { AccessToken, StoredTokens } from '../../../producers/activities/tokens.ts'

const NOW = Date.parse('2026-11-16T10:00:00Z')
const tokensOf = (version: number): StoredTokens => ({
  access: `A${version}`,
  refresh: `R${version}`,
  version,
  expiresAt: NOW,
})

let held: number | undefined
let taken: number
let reports: (readonly ReportedUse[])[]
let pauses: number[]
let errors: unknown[]
let token: (refused: number | undefined) => AccessToken

const budget: CallBudget = {
  take: async () => {
    taken += held === undefined ? 1 : 0
    return held
  },
  heldUntil: async () => held,
  report: async (use) => void reports.push(use),
  pause: async (until) => void pauses.push(until),
}

beforeEach(() => {
  ;[held, taken, reports, pauses, errors] = [undefined, 0, [], [], []]
  token = (refused) => {
    const tokens = tokensOf(refused === undefined ? 1 : refused + 1)
    return { kind: 'token', access: tokens.access, tokens }
  }
})

const failure = (kind: StravaFailure['kind'], status = 400): StravaAnswer<string> => ({
  failure: { kind, status, detail: '' },
  use: [],
})

/** Makes a call to which Strava gives these answers, the last one repeatedly. Resolves to the result and the access tokens that were used. */
const make = async (answers: readonly StravaAnswer<string>[], signal = new AbortController().signal) => {
  const used: string[] = []
  const calls = createStravaCalls({
    keeper: { accessToken: async (_, { refused } = {}) => token(refused) },
    budget,
    clock: { now: () => NOW },
    failed: (error) => void errors.push(error),
  })
  const called = await calls.make({
    subject: 'ada~strava~1',
    signal,
    call: async (access) => {
      const answer = answers[Math.min(used.length, answers.length - 1)]
      used.push(access)
      return answer ?? failure('unavailable')
    },
  })
  return { called, used }
}

const use = [{ window: '15m', limit: 200, used: 3 }]

describe('a call for an athlete', () => {
  test('returns the result, and reports the use of the limits', async () => {
    expect(await make([{ result: 'ride', use }])).toEqual({
      called: { kind: 'result', result: 'ride', tokens: tokensOf(1) },
      used: ['A1'],
    })
    expect([taken, reports]).toEqual([1, [use]])
  })

  test('waits while the budget is used up, and calls nobody', async () => {
    held = NOW + 5
    expect(await make([])).toEqual({ called: { kind: 'later', at: NOW + 5 }, used: [] })
  })

  test('refreshes the token once if Strava refuses it', async () => {
    expect(await make([failure('unauthorized', 401), { result: 'ride', use: [] }])).toEqual({
      called: { kind: 'result', result: 'ride', tokens: tokensOf(2) },
      used: ['A1', 'A2'],
    })
    expect(taken).toBe(2)
  })

  test('gives up if Strava refuses the new token too', async () => {
    expect(await make([failure('unauthorized', 401)])).toEqual({
      called: { kind: 'lost', version: 2 },
      used: ['A1', 'A2'],
    })
  })

  test.each(['gone', 'scope-missing', 'unavailable', 'refused'] as const)('returns the failure %s', async (kind) => {
    expect((await make([failure(kind)])).called).toMatchObject({ kind: 'failed', failure: { kind } })
    expect(errors).toEqual([])
  })

  test('pauses every call for an hour if the application is not active', async () => {
    expect((await make([failure('inactive', 403)])).called).toEqual({ kind: 'later', at: NOW + 3_600_000 })
    expect(pauses).toEqual([NOW + 3_600_000])
    expect(errors).toEqual([expect.objectContaining({ code: 'strava-inactive' })])
  })

  test('waits for the next window after 429', async () => {
    const limited = { ...failure('rate-limited', 429), use }
    expect((await make([limited])).called).toEqual({ kind: 'later', at: NOW + 900_000 })
    expect(reports).toEqual([use])
  })

  test('has no result if the process stops', async () => {
    expect((await make([failure('unavailable')], AbortSignal.abort())).called).toEqual({ kind: 'later', at: NOW })
  })

  test.each([
    [{ kind: 'none' }, { kind: 'none' }],
    [
      { kind: 'lost', version: 3 },
      { kind: 'lost', version: 3 },
    ],
    [
      { kind: 'later', at: NOW + 9 },
      { kind: 'later', at: NOW + 9 },
    ],
    [
      { kind: 'failed', failure: { kind: 'unavailable', status: 503, detail: '' } },
      { kind: 'failed', failure: { kind: 'unavailable', status: 503, detail: '' }, tokens: undefined },
    ],
  ] as const)('is not made without a token: %j', async (given, expected) => {
    token = () => given
    expect(await make([])).toEqual({ called: expected, used: [] })
    expect(taken).toBe(0)
  })
})
