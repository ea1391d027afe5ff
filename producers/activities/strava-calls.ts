import type { CallBudget } from '../../projections/ask.ts'
import { Fault } from '../../schemas/fault.ts'
import type { StravaAnswer } from './strava/client.ts'
import type { StravaFailure } from './strava/failure.ts'
import type { StoredTokens, TokenKeeper } from './tokens.ts'

/** The result of a call for an athlete. `tokens`: the tokens that the call used. */
export type Called<T> =
  | { readonly kind: 'result'; readonly result: T; readonly tokens: StoredTokens }
  | { readonly kind: 'failed'; readonly failure: StravaFailure; readonly tokens: StoredTokens | undefined }
  /** No call was made, or its result does not count. It can be made again at `at`. */
  | { readonly kind: 'later'; readonly at: number }
  /** Strava refuses the tokens of this version, also after a refresh. */
  | { readonly kind: 'lost'; readonly version: number }
  /** The link has no tokens. */
  | { readonly kind: 'none' }

interface CallFor<T> {
  /** The subject of the link, such as `ada~strava~1`. */
  readonly subject: string
  /** The part of each window of the budget that such calls may use. */
  readonly share?: Readonly<Record<string, number>>
  readonly signal: AbortSignal
  call(access: string): Promise<StravaAnswer<T>>
}

/** Calls Strava for athletes, inside the rate limits. */
export interface StravaCalls {
  make<T>(call: CallFor<T>): Promise<Called<T>>
}

const PAUSE_MS = 3_600_000
const QUARTER_MS = 15 * 60_000

export const createStravaCalls = ({
  keeper,
  budget,
  clock,
  failed,
}: {
  readonly keeper: TokenKeeper
  readonly budget: CallBudget
  readonly clock: { now(): number }
  readonly failed: (error: unknown) => void
}): StravaCalls => {
  const later = (at: number) => ({ kind: 'later', at }) as const

  const afterFailure = async (
    failure: StravaFailure,
    { share, signal }: Pick<CallFor<unknown>, 'share' | 'signal'>,
    tokens?: StoredTokens,
  ) => {
    if (signal.aborted) return later(clock.now())
    if (failure.kind === 'rate-limited') return later((await budget.heldUntil(share)) ?? clock.now() + QUARTER_MS)
    if (failure.kind !== 'inactive') return { kind: 'failed', failure, tokens } as const
    const until = clock.now() + PAUSE_MS
    failed(
      new Fault(
        'strava-inactive',
        'Strava answers that this application is not active. All calls to Strava pause for an hour. Check the status of the application, and the subscription of its owner, at https://www.strava.com/settings/api.',
      ),
    )
    await budget.pause(until, 'the application is not active')
    return later(until)
  }

  const attempt = async <T>(each: CallFor<T>, refused?: number): Promise<Called<T>> => {
    const { subject, share, signal, call } = each
    const token = await keeper.accessToken(subject, { signal, ...(refused !== undefined && { refused }) })
    if (token.kind === 'failed') return afterFailure(token.failure, each)
    if (token.kind !== 'token') return token
    const held = await budget.take(share)
    if (held !== undefined) return later(held)
    const answer = await call(token.access)
    if (answer.use.length > 0) await budget.report(answer.use)
    if ('result' in answer) return { kind: 'result', result: answer.result, tokens: token.tokens }
    if (answer.failure.kind !== 'unauthorized' || signal.aborted)
      return afterFailure(answer.failure, each, token.tokens)
    const { version } = token.tokens
    return refused === undefined ? attempt(each, version) : { kind: 'lost', version }
  }
  return { make: (each) => attempt(each) }
}
