import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  activityNotFound,
  badRequest,
  inactive,
  invalidToken,
  json,
  pathNotFound,
  rateLimitExceeded,
  serverError,
  type Answer,
} from './answer.ts'
import { apiRoutes } from './api.ts'
import { counted } from './counted.ts'
import type { Fault } from './faults.ts'
import { toJson } from './json.ts'
import { oauthRoutes } from './oauth.ts'
import { pushSubscriptionRoutes } from './push-subscriptions.ts'
import { createRouter, parseBody, type Call, type Route } from './router.ts'
import type { LocalStrava } from './strava.ts'

const MAX_BODY_BYTES = 16_000_000
/** Both bases of the API: `https://www.strava.com/api/v3`, and `https://www.api-v3.strava.com`, which has no path. */
const BASE = /^\/api\/v3(?=\/)/

/** Strava's own error of a status, for a scripted fault without a body. */
const answerOfStatus = (status: number): Answer => {
  const known: Readonly<Record<number, () => Answer>> = {
    400: () => badRequest('RefreshToken', 'refresh_token', 'invalid'),
    401: invalidToken,
    403: inactive,
    404: activityNotFound,
    429: () => rateLimitExceeded('overall'),
  }
  return known[status]?.() ?? serverError(status)
}

const forcedAnswer = (fault: Fault | undefined): Answer | undefined => {
  if (fault?.kind !== 'status') return undefined
  const answer = answerOfStatus(fault.status ?? 500)
  return fault.body === undefined ? answer : { status: answer.status, body: fault.body }
}

const readBytes = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw new Error(`The body has more than ${MAX_BODY_BYTES} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const write = (response: ServerResponse, { status, headers, body, html }: Answer): void => {
  const text = html ?? (body === undefined ? '' : toJson(body))
  const type = html === undefined ? 'application/json; charset=utf-8' : 'text/html; charset=utf-8'
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text), ...headers }).end(text)
}

const parseCall = async (
  request: IncomingMessage,
  path: string,
  query: URLSearchParams,
): Promise<Omit<Call, 'params'>> => ({
  method: request.method ?? 'GET',
  path,
  query,
  headers: request.headers,
  ...(await parseBody(await readBytes(request), request.headers['content-type'], query)),
})

export interface Listening {
  readonly url: string
  stop(): Promise<void>
}

/** Serves OAuth and the API with scripted faults, and the control routes without. `port` 0 selects a free port. */
export const listen = async (
  strava: LocalStrava,
  controlRoutes: readonly Route[],
  port: number,
): Promise<Listening> => {
  const findRoute = createRouter([...oauthRoutes(strava), ...apiRoutes(strava), ...pushSubscriptionRoutes(strava)])
  const findControl = createRouter(controlRoutes)

  const serveControl = async (call: Omit<Call, 'params'>): Promise<Answer> => {
    const match = findControl(call.method, call.path)
    return match === undefined ? pathNotFound() : match.route.handle({ ...call, params: match.params })
  }
  const serveStrava = async (call: Omit<Call, 'params'>, request: IncomingMessage): Promise<Answer | undefined> => {
    const match = findRoute(call.method, call.path)
    const route = match === undefined ? 'other' : `${match.route.method} ${match.route.path}`
    const fault = strava.faults.take(call.method, call.path)
    const forced = forcedAnswer(fault)
    if (fault?.kind === 'hang' || fault?.kind === 'reset') {
      strava.counters.count(route, 0)
      if (fault.kind === 'reset') request.socket.resetAndDestroy()
      return undefined
    }
    if (fault?.kind === 'delay') await sleep(fault.ms ?? 0, undefined, { ref: false })
    const respond = (): Answer | Promise<Answer> => {
      if (forced !== undefined && match?.route.isLimited !== true) return forced
      return match === undefined ? pathNotFound() : match.route.handle({ ...call, params: match.params, forced })
    }
    const isCounted = strava.settings.oauthCounts && call.method === 'POST' && call.path.startsWith('/oauth/')
    const answer = isCounted ? await counted(strava, respond) : await respond()
    strava.counters.count(route, fault?.kind === 'lost' ? 0 : answer.status)
    if (fault?.kind !== 'lost') return answer
    request.socket.resetAndDestroy()
    return undefined
  }
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const path = url.pathname.replace(BASE, '')
    const call = await parseCall(request, path, url.searchParams)
    const answer = path.startsWith('/control/') ? await serveControl(call) : await serveStrava(call, request)
    if (answer !== undefined) write(response, answer)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (!response.headersSent)
        write(response, json({ message: error instanceof Error ? error.message : String(error) }, 400))
    })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  const address = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      return closed
    },
  }
}
