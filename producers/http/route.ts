import type { XStatic } from 'typebox/schema'
import type { Event } from '../../schemas/event.ts'
import type { SeriesAsked } from '../../projections/series.ts'
import type { Reader } from '../../projections/table.ts'
import type { Position } from '../../processors/engine/log.ts'
import type { Outcomes } from '../commands.ts'
import type { Scope } from '../pat.ts'
import type { Profile } from './scheme.ts'

/** Who asks, told by the token or by a scheme of the domain's. Every key is built from `user`, never from what was sent. */
export interface Caller {
  readonly user: string
  /** The domain that admitted them. */
  readonly domain: string
  /** Null where they came in without a token. */
  readonly patId: string | null
  /** What was told of them as they came in. */
  readonly profile?: Profile
  /** The id of the chat from which they came, if their service signed it. */
  readonly chat?: string
  readonly scopes: readonly Scope[]
  /** One generation answers a request. */
  readonly reader: Reader
  readonly generation: number
  readonly outcomes: Hearing
  /** The domain's series, where it has any; of a generation of their own. */
  readonly series?: SeriesHeard | undefined
}

/** How far the answering generation is, and what it made of an event. */
export interface Hearing extends Outcomes {
  /** `withDerived`: also the events that are derived from the event at the position. */
  reached(position: Position, timeoutMs: number, withDerived?: boolean): Promise<boolean>
}

/** How far the series are is their own matter: another group follows the same log for them. */
export interface SeriesHeard extends SeriesAsked, Pick<Hearing, 'reached'> {}

export interface Call<Body = unknown, Query = unknown> {
  readonly caller: Caller
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
  /** Epoch milliseconds: when the edge took the request. */
  readonly now: number
  /** The id of the thing that a command creates: the same for the same user, Idempotency-Key and path. */
  newId(): string
  randomBytes(size: number): Uint8Array
}

/** An event without its envelope, which the edge adds. */
export type Draft = Pick<Event, 'type' | 'data' | 'personal'>

/** `shown` is what only this answer can say (a secret), if the event is new. */
export interface Decision {
  readonly draft: Draft
  /** The log key; the caller, where it is not said. */
  readonly key?: string
  /** When it happened, epoch milliseconds; now, where it is not said. */
  readonly occurredAt?: number
  readonly id?: string
  readonly shown?: Readonly<Record<string, unknown>>
}

export type JsonSchema = Readonly<Record<string, unknown>>

interface Described {
  readonly url: string
  /** The stable name of the route in `/openapi.json`: a verb and what it acts on, unique in the whole program. */
  readonly operationId: string
  readonly summary: string
  readonly params?: JsonSchema
  readonly query?: JsonSchema
  readonly result: JsonSchema
  /** Where a token with another scope than `read` or `write` may call, too. */
  readonly alsoFor?: Scope
  /** It asks the series: `Tributary-After` is waited for in them, too. */
  readonly ofSeries?: true
  /** It can read an index, which can be behind its table on DynamoDB: `Tributary-After` does not cover the route there. */
  readonly byIndex?: true
  /** Whether the caller may ask for this at all, or a Problem. What a command answers here is said first, and waited for. */
  readonly admit?: (call: Call) => Promise<Decision | undefined>
}

export interface Question extends Described {
  readonly method: 'GET'
  answer(call: Call): Promise<unknown>
  /** Another form than JSON, where it was asked for. */
  document?(call: Call): Promise<Document | undefined>
}

export interface Document {
  readonly type: string
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Command extends Described {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body: JsonSchema
  readonly status: 200 | 201
  /** Everything that needs no state is decided here, or refused by a Problem; the fold decides the rest. */
  decide(call: Call): Decision | Promise<Decision>
  /** The stored result, once the fold is visible. Undefined where it is not to be seen (yet). */
  answer(call: Call, decision: Decision): Promise<unknown>
  /** What a refusal by the fold says beside its code: what is there now. */
  refused?(call: Call, code: string): Promise<Readonly<Record<string, unknown>>>
}

/** Says many things at once: one durable append, whose fold nobody waits for. */
export interface Batch extends Described {
  readonly method: 'POST'
  readonly body: JsonSchema
  readonly bodyLimit: number
  readonly status: 202
  /** Their ids are natural, so that the same said twice is harmless without an Idempotency-Key. */
  collect(call: Call, how: { readonly source: string; readonly correlationId: string }): Promise<Collected>
}

export interface Collected {
  /** At least one. */
  readonly events: readonly Event[]
  /** Why some of it is not believed, each. */
  readonly doubts: readonly string[]
  readonly answer: Readonly<Record<string, unknown>>
}

export type Route = Question | Command | Batch

type Typed<R extends Described, Body, Q> = Omit<R, 'body' | 'query' | 'decide' | 'answer' | 'document'> & {
  readonly body?: Body
  readonly query?: Q
}

/** Gives `call.query` the type of its schema. Validation has seen to it that it is so. */
export const question = <const Q extends JsonSchema = JsonSchema>(
  definition: Typed<Question, never, Q> & {
    answer(call: Call<unknown, XStatic<Q>>): Promise<unknown>
    document?(call: Call<unknown, XStatic<Q>>): Promise<Document | undefined>
  },
): Question => definition as Question

/** Gives `call.body` and `call.query` the types of their schemas. A command without a body takes none. */
export const command = <const B extends JsonSchema = typeof noBody, const Q extends JsonSchema = JsonSchema>(
  definition: Typed<Command, B, Q> & {
    decide(call: Call<XStatic<B>, XStatic<Q>>): Decision | Promise<Decision>
    answer(call: Call<XStatic<B>, XStatic<Q>>, decision: Decision): Promise<unknown>
  },
): Command => ({ body: noBody, ...definition }) as Command

const noBody = { type: ['object', 'null'], additionalProperties: false, properties: {} } as const
