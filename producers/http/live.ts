import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { createHub, type HubParts } from '../live/hub.ts'
import { cursorOf, type Connection, type LiveSpec } from '../live/spec.ts'
import { createViewer, type Sink, type Viewer } from '../live/viewer.ts'
import { tooSlow } from '../commands.ts'
import { deadlineAfter } from '../deadline.ts'
import { LIVE_TAG } from './docs.ts'
import { requireOrigin } from './origin.ts'
import { Problem } from './problem.ts'
import type { Call } from './route.ts'

/** Stores the open connections of a domain, where other processes can read them. */
export interface Connections {
  opened(connection: Connection): Promise<void>
  closed(id: string): Promise<void>
}

/** The parts of the process that live routes need. */
export interface LiveParts extends Pick<HubParts, 'sleep'> {
  /** The stored connections, by the name of the domain. */
  readonly connections: ReadonlyMap<string, Connections>
  /** The origins whose pages may connect, in addition to the origin of the edge. */
  readonly origins: readonly string[]
}

interface LiveDeps extends Omit<LiveParts, 'connections'>, Pick<HubParts, 'serving'> {
  readonly publicUrl: string | undefined
  readonly connections: Connections
  /** The maximum time to admit a viewer is `readMs`. The maximum time to send the first state is `readMs + waitMs`. */
  readonly limits: { readonly readMs: number; readonly waitMs: number }
  readonly now: () => number
  readonly newId: () => string
}

/** A connection ends after two hours, because some gateways allow no longer connections. */
const LIFETIME_MS = 2 * 60 * 60 * 1000
/** The interval at which the server pings each client. A client that does not answer is disconnected. */
const PING_MS = 30_000
/** The interval at which the server checks that the caller may still watch the topic. */
const CHECK_MS = 60_000
const [EXPIRED, REFUSED] = [4001, 4003]

export const PROTOCOL = 'tributary.v1'
const BEARER = 'bearer.'

/**
 * Returns the token of a WebSocket request as the text of an Authorization header. A browser cannot set this header for a WebSocket, so it sends
 * the token as a second subprotocol. Undefined if the request contains no token.
 */
export const offeredToken = ({ headers }: FastifyRequest): string | undefined => {
  const offered = headers['sec-websocket-protocol']
    ?.split(',')
    .map((name) => name.trim())
    .find((name) => name.startsWith(BEARER))
  return offered && `Bearer ${offered.slice(BEARER.length)}`
}

interface LiveRouteParts {
  readonly deps: LiveDeps
  readonly callOf: (request: FastifyRequest) => Call
  /** Authenticates the caller of the request again, with the current state. */
  readonly callAgain: (request: FastifyRequest) => Promise<Call>
}

export const addLive = (scope: FastifyInstance, spec: LiveSpec, { deps, callOf, callAgain }: LiveRouteParts): void => {
  const failed = (error: unknown) =>
    scope.log.warn({ err: error }, 'reading the changes failed; the server tries again')
  const hub = createHub({ spec, serving: deps.serving, sleep: deps.sleep, failed })
  const topics = new WeakMap<FastifyRequest, string>()

  scope.route({
    method: 'GET',
    url: spec.url,
    schema: {
      operationId: spec.operationId,
      summary: spec.summary,
      tags: [LIVE_TAG],
      security: [{ token: [] }],
      querystring: spec.query,
    },
    preHandler: async (request) => {
      requireOrigin(request, deps, request.caller?.session !== undefined)
      topics.set(request, await deadlineAfter(deps.limits.readMs).within(spec.admit(callOf(request)), tooSlow))
    },
    handler: () => {
      throw new Problem(426, 'upgrade-required', 'This route is a WebSocket. Connect with a WebSocket client.', {
        headers: { upgrade: 'websocket' },
      })
    },
    wsHandler: (socket, request) => {
      const { user } = callOf(request).caller
      const admit = async () => void (await spec.admit(await callAgain(request)))
      void serveViewer(
        socket,
        {
          topic: topics.get(request) ?? '',
          user,
          since: (request.query as { readonly cursor?: string }).cursor,
          admit,
        },
        { hub, spec, deps, failed },
      )
    },
  })
  scope.addHook('onClose', () => hub.stop())
}

/** Closes all WebSocket connections with a reason. The plugin itself would close the connections without a reason. */
export function closeSockets(this: FastifyInstance, done: () => void): void {
  for (const socket of this.websocketServer.clients)
    sinkOf(socket).close(1001, 'the server stops: connect again with your cursor')
  this.websocketServer.close(done)
}

interface ViewerParts {
  readonly topic: string
  readonly user: string
  readonly since: string | undefined
  /** Throws if the caller must not watch the topic any more. */
  readonly admit: () => Promise<void>
}

const serveViewer = async (
  socket: WebSocket,
  { topic, user, since, admit }: ViewerParts,
  {
    hub,
    spec,
    deps,
    failed,
  }: { hub: ReturnType<typeof createHub>; spec: LiveSpec; deps: LiveDeps; failed: (error: unknown) => void },
): Promise<void> => {
  const id = deps.newId()
  const at = deps.now()
  const viewer = createViewer(spec, topic, sinkOf(socket))
  // Messages of the client are ignored.
  socket.on('message', () => undefined)
  socket.on('error', () => socket.terminate())
  const gone = new Promise((resolve) => socket.once('close', resolve))
  const stopPings = pingRegularly(socket)
  const stopChecks = checkAdmission(socket, admit)
  const lifetime = setTimeout(
    () => socket.close(EXPIRED, 'two hours are over: connect again with your cursor'),
    LIFETIME_MS,
  )
  try {
    const begin = async (): Promise<void> => {
      await deps.connections.opened({ id, topic, user, at, until: at + LIFETIME_MS })
      await joinHub(hub, viewer, { since, socket })
    }
    await deadlineAfter(deps.limits.readMs + deps.limits.waitMs).within(begin(), tooSlow)
    await gone
  } catch (error) {
    failed(error)
    // The text of the error is only for the log, because it can quote a client library.
    socket.close(1011, 'the server cannot read its store now: connect again later')
  } finally {
    stopPings()
    stopChecks()
    clearTimeout(lifetime)
    hub.leave(viewer)
    await deps.connections.closed(id).catch(failed)
  }
}

const joinHub = async (
  hub: ReturnType<typeof createHub>,
  viewer: Viewer,
  { since, socket }: { since: string | undefined; socket: WebSocket },
): Promise<void> => {
  if (socket.readyState === socket.OPEN) await hub.join(viewer, cursorOf(since))
}

const sinkOf = (socket: WebSocket): Sink => ({
  send: (text) => {
    if (socket.readyState === socket.OPEN) socket.send(text, () => undefined)
  },
  waiting: () => socket.bufferedAmount,
  close: (code, reason) => {
    socket.close(code, reason)
    // A client that does not complete the closing handshake is disconnected.
    setTimeout(() => socket.terminate(), 1_000).unref()
  },
})

/** Finds half-open connections: a client that has not answered the previous ping is disconnected. Returns a function that ends the pings. */
const pingRegularly = (socket: WebSocket): (() => void) => {
  let alive = true
  socket.on('pong', () => (alive = true))
  const timer = setInterval(() => {
    if (!alive) return socket.terminate()
    alive = false
    socket.ping()
  }, PING_MS)
  return () => clearInterval(timer)
}

/**
 * Closes the connection when the caller is no longer a member, or the token was revoked. If the store does not answer, the connection stays.
 * Returns a function that ends the checks.
 */
const checkAdmission = (socket: WebSocket, admit: () => Promise<void>): (() => void) => {
  const check = () =>
    admit().catch((error: unknown) => {
      if (error instanceof Problem && [401, 403, 404].includes(error.status))
        sinkOf(socket).close(REFUSED, 'you may not read this any more')
    })
  const timer = setInterval(() => void check(), CHECK_MS)
  return () => clearInterval(timer)
}
