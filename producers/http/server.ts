import swagger from '@fastify/swagger'
import websocket from '@fastify/websocket'
import fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import type { AppendedEvent } from '../commands.ts'
import type { Ids } from '../ids.ts'
import { byTokenDomain, type Quota } from './auth.ts'
import { answerBroken } from './broken.ts'
import { lazyCompilers } from './compilers.ts'
import { addDocs, described, openapi } from './docs.ts'
import { registerDomain, type DomainEdge } from './domain.ts'
import { answerError, sendProblem } from './errors.ts'
import { parseBody } from './json.ts'
import { closeSockets, PROTOCOL, type LiveParts } from './live.ts'
import { refuseOtherMethods, collectMethods } from './methods.ts'
import { createNotes, type Noting } from './notes.ts'
import { Problem } from './problem.ts'
import { checkRoutes } from './route-checks.ts'
import type { SignIn } from './sign-in.ts'
import { registerWebhooks } from './webhook.ts'

export interface Limits {
  /** The maximum number of requests of a token per window. Null: no limit. */
  readonly rate: { readonly max: number; readonly windowMs: number } | null
  readonly quota: Quota
  /** The sampling of usage. For example 10: one of 10 requests is counted, as 10 requests. Null: requests are not counted. */
  readonly usageSample: number | null
  /** The maximum time for which a command waits for its outcome, and for which any request waits for the event of `Tributary-After`. */
  readonly waitMs: number
  /**
   * The maximum time for the reads that authenticate the caller, and again for all other reads of the request.
   * A command has `readMs + waitMs` from the arrival of its body to its answer, of which at most `readMs` are spent before the append.
   */
  readonly readMs: number
  /** The maximum time in which a request must arrive with its body. Default: 30 s. */
  readonly arrivalMs?: number
}

/** The calls by which the edge reports to the metrics. */
export interface EdgeReport {
  appended(event: AppendedEvent): void
  /** An event of a batch was quarantined. */
  quarantined(reason: string): void
  /** `taken`: events were appended. `ignored`: there was nothing to append. `refused`: the caller was not authenticated. */
  webhookCalled(source: string, outcome: 'taken' | 'ignored' | 'refused'): void
  answered(answer: {
    readonly method: string
    readonly route: string
    readonly status: number
    readonly seconds: number
  }): void
}

export interface EdgeDeps {
  readonly domains: readonly DomainEdge[]
  readonly clock: { now(): number }
  readonly ids: Ids
  readonly randomBytes: (size: number) => Uint8Array
  readonly limits: Limits
  readonly version: string
  readonly logger?: FastifyBaseLogger
  readonly report?: EdgeReport
  /** The origin under which people reach this server, for example `https://tributary.example`. Undefined: not configured. */
  readonly publicUrl?: string | undefined
  /** Absent: people sign in to no session, and only tokens and the schemes of the domains are accepted. */
  readonly signIn?: SignIn | undefined
  /** Absent: this process serves no live feeds. */
  readonly live?: LiveParts | undefined
}

const BODY_LIMIT = 64 * 1024
const ARRIVAL_MS = 30_000
const HEADERS_MS = 10_000
const CHECK_MS = 1_000
/** The maximum size of a message from a WebSocket client, in bytes. The server ignores these messages. */
const MESSAGE_LIMIT = 4 * 1024

/** The HTTP server of all domains. It does not listen until `listen` is called. Tests use `inject`, which needs no socket. */
export const createEdge = (deps: EdgeDeps): FastifyInstance => {
  checkRoutes(deps.domains)
  const app: FastifyInstance = fastify({
    ...(deps.logger ? { loggerInstance: deps.logger } : { logger: false }),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIds(deps.ids),
    // No logger per request: it would cost more time than the routing. The log line of a failed request contains the id of the request anyway.
    childLoggerFactory: (logger) => logger,
    bodyLimit: BODY_LIMIT,
    ...deadlines(deps.limits.arrivalMs ?? ARRIVAL_MS),
    connectionTimeout: 30_000,
    routerOptions: { maxParamLength: 512, constraints: { tokenDomain: byTokenDomain } },
    // While the server closes, it still answers on open connections. It accepts no new connections.
    return503OnClosing: false,
    clientErrorHandler: answerBroken,
    // Validation must not change the body, because the server appends the content that the client sent.
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        allErrors: true,
        allowUnionTypes: true,
      },
    },
    schemaController: { compilersFactory: lazyCompilers },
    frameworkErrors: (error, request, reply) => void answerError(error, request, reply),
  })
  app.decorateRequest('caller', null)
  app.decorateRequest('appended', null)
  app.decorateRequest('problem', null)
  app.decorateRequest('receivedAt', 0)
  app.setErrorHandler(answerError)
  app.setNotFoundHandler((request, reply) =>
    sendProblem(
      reply,
      new Problem(404, 'route-not-found', `There is no ${request.method} route at this path. See GET /docs.`),
    ),
  )
  readJsonOnly(app)
  if (deps.report) reportAnswers(app, deps.report)
  const methods = collectMethods(app)
  if (deps.live !== undefined)
    app.register(websocket, {
      preClose: closeSockets,
      options: { maxPayload: MESSAGE_LIMIT, handleProtocols: (offered) => offered.has(PROTOCOL) && PROTOCOL },
    })
  app.register(swagger, { openapi: openapi(deps), transform: described })
  const noting = notingOf(app, deps)
  for (const domain of deps.domains) {
    app.register((scope) => registerDomain(scope, domain, { deps, noting }))
    app.register((scope) => registerWebhooks(scope, domain, { deps, noting }))
  }
  app.register((scope) => addDocs(scope, deps))
  app.register((scope) => refuseOtherMethods(scope, methods))
  return app
}

/** The domains that record requests. The server waits for their events when it closes. */
const notingOf = (app: FastifyInstance, { domains, report }: EdgeDeps): readonly Noting[] => {
  const noting = domains.flatMap(({ name: domain, noted: note, commands }) => {
    if (note === undefined) return []
    const notes = createNotes({
      commands,
      lost: (error, count) => app.log.warn({ err: error, count, domain }, 'events that record requests were lost'),
      appended: ({ type, meta: { source } }) => report?.appended({ domain, source, type }),
    })
    return [{ domain, note, notes }]
  })
  app.addHook('onClose', async () => void (await Promise.all(noting.map(({ notes }) => notes.settled()))))
  return noting
}

/**
 * The timeouts of Node's HTTP server, in milliseconds. Node applies the larger of `headersTimeout` (default: 60 s) and `requestTimeout` to the
 * whole request, so both are set. By default Node checks the timeouts only every 30 s, so a shorter interval is set, too.
 */
const deadlines = (requestTimeout: number) => ({
  requestTimeout,
  http: {
    requestTimeout,
    headersTimeout: Math.min(HEADERS_MS, requestTimeout),
    connectionsCheckingInterval: Math.min(CHECK_MS, requestTimeout),
  },
})

/** Ids that are unique like UUIDs, but as cheap as a counter: one UUID per process and a number. */
const requestIds = ({ uuidv7 }: Ids): (() => string) => {
  const prefix = uuidv7()
  let count = 0
  return () => `${prefix}.${(count += 1).toString(36)}`
}

const readJsonOnly = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const encoding = request.headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity') {
      done(new Problem(415, 'unsupported-encoding', 'Send the body without Content-Encoding.'))
      return
    }
    try {
      done(null, parseBody(Buffer.isBuffer(body) ? body : Buffer.from(body)))
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
    }
  })
}

const reportAnswers = (app: FastifyInstance, report: EdgeReport): void => {
  app.addHook('onResponse', (request, reply, done) => {
    report.answered({
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1000,
    })
    done()
  })
}
