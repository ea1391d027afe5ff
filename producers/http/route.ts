import type { IncomingHttpHeaders } from 'node:http'
import type { XStatic } from 'typebox/schema'
import type { Event } from '../../schemas/event.ts'
import type { SeriesGeneration } from '../../projections/series.ts'
import type { Reader } from '../../projections/table.ts'
import type { Position } from '../../processors/engine/ports/log.ts'
import type { OutcomeSource } from '../commands.ts'
import type { Scope } from '../access/pat.ts'
import type { OpenSession, Profile } from './scheme.ts'

/** The authenticated sender of a request. Every key is built from `user`, never from the content of the request. */
export interface Caller {
  readonly user: string
  /** The domain of the token or of the authentication scheme. */
  readonly domain: string
  /** Null if the caller was authenticated by a scheme, without a token. */
  readonly patId: string | null
  /** The profile that the authentication scheme provides. */
  readonly profile?: Profile
  /** The place in the authentication service that the caller came from, if the service signed it, for example the id of a chat. */
  readonly place?: string
  /** The verified e-mail address that the authentication scheme provides. Null or undefined: none. */
  readonly email?: string | null
  /** The session of the request. Undefined if the request was authenticated without a cookie. */
  readonly session?: OpenSession
  readonly scopes: readonly Scope[]
  /** Reads the generation that is serving when the request starts. All reads of the request use this reader. */
  readonly reader: Reader
  readonly generation: number
  readonly outcomes: OutcomeTracker
  /** The domain's series. They have a generation of their own. Undefined if the domain has no series. */
  readonly series?: TrackedSeries | undefined
  /** The readers of the further domains of the record (`also`), by name. Each reads the generation that serves when the request starts. */
  readonly further?: FurtherReaders | undefined
}

/** Readers of further domains, by the name of the domain. */
export type FurtherReaders = Readonly<Record<string, Reader>>

/** The progress of the serving generation, and the outcomes of its events. */
export interface OutcomeTracker extends OutcomeSource {
  /** Resolves to true when the event at the position is folded, with `withDerived` also its derived events. Resolves to false after `timeoutMs`. */
  untilFolded(position: Position, timeoutMs: number, withDerived?: boolean): Promise<boolean>
}

/** The series and their progress. Another consumer group folds the same log into the series. */
export interface TrackedSeries extends SeriesGeneration, Pick<OutcomeTracker, 'untilFolded'> {}

/** A checked request. `query` and `body` fit the schemas of the route. */
export interface Call<Body = unknown, Query = unknown> {
  readonly caller: Caller
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
  /** The time at which the edge received the request, in epoch milliseconds. */
  readonly now: number
  /** Returns a new id. If the request has an Idempotency-Key, the id is derived: the same user, key and path give the same id. */
  newId(): string
  randomBytes(size: number): Uint8Array
}

/** An event without its metadata, which the edge adds. */
export type Draft = Pick<Event, 'type' | 'data' | 'personal'>

/** The event that a command appends, and its log key. */
export interface Decision {
  readonly draft: Draft
  /** The log key. Default: the caller. */
  readonly key?: string
  /** The time at which the event happened, in epoch milliseconds. Default: the time of the request. */
  readonly occurredAt?: number
  readonly id?: string
  /** The person, or the part of a person, whom the personal data of the event describes. Default: the caller. */
  readonly subject?: string
  /** Members of the answer that are not stored, such as a new secret. Only the first answer contains them. */
  readonly unstored?: Readonly<Record<string, unknown>>
}

/** A JSON Schema as a plain object. */
export type JsonSchema = Readonly<Record<string, unknown>>

export interface Described {
  readonly url: string
  /** The stable name of the route in `/openapi.json`: a verb and its object, unique in the whole program. */
  readonly operationId: string
  readonly summary: string
  readonly params?: JsonSchema
  readonly query?: JsonSchema
  readonly result: JsonSchema
  /** The scope that the route requires. Default: `read` for GET, otherwise `write`. */
  readonly scope?: Scope
  /** Another scope that admits a token to the route. */
  readonly alsoFor?: Scope
  /** True if the route reads the series. Then `Tributary-After` also waits for the series. */
  readonly ofSeries?: true
  /** True if the route can read an index. On DynamoDB an index can be behind its table, so `Tributary-After` does not cover the route there. */
  readonly byIndex?: true
  /** Throws a Problem if the caller must not use the route. If it returns a decision, the edge appends that event first, and waits for its fold. */
  readonly admit?: (call: Call) => Promise<Decision | undefined>
}

/** A route that reads. Declare it with `question`. */
export interface Question extends Described {
  readonly method: 'GET'
  answer(call: Call): Promise<unknown>
  /** Returns the answer in another format than JSON. Undefined if the caller requested JSON. */
  document?(call: Call): Promise<Document | undefined>
}

/** An answer that is not JSON. */
export interface Document {
  readonly type: string
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
}

/** A route that appends an event. Declare it with `command`. */
export interface Command extends Described {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body: JsonSchema
  readonly status: 200 | 201
  /** Checks the request as far as possible without the fold, and returns the event. Throws a Problem to refuse the request. */
  decide(call: Call): Decision | Promise<Decision>
  /** Returns the stored result. Called after the event was folded. Undefined if the result is not visible yet. */
  answer(call: Call, decision: Decision): Promise<unknown>
  /** Returns further members of the answer to a request that the fold refused, such as the current revision. */
  refused?(call: Call, code: string): Promise<Readonly<Record<string, unknown>>>
}

/** Appends many events at once. The answer does not wait for their fold. */
export interface Batch extends Described {
  readonly method: 'POST'
  readonly body: JsonSchema
  readonly bodyLimit: number
  readonly status: 202
  /** Returns the events. The ids are derived from the content of the events, so a repeated request is harmless without an Idempotency-Key. */
  collect(call: Call, how: { readonly source: string; readonly correlationId: string }): Promise<Collected>
}

/** The events of one request. */
export interface Collected {
  /** At least one event. */
  readonly events: readonly Event[]
  /** The reason of each quarantined event. */
  readonly quarantined: readonly string[]
  readonly answer: Readonly<Record<string, unknown>>
}

/** A cookie that an action sets. The edge adds HttpOnly, SameSite=Lax, Path=/ and, except on plain-http loopback, the prefix `__Host-` and Secure. */
export interface Cookie {
  /** Letters, digits, `_` and `-`, without the prefix. */
  readonly name: string
  /** Characters of base64url, and `.`. */
  readonly value: string
  /** The lifetime in seconds. 0 removes the cookie. */
  readonly maxAge: number
}

/** The answer of an action: its status, and JSON, or a redirect. */
export interface Reply {
  readonly status: number
  readonly json?: unknown
  /** The URL to which a status from 300 to 399 redirects. */
  readonly location?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly cookies?: readonly Cookie[]
}

/** An event that an action appends. */
export interface ActionDecision extends Decision {
  /** The id of the event. The fold recognises a repeated event by its id. Default: a new id. */
  readonly eventId?: string
  /** True: also waits until the events that the folds derive from the event are folded. */
  readonly awaitDerived?: true
}

/**
 * The outcome of an event that an action appended. `pending`: not known in time. `parked`: the fold failed. `behind`: an earlier event of the key
 * is parked.
 */
export interface Appended {
  readonly eventId: string
  readonly state: 'applied' | 'duplicate' | 'pending' | 'parked' | 'behind'
}

/** A checked request to an action. */
export interface ActionCall<Body = unknown, Query = unknown> extends Call<Body, Query> {
  readonly headers: IncomingHttpHeaders
  /** The value of a cookie that an action set. Undefined if the request does not have it. */
  cookie(name: string): string | undefined
  /**
   * Appends an event and waits for its outcome, as a command does. Throws a Problem if the fold refuses the event. Can be called several times:
   * each call waits for the outcome of the previous event.
   */
  append(decision: ActionDecision): Promise<Appended>
}

/** A route that decides about its whole answer, and that can append no event or several. It ignores `Idempotency-Key`. Declare it with `action`. */
export interface Action extends Described {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body: JsonSchema
  /** The status of the usual answer, whose schema is `result`. */
  readonly status: number
  /** The redirects that the route can answer, for OpenAPI. */
  readonly redirects?: Readonly<Partial<Record<302 | 303, string>>>
  /** The maximum time of the answer in milliseconds. Default: the limit of commands. An action that calls an outside service needs more. */
  readonly answerMs?: number
  perform(call: ActionCall): Promise<Reply>
}

/** A route of a domain. */
export type Route = Question | Command | Batch | Action

type Typed<R extends Described, Body, Q> = Omit<R, 'body' | 'query' | 'decide' | 'answer' | 'document' | 'perform'> & {
  readonly body?: Body
  readonly query?: Q
}

/** Declares a GET route. `call.query` has the type of its schema, because the edge validates the query first. */
export const question = <const Q extends JsonSchema = JsonSchema>(
  definition: Typed<Question, never, Q> & {
    answer(call: Call<unknown, XStatic<Q>>): Promise<unknown>
    document?(call: Call<unknown, XStatic<Q>>): Promise<Document | undefined>
  },
): Question => definition as Question

/** Declares a route that appends an event. `call.body` and `call.query` have the types of their schemas. Default of `body`: no body is accepted. */
export const command = <const B extends JsonSchema = typeof noBody, const Q extends JsonSchema = JsonSchema>(
  definition: Typed<Command, B, Q> & {
    decide(call: Call<XStatic<B>, XStatic<Q>>): Decision | Promise<Decision>
    answer(call: Call<XStatic<B>, XStatic<Q>>, decision: Decision): Promise<unknown>
  },
): Command => ({ body: noBody, ...definition }) as Command

/** Declares a route that decides about its whole answer. Default of `body`: no body is accepted. */
export const action = <const B extends JsonSchema = typeof noBody, const Q extends JsonSchema = JsonSchema>(
  definition: Typed<Action, B, Q> & { perform(call: ActionCall<XStatic<B>, XStatic<Q>>): Promise<Reply> },
): Action => ({ body: noBody, ...definition }) as Action

const noBody = { type: ['object', 'null'], additionalProperties: false, properties: {} } as const
