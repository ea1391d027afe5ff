import { randomBytes } from 'node:crypto'
import { v7 } from 'uuid'
import { createCommands } from '../../../producers/commands.ts'
import { eventMeta } from '../../../producers/http/event-meta.ts'
import { mintToken, SCOPES } from '../../../producers/access/pat.ts'
import type { Scope } from '../../../producers/access/pat.ts'
import { isUser, tokens, userPartition } from '../../../projections/access/keys.ts'
import { isTombstone, type Item } from '../../../projections/item.ts'
import { everyItem } from '../../../projections/table.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { PatIssued, PatRevoked } from '../../../schemas/generated/common.ts'
import type { Handler } from '../operations.ts'
import type { Pipeline } from '../../../processors/engine/run/pipeline.ts'
import type { Runtime } from '../../wiring/runtime.ts'

export interface TokenArgs {
  readonly user: string
  readonly domain: string
  /** The permissions of the token, separated by commas. */
  readonly scopes: string
  readonly name: string
}

export interface RevokedToken {
  readonly id: string
  readonly user: string
  /** False if no processor has folded the event yet. */
  readonly visible: boolean
}

export interface NewToken {
  readonly id: string
  readonly token: string
  readonly user: string
  readonly scopes: readonly Scope[]
  /** False if no processor has folded the event yet. */
  readonly visible: boolean
}

export interface TokenRow {
  readonly id: string
  readonly user: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly createdAt: unknown
  readonly lastUsedAt: unknown
}

const VISIBLE_MS = 10_000
/** `meta.source` of an event that a command appended. */
export const COMMAND_SOURCE = 'command-line'

export const createToken: Handler<'token-create'> = async (runtime, { user, domain, scopes: scopeList, name }) => {
  const pipeline = runtime.pipeline(domain)
  const { domains } = runtime.config
  if (domains.recordOf(domain).edge === undefined || domains.isFurther(domain))
    throw new Fault(
      'bad-usage',
      `The domain ${domain} has no tokens, because its record has no edge. Name another domain.`,
    )
  if (!isUser(user))
    throw new Fault('bad-usage', `"${user}" is not a user id: use 1 to 64 letters, digits, and _ . : @ -`)
  const scopes = parseScopes(scopeList)
  if (name.length < 1 || name.length > 100) throw new Fault('bad-usage', "A token's name has 1 to 100 characters.")
  const { token, hash } = mintToken(domain, randomBytes)
  const patId = v7()
  const event: PatIssued = {
    type: 'PatIssued',
    meta: metaOf(runtime, user),
    data: { patId, hash, scopes: [...scopes] },
    personal: { name },
  }
  const outcome = await execute(runtime, pipeline, event)
  return { id: patId, token, user, scopes, visible: outcome }
}

const parseScopes = (text: string): readonly Scope[] => {
  const names = [...new Set(text.split(',').map((scope) => scope.trim()))]
  const scopes = SCOPES.filter((scope) => names.includes(scope))
  if (scopes.length === 0 || scopes.length < names.length)
    throw new Fault('bad-usage', `--scopes "${text}" is not a list of ${SCOPES.join(', ')}.`)
  return scopes
}

const metaOf = ({ clock }: Runtime, user: string): PatIssued['meta'] =>
  eventMeta({ eventId: v7(), user, now: clock.now(), source: COMMAND_SOURCE, correlationId: null })

/** Appends the event and waits for its fold. Returns false if the event is in the log and no processor has folded it yet. */
const execute = async (
  { metrics }: Runtime,
  { domain, log, codec, serving }: Pipeline,
  event: PatIssued | PatRevoked,
): Promise<boolean> => {
  const { outcomes } = serving()
  const { outcome } = await createCommands({ log, codec, outcomes }).execute(event, {
    wait: true,
    timeoutMs: VISIBLE_MS,
  })
  metrics.report.appended({ domain: domain.name, source: COMMAND_SOURCE, type: event.type })
  if (outcome === 'pending') return false
  if (outcome.kind === 'refused') throw new Fault(outcome.refusal.code, outcome.refusal.detail)
  if (outcome.kind === 'parked')
    throw new Fault(
      'key-parked',
      `The event is in the log, but the key of this user is parked: ${outcome.reason} See: tributary parked.`,
    )
  return true
}

export const listTokens: Handler<'token-list'> = async (runtime, { user }, output) => {
  for (const pipeline of runtime.pipelines.values())
    for await (const item of tokensIn(runtime, pipeline, user)) await output.row(rowOf(item))
}

async function* tokensIn({ clock }: Runtime, { serving }: Pipeline, user: string | undefined): AsyncIterable<Item> {
  const { store } = serving()
  if (user === undefined) {
    for await (const page of store.scan())
      yield* page.filter(
        (item) => item.PK.startsWith(userPartition('')) && item.SK.startsWith(tokens.prefix) && !isTombstone(item),
      )
    return
  }
  yield* await everyItem(store.reader(clock.now), { pk: userPartition(user), prefix: tokens.prefix, limit: 100 })
}

const rowOf = (item: Item): TokenRow => ({
  id: item.SK.slice(tokens.prefix.length),
  user: item.PK.slice(userPartition('').length),
  name: String(item['name'] ?? ''),
  scopes: Array.isArray(item['scopes']) ? item['scopes'].map(String) : [],
  createdAt: item['createdAt'] ?? null,
  lastUsedAt: item['lastUsedAt'] ?? null,
})

export const revokeToken: Handler<'token-revoke'> = async (runtime, { id }) => {
  for (const pipeline of runtime.pipelines.values()) {
    for await (const item of tokensIn(runtime, pipeline, undefined)) {
      const { id: patId, user } = rowOf(item)
      if (patId !== id) continue
      const event: PatRevoked = { type: 'PatRevoked', meta: metaOf(runtime, user), data: { patId }, personal: null }
      return { id, user, visible: await execute(runtime, pipeline, event) }
    }
  }
  throw new Fault('token-not-found', `No token has the id "${id}". See: tributary token list.`)
}
