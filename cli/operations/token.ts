import { randomBytes } from 'node:crypto'
import { v7 } from 'uuid'
import { createCommands } from '../../producers/commands.ts'
import { envelope } from '../../producers/http/envelope.ts'
import { mintToken, SCOPES } from '../../producers/pat.ts'
import type { Scope } from '../../producers/pat.ts'
import { isUser, tokens, userPartition } from '../../projections/access/keys.ts'
import { isTrace, type Item } from '../../projections/item.ts'
import { everyItem } from '../../projections/table.ts'
import { Fault } from '../../schemas/fault.ts'
import type { PatIssued, PatRevoked } from '../../schemas/generated/common.ts'
import { hasEdge } from '../domains.ts'
import type { Operation } from '../operations.ts'
import type { Pipeline } from '../../processors/engine/pipeline.ts'
import type { Runtime } from '../runtime.ts'

export interface NewToken {
  readonly id: string
  readonly token: string
  readonly user: string
  readonly scopes: readonly Scope[]
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

export const createToken: Operation<{ user: string; domain: string; scopes: string; name: string }> = async (runtime, { user, domain, scopes: asked, name }): Promise<NewToken> => {
  const pipeline = runtime.pipeline(domain)
  if (!hasEdge(domain)) throw new Fault('bad-usage', `The domain ${domain} has no tokens: nobody speaks to it over HTTP. Name its edge in cli/domains.ts, or another domain.`)
  if (!isUser(user)) throw new Fault('bad-usage', `"${user}" is no user id: 1 to 64 letters, digits, and _ . : @ -`)
  const scopes = parseScopes(asked)
  if (name.length < 1 || name.length > 100) throw new Fault('bad-usage', 'A token\'s name has 1 to 100 characters.')
  const { token, hash } = mintToken(domain, randomBytes)
  const patId = v7()
  const event: PatIssued = { type: 'PatIssued', meta: metaOf(runtime, user), data: { patId, hash, scopes: [...scopes] }, personal: { name } }
  const outcome = await execute(runtime, pipeline, event)
  return { id: patId, token, user, scopes, visible: outcome }
}

const parseScopes = (text: string): readonly Scope[] => {
  const asked = [...new Set(text.split(',').map((scope) => scope.trim()))]
  const scopes = SCOPES.filter((scope) => asked.includes(scope))
  if (scopes.length === 0 || scopes.length < asked.length) throw new Fault('bad-usage', `--scopes "${text}" is not a list of ${SCOPES.join(', ')}.`)
  return scopes
}

const metaOf = ({ clock }: Runtime, user: string): PatIssued['meta'] => envelope({ eventId: v7(), user, now: clock.now(), source: COMMAND_SOURCE, correlationId: null })

/** Appended for certain when it resolves; true when the items show it already. */
const execute = async ({ metrics }: Runtime, { domain, log, codec, serving }: Pipeline, event: PatIssued | PatRevoked): Promise<boolean> => {
  const { outcomes } = serving()
  const { outcome } = await createCommands({ log, codec, outcomes }).execute(event, { wait: true, timeoutMs: VISIBLE_MS })
  metrics.report.appended({ domain: domain.name, source: COMMAND_SOURCE, type: event.type })
  if (outcome === 'pending') return false
  if (outcome.kind === 'refused') throw new Fault(outcome.refusal.code, outcome.refusal.detail)
  if (outcome.kind === 'parked') throw new Fault('key-parked', `The event is in the log, but this user's events stand still: ${outcome.reason} See: tributary parked.`)
  return true
}

export const listTokens: Operation<{ user?: string }> = async (runtime, { user }, says) => {
  for (const pipeline of runtime.pipelines.values()) for await (const item of tokensIn(runtime, pipeline, user)) await says.row(rowOf(item))
}

async function* tokensIn({ clock }: Runtime, { serving }: Pipeline, user: string | undefined): AsyncIterable<Item> {
  const { store } = serving()
  if (user === undefined) {
    for await (const page of store.scan()) yield* page.filter((item) => item.PK.startsWith(userPartition('')) && item.SK.startsWith(tokens.prefix) && !isTrace(item))
    return
  }
  yield* await everyItem(store.reader(clock.now), { pk: userPartition(user), prefix: tokens.prefix, limit: 100 })
}

const rowOf = (item: Item): TokenRow => ({
  id: item.SK.slice(tokens.prefix.length),
  user: item.PK.slice(userPartition('').length),
  name: String(item['name'] ?? ''),
  scopes: (item['scopes'] ?? []) as readonly string[],
  createdAt: item['createdAt'] ?? null,
  lastUsedAt: item['lastUsedAt'] ?? null,
})

export const revokeToken: Operation<{ id: string }> = async (runtime, { id }) => {
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
