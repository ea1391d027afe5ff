import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Refusals } from '../../projections/refusal.ts'
import { tooSlow, type Commands } from '../commands.ts'
import { deadlineAfter } from '../deadline.ts'
import type { Json } from './asyncapi.ts'
import { createAuthentication, utcDay, type Access, type AuthenticatedCaller, type ServingGeneration } from './auth.ts'
import { addRoute, callOf, SOURCE } from './add-route.ts'
import { afterOf, badReference } from './headers.ts'
import { noteAnswers, type Note, type Noting } from './notes.ts'
import { Problem } from './problem.ts'
import type { Call, Route } from './route.ts'
import type { PresentedRequest, Scheme } from './scheme.ts'
import { schemesOf } from './sign-in.ts'
import type { Scope } from '../access/pat.ts'
import { sessionRoutes } from '../access/session-routes.ts'
import type { LiveSpec } from '../live/spec.ts'
import type { DeviceSpec } from '../mqtt/spec.ts'
import { addLive, offeredToken } from './live.ts'
import type { EdgeDeps } from './server.ts'
import { createUsage } from './usage.ts'
import type { Webhook } from './webhook.ts'

/** One domain at the edge: its routes, tokens and feeds, and the access to its log and its serving generation. */
export interface DomainEdge {
  readonly name: string
  /** The topic of its log. */
  readonly topic: string
  /** The folder of its schemas. Default: the schemas of this program. */
  readonly schemas?: URL | undefined
  readonly routes: readonly Route[]
  readonly access: Access
  /** The codes with which the folds of the domain refuse events. */
  readonly refusals: readonly Refusals[]
  /** Ways to authenticate without a token. */
  readonly schemes?: readonly Scheme[]
  /** The routes that outside services call. */
  readonly webhooks?: readonly Webhook[]
  /** The live feed. Absent if the domain has none. */
  readonly live?: LiveSpec
  /** The devices that send messages over MQTT. Absent if the domain has none. */
  readonly devices?: DeviceSpec
  /** Returns an event that records a request, after its answer. Absent: the domain records no requests. */
  readonly noted?: Note
  /** True if the folds of the domain derive events. Then `Tributary-After` also waits for the derived events. */
  readonly derives?: true
  /** Further channels of the AsyncAPI document, such as those of devices. */
  readonly channels?: Json
  readonly commands: Commands
  /** Returns the serving generation. Every request calls this function once. */
  readonly serving: () => Promise<ServingGeneration>
  /** Returns the next offset of a partition of the log. Absent for Kafka, because a new leader can report a lower offset. */
  readonly end?: (partition: number) => Promise<number>
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: AuthenticatedCaller | null
    /** The event that the request appended. Null if it appended none. */
    appended: { readonly id: string; readonly type: string } | null
    /** The code of the Problem with which the request was answered. */
    problem: string | null
    receivedAt: number
  }
  interface FastifyContextConfig {
    needs?: Scope
    alsoFor?: Scope
    ofSeries?: true
    /** The route is an action: it ignores `Idempotency-Key` and `Prefer`. */
    isAction?: true
    /** The route belongs to no domain: every domain has it, on the same path. */
    isOfProgram?: true
  }
}

export const registerDomain = async (
  scope: FastifyInstance,
  domain: DomainEdge,
  { deps, noting }: { deps: EdgeDeps; noting: readonly Noting[] },
): Promise<void> => {
  const { clock, limits } = deps
  const schemes = [...(domain.schemes ?? []), ...schemesOf(deps)]
  const authentication = createAuthentication({
    domain: domain.name,
    access: domain.access,
    serving: domain.serving,
    quota: limits.quota,
    schemes,
  })

  const admittedBy = (request: FastifyRequest, now: number): Promise<AuthenticatedCaller> =>
    authentication.ofRequest(presentedBy(request, now), {
      kind: kindOf(request),
      scope: request.routeOptions.config.needs,
      or: request.routeOptions.config.alsoFor,
      now,
    })

  scope.addHook('onRequest', (request, reply, done) => {
    request.receivedAt = clock.now()
    reply.header('cache-control', 'no-store')
    const admit = (caller: AuthenticatedCaller) => {
      request.caller = caller
      done()
    }
    deadlineAfter(limits.readMs).within(admittedBy(request, request.receivedAt), tooSlow).then(admit, done)
  })
  // The wait is in the preHandler, after the rate limit and the validation, so that a refused request does not wait.
  scope.addHook('preHandler', (request, _reply, done) => {
    if (request.headers['tributary-after'] === undefined) done()
    else
      deadlineAfter(limits.waitMs + limits.readMs)
        .within(waitUntilVisible(request, domain, limits.waitMs), tooSlow)
        .then(() => done(), done)
  })
  recordUsage(scope, domain, deps)
  noteAnswers(scope, domain.name, noting)
  if (limits.rate) await scope.register(rateLimit, rateOptions(limits.rate))
  for (const route of domain.routes) addRoute(scope, route, { domain, deps })
  // The routes of the first domain have no constraint: they also answer requests whose token names none of the other domains.
  const constraints = domain === deps.domains[0] ? {} : { tokenDomain: domain.name }
  const everywhere = [
    ...domain.access.routes,
    ...(deps.signIn === undefined ? [] : sessionRoutes(deps.signIn.sessions)),
  ]
  for (const route of everywhere) addRoute(scope, route, { domain, deps, constraints })
  const connections = deps.live?.connections.get(domain.name)
  if (domain.live !== undefined && deps.live !== undefined && connections !== undefined) {
    const serving = async () => ({ changes: undefined, ...(await domain.serving()) })
    const callAgain = async (request: FastifyRequest): Promise<Call> => ({
      ...callOf(request, deps),
      caller: await admittedBy(request, clock.now()),
      now: clock.now(),
    })
    addLive(scope, domain.live, {
      deps: {
        ...deps.live,
        connections,
        serving,
        limits,
        publicUrl: deps.publicUrl,
        now: clock.now,
        newId: () => deps.ids.uuidv7(),
      },
      callOf: (request) => callOf(request, deps),
      callAgain,
    })
  }
}

const presentedBy = (request: FastifyRequest, now: number): PresentedRequest => {
  const { headers, host, hostname, method } = request
  return { headers, host, hostname, method, authorization: headers.authorization ?? offeredToken(request), now }
}

const kindOf = (request: FastifyRequest): 'read' | 'write' =>
  request.method === 'GET' || request.method === 'HEAD' ? 'read' : 'write'

/** Waits until the event of `Tributary-After` is visible, and in the series too if the route reads them. Throws `not-yet-visible` after `waitMs`. */
const waitUntilVisible = async (
  request: FastifyRequest,
  { end, derives }: DomainEdge,
  waitMs: number,
): Promise<void> => {
  const { caller } = request
  const after = afterOf(request.headers)
  if (!after || !caller) return
  if (end !== undefined && after.offset >= (await end(after.partition)))
    throw badReference(
      'Tributary-After names an event that is not in this log. Send the Tributary-Event of an earlier answer.',
    )
  const { outcomes, series } = caller
  const reached = await Promise.all([
    outcomes.untilFolded(after, waitMs, derives),
    ...(request.routeOptions.config.ofSeries && series ? [series.untilFolded(after, waitMs)] : []),
  ])
  if (reached.includes(false))
    throw new Problem(
      503,
      'not-yet-visible',
      'The event named in Tributary-After, or an event derived from it, is not visible yet. Send the request again.',
      { retryAfter: 1 },
    )
}

const recordUsage = (
  scope: FastifyInstance,
  { name, access, commands }: DomainEdge,
  { limits, report }: EdgeDeps,
): void => {
  const failed = (error: unknown) => scope.log.warn({ err: error }, 'usage was not recorded')
  const usage = createUsage({
    access,
    commands,
    sample: limits.usageSample,
    source: SOURCE,
    failed,
    appended: (type) => report?.appended({ domain: name, source: SOURCE, type }),
  })
  scope.addHook('onResponse', (request, _reply, done) => {
    const { caller, receivedAt } = request
    if (caller)
      usage.record({
        caller,
        kind: kindOf(request),
        id: request.appended?.id ?? request.id,
        now: receivedAt,
        day: utcDay(receivedAt),
      })
    done()
  })
  scope.addHook('onClose', () => usage.settled())
}

const rateOptions = ({ max, windowMs }: { max: number; windowMs: number }) => ({
  max,
  timeWindow: windowMs,
  keyGenerator: (request: FastifyRequest) => callerKey(request.caller),
  errorResponseBuilder: (_request: FastifyRequest, { ttl }: { ttl: number }) =>
    new Problem(
      429,
      'rate-limited',
      `The token made more than ${max} requests in ${windowMs / 1000} s. Send fewer requests.`,
      { retryAfter: Math.max(1, Math.ceil(ttl / 1000)) },
    ),
})

/** The key of the rate limit: each token has its own limit. A user who was authenticated without a token has one limit for all requests. */
const callerKey = (caller: AuthenticatedCaller | null): string => caller?.patId ?? `user:${caller?.user ?? ''}`
