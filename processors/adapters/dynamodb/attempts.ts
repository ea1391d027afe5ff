import type { Clock } from '../../engine/ports/clock.ts'
import { tableMissing } from '../../engine/rows/store-faults.ts'
import { Fault, isFault } from '../../../schemas/fault.ts'
import { within } from '../within.ts'

/**
 * The reason why a request failed. `throttled`: too many requests. `conflict`: another request changes the same item or table.
 * `unavailable`: no answer or a broken answer, so the request may have been applied. `missing`: the table does not exist.
 * `rejected`: DynamoDB will never accept this request. `refused`: DynamoDB does not accept it now, for example without a permission.
 */
export type Failure = 'throttled' | 'conflict' | 'unavailable' | 'missing' | 'rejected' | 'refused'

/** An attempt returns one of these if DynamoDB processed no item, or only some items, of its batch. The other items are then sent again. */
export const NOTHING_DONE = Symbol('nothing done')
export const PARTLY_DONE = Symbol('partly done')
type Partial = typeof NOTHING_DONE | typeof PARTLY_DONE

export interface AttemptsConfig {
  readonly clock: Clock
  /** Returns the jitter: a random number from 0 up to but not including 1. */
  readonly random: () => number
  readonly maxAttempts: number
  readonly firstDelayMs: number
  readonly maxDelayMs: number
  readonly failed?: ((what: string, why: Failure) => void) | undefined
}

/** `maybeApplied` is true if an earlier attempt got no answer, so DynamoDB may have applied it. `signal` is aborted when `patienceMs` is over. */
export type Attempt<T> = (maybeApplied: boolean, signal?: AbortSignal) => Promise<T | Partial>
export type Attempts = <T>(what: string, attempt: Attempt<T>) => Promise<T>

/**
 * Returns the only retry loop of this adapter: exponential backoff with full jitter, and a fault after `maxAttempts`. After `PARTLY_DONE` the count
 * of attempts starts again. The failures `missing`, `rejected` and `refused` throw at once.
 */
export const createAttempts =
  ({ clock, random, maxAttempts, firstDelayMs, maxDelayMs, failed }: AttemptsConfig): Attempts =>
  async (what, attempt) => {
    let maybeApplied = false
    for (let count = 1; ; count += 1) {
      let cause: unknown
      let why: Failure = 'throttled'
      try {
        const result = await attempt(maybeApplied)
        if (result === PARTLY_DONE) count = 0
        else if (result !== NOTHING_DONE) return result
      } catch (error) {
        if (isFault(error) || error instanceof TypeError) throw error
        cause = error
        why = failureOf(error)
        maybeApplied ||= why === 'unavailable'
      }
      failed?.(what, why)
      if (why === 'missing' || why === 'rejected' || why === 'refused' || count >= maxAttempts)
        throw faultOf(what, why, cause)
      await clock.sleep(Math.ceil(random() * Math.min(maxDelayMs, firstDelayMs * 2 ** count)))
    }
  }

/**
 * Returns `attempts` with a time limit: all attempts of a call together take at most `patienceMs` milliseconds. At the limit, the pending request is
 * aborted, and the call throws `store-unavailable`.
 */
export const withPatience =
  (attempts: Attempts, { clock, patienceMs }: { readonly clock: Clock; readonly patienceMs: number }): Attempts =>
  async <T>(what: string, attempt: Attempt<T>): Promise<T> => {
    const over = new AbortController()
    const tooLate = (): Fault => faultOf(what, 'unavailable', new Error(`no answer within ${patienceMs} ms`))
    const work = attempts<T>(what, async (maybeApplied) => {
      if (over.signal.aborted) throw tooLate()
      return attempt(maybeApplied, over.signal)
    })
    if (await within(clock, patienceMs, work)) return work
    over.abort()
    throw tooLate()
  }

/** This set and the next two contain the names of errors, and of the reasons for which DynamoDB cancels a transaction. */
const THROTTLED = new Set([
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'LimitExceededException',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
])
const REJECTED = new Set([
  'ValidationException',
  'ValidationError',
  'ItemCollectionSizeLimitExceededException',
  'ItemCollectionSizeLimitExceeded',
])
const CONFLICT = new Set([
  'TransactionConflictException',
  'TransactionInProgressException',
  'TransactionConflict',
  'ResourceInUseException',
])

interface ServiceError {
  readonly name?: string
  readonly message?: string
  readonly $metadata?: { readonly httpStatusCode?: number }
  readonly CancellationReasons?: readonly { readonly Code?: string; readonly Message?: string }[]
}

const failureOf = (error: unknown): Failure => {
  const { name = '', $metadata, CancellationReasons } = error as ServiceError
  const codes = CancellationReasons?.map(({ Code = 'None' }) => Code).filter((code) => code !== 'None') ?? []
  const names = codes.length > 0 ? codes : [name]
  if (names.every((error) => THROTTLED.has(error) || CONFLICT.has(error)))
    return names.some((error) => THROTTLED.has(error)) ? 'throttled' : 'conflict'
  if (names.includes('ResourceNotFoundException')) return 'missing'
  if (names.some((error) => REJECTED.has(error))) return 'rejected'
  if (name === 'CredentialsProviderError') return 'refused'
  const status = $metadata?.httpStatusCode
  return status === undefined || status >= 500 || status === 200 ? 'unavailable' : 'refused'
}

const faultOf = (what: string, why: Failure, error: unknown): Fault => {
  const reason = reasonOf(error as ServiceError | undefined)
  // The program logs the cause. So the cause contains only the reason, not the error itself, which contains the request with its tokens.
  const cause = new Error(reason)
  switch (why) {
    case 'throttled':
    case 'conflict':
      return new Fault(
        'store-throttled',
        `DynamoDB throttles ${what} (${reason}). Raise the table's capacity if it lasts.`,
        { retriable: true, cause },
      )
    case 'unavailable':
      return new Fault(
        'store-unavailable',
        `DynamoDB does not answer ${what} (${reason}). Check the endpoint and the network.`,
        { retriable: true, cause },
      )
    case 'missing':
      return tableMissing(what, cause)
    case 'rejected':
      return new Fault(
        'item-rejected',
        `DynamoDB will never accept ${what} (${reason}). Change the fold, or the request.`,
        { cause },
      )
    case 'refused':
      return new Fault(
        'store-refused',
        `DynamoDB refused ${what} (${reason}). Check the table, the permissions and the items of the fold.`,
        { cause },
      )
  }
}

const reasonOf = (error: ServiceError | undefined): string => {
  if (error === undefined) return 'items left unprocessed'
  const reasons = error.CancellationReasons?.filter(({ Code }) => Code !== undefined && Code !== 'None').map(
    ({ Code, Message }) => `${Code} ${Message ?? ''}`,
  )
  return `${error.name ?? 'Error'}: ${[...new Set(reasons ?? [error.message ?? ''])].join('; ').trim()}`
}
