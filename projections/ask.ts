import type { Value } from './item.ts'
import type { Reader } from './table.ts'

/**
 * A call to the outside that a fold requests. The role `fetcher` makes the call when it is due, in the serving generation only, and appends
 * the answer as events. The fold of the answer withdraws the ask (`at: null`) or asks again. A rebuild makes no call.
 */
export interface Ask {
  /** Identifies the ask among the asks of its log key. A later event with the same name replaces or withdraws the ask. */
  readonly name: string
  /** The time from which the call can be made, in epoch milliseconds. Null withdraws the ask. */
  readonly at: number | null
  /** The handler that makes the call. Absent only if `at` is null. */
  readonly kind?: string
  /** The arguments of the call. They are stored in clear, so they contain no personal data: the handler reads such data from the items. */
  readonly body?: Value
  /** Calls of one queue run one after the other, in the order of their times. Default: the log key. */
  readonly queue?: string
  /** From 0 (first) to 9 (last). Among due asks, the fetcher calls those with the lowest number first. Default: 5. */
  readonly priority?: number
  /** The call must not be repeated. If its result is unknown after a crash, the fetcher reports it and waits for an operator. */
  readonly once?: true
}

/** One kind of ask, as its domain declares it. */
export interface AskKind {
  /**
   * The call changes or destroys something outside of the items. Then an ask that was armed before its generation began to serve waits
   * for an operator.
   */
  readonly changes?: true
}

/** The kinds of asks of a domain, by name. */
export type AskKinds = Readonly<Record<string, AskKind>>

/** A due ask. */
export interface AskCall {
  /** The id of the ask. It is the same at each attempt and in each generation. */
  readonly id: string
  readonly name: string
  readonly kind: string
  /** The log key of the fold that asks. */
  readonly key: string
  readonly body: Value
  /** Reads the serving generation, which contains the event that asked. */
  readonly reader: Reader
  readonly now: number
  /** Aborted a few seconds after the process began to stop. */
  readonly signal: AbortSignal
}

/** An event with the answer to an ask. */
export interface AskAnswer {
  readonly type: string
  readonly data: unknown
  readonly personal?: unknown
  /** The person whom `personal` describes. */
  readonly subjectId?: string
  /** Default: derived from the id of the ask and the number of the event. */
  readonly eventId?: string
}

/** The result of a call: the events to append under the log key of the ask, or a time before which the call cannot be made. */
export type AskResult = { readonly events: readonly AskAnswer[] } | { readonly later: number }

/** Makes the calls of one kind. */
export interface AskHandler {
  /**
   * Makes the call. If it throws, the fetcher reports the error and calls the ask again later; but an ask with `once` waits for an operator.
   * A handler that has called nothing returns `later`.
   */
  call(ask: AskCall): Promise<AskResult>
  /** Returns the time until which no ask of this kind can be called, for example because a rate budget is used up. Undefined: it can be called now. */
  heldUntil?(): Promise<number | undefined>
}

/** The handlers of a domain, by kind. */
export type AskHandlers = Readonly<Record<string, AskHandler>>

/** A window of a rate limit. Windows begin at multiples of `ms` since 1970 (UTC). */
export interface RateWindow {
  readonly name: string
  readonly ms: number
  /** The limit until a response reports another one. */
  readonly limit: number
}

/** The limit and the use of a window, as an outside service reports them. */
export interface ReportedUse {
  readonly window: string
  readonly limit: number
  readonly used: number
}

/** The calls that an outside service allows. All processes share the count, which is in the ledger. */
export interface CallBudget {
  /**
   * Takes one call. `share`: the part of each window's limit that calls of this kind may use, by the name of the window (default: 1).
   * Resolves to undefined if the call can be made now, else to the time from which it can be tried again.
   */
  take(share?: Readonly<Record<string, number>>): Promise<number | undefined>
  /** As `take`, but takes nothing. */
  heldUntil(share?: Readonly<Record<string, number>>): Promise<number | undefined>
  /** Stores the use that a response reports. */
  report(use: readonly ReportedUse[]): Promise<void>
  /** Stops all calls of all processes until this time. */
  pause(until: number, reason: string): Promise<void>
}

/** The kinds that every domain has. Their bodies are `ListBody` and `ForgetBody`. */
export const ENGINE_ASKS: AskKinds = { list: {}, forget: { changes: true } }

/** The maximum number of keys in the answer to an ask of kind `list`. */
export const MAX_LISTED = 90

/**
 * The body of an ask of kind `list`: reads the keys of one partition of the domain's own table. The answer is an event of type `answer`
 * with `data`, `items` (at most `limit` keys, as `{ pk, sk }`) and `more` (true if there are further keys).
 */
export type ListBody = {
  readonly pk: string
  /** The beginning of the sort keys. Empty: all. */
  readonly prefix: string
  /** At most `MAX_LISTED`. Default: `MAX_LISTED`. */
  readonly limit?: number
  readonly answer: string
  readonly data: { readonly [field: string]: Value }
}

/**
 * The body of an ask of kind `forget`: forgets the person who is the log key of the ask, or a part of this person (`<key>~<part>`). The
 * answer is an event of type `answer` with `data`.
 */
export type ForgetBody = {
  readonly subject: string
  readonly answer: string
  readonly data: { readonly [field: string]: Value }
}
