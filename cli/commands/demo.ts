import { mealsTraffic } from '../../producers/simulate/meals.ts'
import type { SimulatedRequest } from '../../producers/simulate/meals.ts'
import { Fault } from '../../schemas/fault.ts'
import { systemClock } from '../../processors/adapters/system-clock.ts'
import { configOf } from '../context.ts'
import type { Context } from '../context.ts'
import type { NewToken } from '../operations/token.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { asking, isHeld } from '../reach.ts'
import type { Ask } from '../reach.ts'
import { isEmbedded } from '../runtime.ts'

export interface DemoOptions {
  readonly domain: string
  readonly seconds: number
  readonly rate: number
  readonly seed: number
  readonly json?: true
}

interface Tally {
  readonly statuses: Map<number, number>
  readonly millis: number[]
  failed: number
}

const USERS = 5

/** Through the real edge, with tokens of its own: what it does, anybody can do. */
export const demo = async (context: Context, options: DemoOptions): Promise<Exit> => {
  if (options.domain !== 'meals') throw new Fault('bad-usage', `There is no demo of "${options.domain}"; there is one of meals.`)
  const config = configOf(context)
  if (isEmbedded(config) && !(await isHeld(config))) throw new Fault('no-server', 'No server runs on this data folder. Start one: tributary start')
  return asking(context, {}, async (ask) => {
    const url = isEmbedded(config) ? ((await ask('where', {})) as { http: string | null }).http : `http://${config.http.host}:${config.http.port}`
    if (url === null) throw new Fault('no-server', 'The running server has no edge. Start one with the role edge.')
    const users = Array.from({ length: USERS }, (_, index) => `demo-${options.seed}-${index + 1}`)
    const tokens = await tokensFor(ask, users, options.domain)
    const tally = await feed(context, options, { url, tokens })
    return tell(context, tally, options.json === true)
  })
}

const tokensFor = async (ask: Ask, users: readonly string[], domain: string): Promise<ReadonlyMap<string, string>> => {
  const tokens = new Map<string, string>()
  for (const user of users) {
    const { token } = (await ask('token-create', { user, domain, scopes: 'read,write', name: 'demo' })) as NewToken
    tokens.set(user, token)
  }
  return tokens
}

const feed = async ({ output, signal }: Context, { seconds, rate, seed }: DemoOptions, at: { url: string; tokens: ReadonlyMap<string, string> }): Promise<Tally> => {
  const tally: Tally = { statuses: new Map(), millis: [], failed: 0 }
  const traffic = mealsTraffic({ seed, users: [...at.tokens.keys()], now: systemClock.now() })
  const lanes = new Map<string, Promise<void>>()
  const began = systemClock.now()
  for (let sent = 0; sent < seconds * rate && !signal.aborted; sent += 1) {
    await systemClock.sleep(began + (sent * 1000) / rate - systemClock.now(), signal)
    const request = traffic.next().value
    // One person does one thing after the other; people do not wait for each other.
    lanes.set(request.user, (lanes.get(request.user) ?? Promise.resolve()).then(() => send(request, at, tally)))
    output.progress(`${sent + 1} of ${seconds * rate} requests sent`)
  }
  await Promise.all(lanes.values())
  return tally
}

const send = async ({ user, method, path, headers, body }: SimulatedRequest, { url, tokens }: { url: string; tokens: ReadonlyMap<string, string> }, tally: Tally): Promise<void> => {
  const began = performance.now()
  try {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, authorization: `Bearer ${tokens.get(user) ?? ''}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    await answer.arrayBuffer()
    tally.statuses.set(answer.status, (tally.statuses.get(answer.status) ?? 0) + 1)
    tally.millis.push(performance.now() - began)
    if (answer.status >= 500 || answer.status === 401) tally.failed += 1
  } catch {
    tally.failed += 1
  }
}

const tell = ({ output, signal }: Context, { statuses, millis, failed }: Tally, json: boolean): Exit => {
  const sorted = millis.sort((a, b) => a - b)
  const quantile = (part: number): number => Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0) * 10) / 10
  const told = { requests: sorted.length, statuses: Object.fromEntries([...statuses].sort(([a], [b]) => a - b)), failed, p50: quantile(0.5), p99: quantile(0.99) }
  if (json) output.line(JSON.stringify(told))
  else output.line(`${told.requests} requests, answered ${Object.entries(told.statuses).map(([status, count]) => `${count} × ${status}`).join(', ')}; p50 ${told.p50} ms, p99 ${told.p99} ms; ${failed} failed`)
  if (failed > 0) return EXIT.failed
  return signal.aborted ? EXIT.interrupted : EXIT.fine
}
