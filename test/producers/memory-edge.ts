import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { decide, decidersOf } from '../../processors/engine/decide.ts'
import type { NewRecord, Position } from '../../processors/engine/log.ts'
import { outboxOf, type OutboxRow } from '../../processors/engine/outbox.ts'
import { timerChanges } from '../../processors/engine/timers.ts'
import { meals } from '../../processors/meals/domain.ts'
import { createCommands } from '../../producers/commands.ts'
import { createEdge, type EdgeDeps, type Limits } from '../../producers/http/server.ts'
import { mealsEdge } from '../../producers/meals.ts'
import { mintToken, type Scope } from '../../producers/pat.ts'
import { isExpired, keyOf, type Item, type Key } from '../../projections/item.ts'
import type { SeriesHeard } from '../../producers/http/route.ts'
import type { DomainEdge } from '../../producers/http/domain.ts'
import type { ChangeFeed } from '../../projections/changes.ts'
import type { Change, Domain, Get, Outcome } from '../../projections/projection.ts'
import type { Query, Reader, TableSpec } from '../../projections/table.ts'
import { openCodec } from '../../schemas/codec.ts'
import type { Event } from '../../schemas/event.ts'
import { Fault } from '../../schemas/fault.ts'

export const NOON = Date.parse('2026-11-16T12:00:00.000Z')
export const codec = openCodec()

/** A table in memory, read as a store's reader reads. */
export const createMemoryTable = (now: () => number, table: TableSpec) => {
  const items = new Map<string, Item>()
  const visible = (item: Item | undefined) => (item && !isExpired(item, table.ttl, now()) ? item : undefined)
  const partition = ({ index, pk }: Query): readonly (readonly [string, Item])[] => {
    const spec = table.indexes.find(({ name }) => name === index)
    const [pkName, skName] = spec ? [spec.pk, spec.sk] : ['PK', 'SK']
    return [...items.values()].filter((item) => visible(item)?.[pkName] === pk).map((item) => [String(item[skName]), item] as const)
  }
  const reader: Reader = {
    get: async (key) => visible(items.get(keyOf(key))),
    getMany: async (keys) => keys.map((key) => visible(items.get(keyOf(key)))),
    query: async (query) => {
      const { prefix, from, to, reverse, limit, cursor } = query
      const inRange = (sk: string) => (prefix !== undefined ? sk.startsWith(prefix) : (from === undefined || sk >= from) && (to === undefined || sk <= to))
      // Several items of an index can have the same sort key: the key of the item comes after it.
      const sorted = partition(query).filter(([sk]) => inRange(sk)).map(([sk, item]) => [`${sk}\u0000${keyOf(item)}`, item] as const).sort(([a], [b]) => (a < b ? -1 : 1) * (reverse ? -1 : 1))
      const after = cursor === undefined ? undefined : placeIn(cursor, query)
      const rest = sorted.filter(([place]) => after === undefined || (reverse ? place < after : place > after))
      const page = rest.slice(0, limit)
      const last = page.at(-1)
      return { items: page.map(([, item]) => item), ...(rest.length > page.length && last ? { cursor: cursorAt(query, last[0]) } : {}) }
    },
  }
  return { items, reader }
}

/** Bound to its query, as the cursors of the stores are. */
const cursorAt = ({ cursor, limit, ...query }: Query, place: string): string => Buffer.from(JSON.stringify([place, query])).toString('base64url')

const placeIn = (cursor: string, query: Query): string => {
  const [place] = /^"[^"]*"/.exec(Buffer.from(cursor, 'base64url').toString().slice(1)) ?? []
  if (place !== undefined && cursorAt(query, JSON.parse(place) as string) === cursor) return JSON.parse(place) as string
  throw new Fault('bad-cursor', 'The cursor is not one of this query: begin anew without it.')
}

/** The whole pipeline in memory: a log whose every append is folded at once by the real folds and the engine's deciders. What is derived follows at once. */
export const createMemoryPipeline = (clock: { now(): number }, domain: Domain = meals) => {
  const { items, reader } = createMemoryTable(clock.now, domain.table)
  const deciders = decidersOf(domain, { outbox: outboxOf(codec), timers: timerChanges(codec) })
  const events: Event[] = []
  const outcomes = new Map<number, Outcome>()
  const unsent: Event[] = []
  const state = { folding: true, sending: true, folded: 0, fault: undefined as Fault | undefined, hangs: { log: false, outcomes: false } }

  const fold = (offset: number) => {
    const event = events[offset]
    if (!event) throw new Error(`No event at ${offset}`)
    const get: Get = <I extends Item>(key: Key) => {
      const item = items.get(keyOf(key))
      return item && !isExpired(item, domain.table.ttl, event.meta.recordedAt) ? (item as I) : undefined
    }
    outcomes.set(offset, { kind: 'applied' })
    for (const decider of deciders.filter(({ projection }) => projection.folds[event.type] !== undefined)) {
      const { outcome, changes } = decide(decider, { partition: 0, offset, event }, get)
      for (const change of changes) apply(change)
      if (decider.decides.has(event.type)) outcomes.set(offset, outcome)
    }
  }
  const apply = (change: Change) => {
    if ('_removed' in change) items.delete(keyOf(change))
    else if (change.PK.startsWith('OUTBOX#')) (state.sending ? events : unsent).push(codec.decode(Buffer.from((change as OutboxRow).value, 'base64')))
    else items.set(keyOf(change), change as Item)
  }
  const catchUp = () => {
    while (state.folded < events.length) fold(state.folded++)
  }
  const append = async (records: readonly NewRecord[]): Promise<readonly Position[]> => {
    if (state.hangs.log) await new Promise(() => {})
    if (state.fault) throw state.fault
    return records.map(({ value }) => {
      const offset = events.push(codec.decode(value)) - 1
      if (state.folding) catchUp()
      return { partition: 0, offset }
    })
  }
  const after = async ({ offset }: Position) => (state.hangs.outcomes ? new Promise<never>(() => {}) : (outcomes.get(offset) ?? 'pending'))
  const commands = createCommands({ log: { append }, codec, outcomes: { after } })
  return {
    items, reader, events, outcomes, commands, after,
    reached: async ({ offset }: Position, _timeoutMs?: number, withDerived = false) => offset < state.folded && (!withDerived || (unsent.length === 0 && state.folded === events.length)),
    /** Derived events stay in the outbox until `send`. */
    hold: () => void (state.sending = false),
    send: () => {
      state.sending = true
      events.push(...unsent.splice(0))
      catchUp()
    },
    /** Events stay in the log, unfolded, until `resume`. */
    pause: () => void (state.folding = false),
    resume: () => {
      state.folding = true
      catchUp()
    },
    fail: (fault: Fault | undefined) => void (state.fault = fault),
    /** The log, or the outcomes, accept requests from now on and never answer. */
    hang: (part: 'log' | 'outcomes') => void (state.hangs[part] = true),
  }
}

export const OPEN_LIMITS: Limits = { rate: null, quota: { reads: null, writes: null }, usageSample: null, waitMs: 50, readMs: 5_000 }

export interface MemoryEdge extends ReturnType<typeof createMemoryPipeline> {
  readonly app: FastifyInstance
  readonly clock: { now(): number; at: number }
  token(user: string, scopes?: readonly Scope[]): Promise<string>
}

let serial = 0
const nextBytes = (size: number) => Uint8Array.from({ length: size }, (_, at) => (serial * 131 + at * 7 + (serial >> 8)) % 256)

export interface MemoryEdgeOptions {
  readonly domain?: Domain
  readonly edge?: Pick<DomainEdge, 'name' | 'routes' | 'access' | 'refusals' | 'schemes' | 'webhooks' | 'live' | 'derives'>
  readonly limits?: Partial<Limits>
  readonly logger?: FastifyBaseLogger
  readonly report?: EdgeDeps['report']
  readonly end?: NonNullable<DomainEdge['end']>
  readonly series?: SeriesHeard
  /** What can be watched, and by which feed. */
  readonly live?: NonNullable<EdgeDeps['live']> & { readonly changes: ChangeFeed }
}

export const openMemoryEdge = async ({ domain = meals, edge = mealsEdge, limits, logger, report, end, series, live }: MemoryEdgeOptions = {}): Promise<MemoryEdge> => {
  const clock = { at: NOON, now: () => clock.at }
  const pipeline = createMemoryPipeline(clock, domain)
  const app = createEdge({
    domains: [{ ...edge, commands: pipeline.commands, questions: async () => ({ reader: pipeline.reader, generation: 1, outcomes: { after: pipeline.after, reached: pipeline.reached }, series, ...(live && { changes: live.changes }) }), ...(end ? { end } : {}) }],
    clock,
    ids: { uuidv7: () => `01935b7a-0000-7000-8000-${String(++serial).padStart(12, '0')}` },
    randomBytes: (size) => nextBytes((serial++, size)),
    limits: { ...OPEN_LIMITS, ...limits },
    version: '0.0.0-test',
    ...(logger ? { logger } : {}),
    ...(report ? { report } : {}),
    live,
  })
  await app.ready()
  const token: MemoryEdge['token'] = async (user, scopes = ['read', 'write']) => {
    const minted = mintToken(edge.name, (size) => nextBytes((serial++, size)))
    await pipeline.commands.execute(patIssued(user, scopes, minted.hash), { wait: true, timeoutMs: 50 })
    return minted.token
  }
  return { ...pipeline, app, clock, token }
}

export const patIssued = (user: string, scopes: readonly Scope[], hash: string): Event => ({
  type: 'PatIssued',
  meta: {
    eventId: `issue-${++serial}`, key: user, occurredAt: NOON, recordedAt: NOON, source: 'test',
    correlationId: null, causationId: null, actorId: user, subjectId: user, request: null,
  },
  data: { patId: `pat-${serial}`, hash, scopes: [...scopes] },
  personal: { name: 'test' },
})

export interface Sent {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  readonly url: string
  readonly token?: string
  readonly body?: unknown
  readonly raw?: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/** Parsed JSON: what tests look into, where it is there. */
export interface AnswerBody {
  readonly id: string
  readonly token: string
  readonly event: string
  readonly cursor?: string
  readonly items: readonly AnswerBody[]
  readonly errors: readonly { readonly pointer: string }[]
  readonly paths: Readonly<Record<string, object>>
  readonly targets?: object
  readonly [name: string]: unknown
}

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: AnswerBody
  readonly text: string
}

export const send = async (app: FastifyInstance, { method = 'GET', url, token, body, raw, headers }: Sent): Promise<Answered> => {
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await app.inject({
    method,
    url,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(payload === undefined ? {} : { payload }),
  })
  const isJson = response.body !== '' && String(response.headers['content-type']).includes('json')
  return { status: response.statusCode, headers: response.headers, body: isJson ? response.json<AnswerBody>() : ({} as AnswerBody), text: response.body }
}

export const BREAKFAST = {
  eatenAt: '2026-11-16T08:30:00+01:00',
  tz: 'Europe/Berlin',
  mealSummary: 'Oats with berries',
  emoji: '🥣',
  calories: 412.5,
  protein: 14.2,
  carbs: 61.125,
  fat: 9,
} as const

/** Everything one person asks and says. */
export const as = async (edge: Pick<MemoryEdge, 'app' | 'token'>, user: string) => {
  const token = await edge.token(user)
  const ask = (url: string, headers?: Record<string, string>) => send(edge.app, { url, token, ...(headers ? { headers } : {}) })
  const say = (method: Sent['method'] & string, url: string, body?: unknown, headers?: Record<string, string>) =>
    send(edge.app, { method, url, token, body, ...(headers ? { headers } : {}) })
  return { token, ask, say }
}

export type Person = Awaited<ReturnType<typeof as>>
