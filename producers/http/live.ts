import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { createHub, type HubParts } from '../live/hub.ts'
import { cursorOf, type LiveSpec } from '../live/spec.ts'
import { createViewer, type Sink, type Viewer } from '../live/viewer.ts'
import { tooSlow } from '../commands.ts'
import { deadlineAfter } from '../deadline.ts'
import { LIVE_TAG } from './docs.ts'
import { Problem } from './problem.ts'
import type { Call } from './route.ts'

/** Where connections are written down while they last. */
interface Connections {
  opened(connection: { readonly id: string; readonly topic: string; readonly user: string; readonly at: number; readonly until: number }): Promise<void>
  closed(id: string): Promise<void>
}

/** What watching needs of the process it runs in. */
export interface LiveParts extends Pick<HubParts, 'sleep'> {
  readonly connections: Connections
  /** Whose pages may connect, beside our own. */
  readonly origins: readonly string[]
}

interface LiveDeps extends LiveParts, Pick<HubParts, 'serving'> {
  /** How long it may take to admit a viewer, and then to send what there is. */
  readonly limits: { readonly readMs: number; readonly waitMs: number }
  readonly now: () => number
  readonly newId: () => string
}

/** A gateway's own bounds: two hours a connection, and a client that is silent is asked. */
const LIFETIME_MS = 2 * 60 * 60 * 1000
const PING_MS = 30_000
/** How long somebody may watch who may not any more. */
const CHECK_MS = 60_000
const [EXPIRED, REFUSED] = [4001, 4003]

export const PROTOCOL = 'tributary.v1'
const BEARER = 'bearer.'

/** A browser cannot set headers: it may offer its token as a subprotocol, beside ours. */
export const tokenOffered = ({ headers }: FastifyRequest): string | undefined => {
  const offered = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()).find((name) => name.startsWith(BEARER))
  return offered && `Bearer ${offered.slice(BEARER.length)}`
}

interface Callers {
  readonly deps: LiveDeps
  readonly callOf: (request: FastifyRequest) => Call
  /** The same, as if it came now: by whatever is known of the caller by then. */
  readonly callAgain: (request: FastifyRequest) => Promise<Call>
}

export const addLive = (scope: FastifyInstance, spec: LiveSpec, { deps, callOf, callAgain }: Callers): void => {
  const failed = (error: unknown) => scope.log.warn({ err: error }, 'what changes could not be followed; it is tried again')
  const hub = createHub({ spec, serving: deps.serving, sleep: deps.sleep, failed })
  const topics = new WeakMap<FastifyRequest, string>()

  scope.route({
    method: 'GET',
    url: spec.url,
    schema: { operationId: spec.operationId, summary: spec.summary, tags: [LIVE_TAG], security: [{ token: [] }], querystring: spec.query },
    preHandler: async (request) => {
      demandOrigin(request, deps.origins)
      topics.set(request, await deadlineAfter(deps.limits.readMs).within(spec.admit(callOf(request)), tooSlow))
    },
    handler: () => {
      throw new Problem(426, 'upgrade-required', 'This is a WebSocket: connect with one.', { headers: { upgrade: 'websocket' } })
    },
    wsHandler: (socket, request) => {
      const { user } = callOf(request).caller
      const admit = async () => void (await spec.admit(await callAgain(request)))
      void attend(socket, { topic: topics.get(request) ?? '', user, since: (request.query as { readonly cursor?: string }).cursor, admit }, { hub, spec, deps, failed })
    },
  })
  scope.addHook('onClose', () => hub.stop())
}

/** Everybody who watches is told to come back, and the plugin's own farewell, which says nothing, is not said. */
export function farewell(this: FastifyInstance, done: () => void): void {
  for (const socket of this.websocketServer.clients) sinkOf(socket).close(1001, 'the server stops: come back with your cursor')
  this.websocketServer.close(done)
}

const demandOrigin = ({ headers, host }: FastifyRequest, origins: readonly string[]): void => {
  const { origin } = headers
  if (origin === undefined || origins.includes(origin) || (URL.canParse(origin) && new URL(origin).host === host)) return
  throw new Problem(403, 'origin-refused', `Pages of ${origin} may not connect: name them in TRIBUTARY_ORIGINS.`)
}

interface Attended {
  readonly topic: string
  readonly user: string
  readonly since: string | undefined
  /** Throws where they may not watch any more. */
  readonly admit: () => Promise<void>
}

const attend = async (socket: WebSocket, { topic, user, since, admit }: Attended, { hub, spec, deps, failed }: { hub: ReturnType<typeof createHub>; spec: LiveSpec; deps: LiveDeps; failed: (error: unknown) => void }): Promise<void> => {
  const id = deps.newId()
  const at = deps.now()
  const viewer = createViewer(spec, topic, sinkOf(socket))
  // Whatever a client says is not for us; only that it lives.
  socket.on('message', () => undefined)
  socket.on('error', () => socket.terminate())
  const gone = new Promise((resolve) => socket.once('close', resolve))
  const stopAsking = askWhetherAlive(socket)
  const stopChecking = checkWhetherAdmitted(socket, admit)
  const lifetime = setTimeout(() => socket.close(EXPIRED, 'two hours are over: connect again with your cursor'), LIFETIME_MS)
  try {
    const begin = async (): Promise<void> => {
      await deps.connections.opened({ id, topic, user, at, until: at + LIFETIME_MS })
      await welcome(hub, viewer, { since, socket })
    }
    await deadlineAfter(deps.limits.readMs + deps.limits.waitMs).within(begin(), tooSlow)
    await gone
  } catch (error) {
    failed(error)
    // The text of the error is for the log: it may quote a client library.
    socket.close(1011, 'the server cannot read its store now: connect again later')
  } finally {
    stopAsking()
    stopChecking()
    clearTimeout(lifetime)
    hub.leave(viewer)
    await deps.connections.closed(id).catch(failed)
  }
}

const welcome = async (hub: ReturnType<typeof createHub>, viewer: Viewer, { since, socket }: { since: string | undefined; socket: WebSocket }): Promise<void> => {
  if (socket.readyState === socket.OPEN) await hub.join(viewer, cursorOf(since))
}

const sinkOf = (socket: WebSocket): Sink => ({
  send: (text) => {
    if (socket.readyState === socket.OPEN) socket.send(text, () => undefined)
  },
  waiting: () => socket.bufferedAmount,
  close: (code, reason) => {
    socket.close(code, reason)
    // Who does not even read the farewell is let go of.
    setTimeout(() => socket.terminate(), 1_000).unref()
  },
})

/** A half-open connection never says so. */
const askWhetherAlive = (socket: WebSocket): (() => void) => {
  let alive = true
  socket.on('pong', () => (alive = true))
  const timer = setInterval(() => {
    if (!alive) return socket.terminate()
    alive = false
    socket.ping()
  }, PING_MS)
  return () => clearInterval(timer)
}

/** A member who was taken out and a token that was revoked hear no more. A store that does not answer says nothing of that. */
const checkWhetherAdmitted = (socket: WebSocket, admit: () => Promise<void>): (() => void) => {
  const check = () => admit().catch((error: unknown) => {
    if (error instanceof Problem && [401, 403, 404].includes(error.status)) sinkOf(socket).close(REFUSED, 'you may not watch this any more')
  })
  const timer = setInterval(() => void check(), CHECK_MS)
  return () => clearInterval(timer)
}
