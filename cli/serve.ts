import { randomBytes } from 'node:crypto'
import type { AddressInfo, Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { createCommands, tooSlow, type Commands } from '../producers/commands.ts'
import { createEdge } from '../producers/http/server.ts'
import { Problem } from '../producers/http/problem.ts'
import type { Answering } from '../producers/http/auth.ts'
import type { DomainEdge } from '../producers/http/domain.ts'
import type { LiveParts } from '../producers/http/live.ts'
import { createIds } from '../producers/ids.ts'
import { counted } from '../schemas/counted.ts'
import { deadlineAfter } from '../producers/deadline.ts'
import { createAdmin, failureText } from './admin.ts'
import type { Readiness } from './admin.ts'
import { openDevices } from './devices.ts'
import { cannotListen } from './listen.ts'
import type { Listen } from './variables.ts'
import { edgeOf, seriesDomainOf, type Outside } from './domains.ts'
import type { Followed, Pipeline } from '../processors/engine/pipeline.ts'
import { logTrimmed, trimmedIn } from '../processors/engine/trimmed.ts'
import type { Runtime } from './runtime.ts'
import { liveParts } from './live.ts'
import type { Measured, SpentUnits } from './metrics.ts'
import { withSeries } from './series.ts'
import { isServingFollowed, lagsOf, standingOf, statusOf, unfollowed } from './standing.ts'
import { version } from './version.ts'

export interface Serving {
  readonly http: string | undefined
  readonly admin: string
  /** Where devices speak MQTT, or why they do not; undefined where nobody asked for it. */
  readonly mqtt: string | undefined
  /** Fails readiness, takes no new requests, answers those under way. */
  stop(): Promise<void>
}

export interface Parts {
  readonly edge: boolean
  readonly processor: boolean
  /** Whether bars can be watched through this process. */
  readonly live: boolean
  readonly logger: Logger
}

/** How long a command waits for its outcome. */
const WAIT_MS = 5_000
/** How long a request may take to read what it needs. */
const READ_MS = 5_000
/** A store's own fault names the cause better than the deadline of the request, so it comes a little earlier. */
const STORE_PATIENCE_MS = READ_MS - 250
const RATE_WINDOW_MS = 60_000
/** Further behind, a processor is not ready: what it shows is old. */
const READY_LAG_EVENTS = 10_000
const READY_CHECK_MS = 2_000
const MEASURE_MS = 3_000

export const openEdge = async (runtime: Runtime, { edge, processor, live, logger }: Parts): Promise<Serving> => {
  let state: 'starting' | 'serving' | 'stopping' = 'starting'
  const failed = (error: unknown): void => logger.warn({ err: error }, 'the state of the pipeline could not be read for an answer of the admin port')
  const admin = createAdmin({
    failed,
    readiness: async () => (state === 'serving' ? readinessOf(runtime, { processor, failed }) : { ready: false, text: state }),
    metrics: async () => runtime.metrics.text(await measuredInTime(runtime, failed)),
    tables: async () => Object.fromEntries((await statusOf(runtime)).map(({ domain, table, generation }) => [domain, { table, generation }])),
  })
  const adminUrl = await listenAdmin(admin, runtime.config.admin)
  const domains = edge ? edgesOf(runtime, logger) : []
  const app = edge ? publicEdge(runtime, { domains, logger, live: live ? await liveParts(runtime) : undefined }) : undefined
  const devices = await openDevices(runtime, { domains, logger, isCaughtUp: async (domain) => behindIn(runtime.pipeline(domain), await lagsOf(runtime.pipeline(domain))) === 0 })
  const http = app === undefined ? undefined : await listening(app, runtime.config.http)
  state = 'serving'
  Object.assign(runtime.where, { admin: adminUrl, ...(http === undefined ? {} : { http }), ...(devices?.url === undefined ? {} : { mqtt: devices.url }) })
  const stop = async (): Promise<void> => {
    state = 'stopping'
    await Promise.all([app && closeEdge(app), devices?.stop()])
    admin.closeAllConnections()
    await new Promise((done) => admin.close(done))
  }
  return { http, admin: adminUrl, mqtt: devices?.told, stop }
}

/** Without the domains whose log or store does not answer in time: the other metrics do not need them. */
const measuredInTime = async (runtime: Runtime, failed: (error: unknown) => void): Promise<readonly Measured[]> => {
  const deadline = deadlineAfter(MEASURE_MS)
  const found = [...runtime.pipelines.values()].map((pipeline) => deadline.within(measured(runtime, pipeline), tooSlow).catch((error: unknown) => void failed(error)))
  return (await Promise.all(found)).filter((each) => each !== undefined)
}

const IDLE_SWEEP_MS = 50

/** Closes the server. The server itself closes idle connections only once, so a connection whose last request ends later would stay open until its client leaves. */
const closeEdge = async (app: FastifyInstance): Promise<void> => {
  const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_MS)
  await app.close().finally(() => clearInterval(sweep))
}

const measured = async (runtime: Runtime, pipeline: Pipeline): Promise<Measured> => {
  const standing = await standingOf(runtime, pipeline)
  const unitsOf = (generation: number): SpentUnits | [] => {
    const units = runtime.adapters.units(pipeline.domain.table, generation)
    return units === null ? [] : { generation, ...units }
  }
  return { ...standing, units: standing.generations.flatMap(({ generation }) => unitsOf(generation)) }
}

const edgesOf = ({ pipelines, clock, config, metrics }: Runtime, logger: Logger): readonly DomainEdge[] => {
  const outside: Outside = { config, failed: (error) => logger.warn({ err: error }, 'who was asked outside did not answer') }
  return [...pipelines.values()]
    .flatMap((pipeline) => domainEdge(pipeline, { outside, now: clock.now, isEmbedded: config.kafka === undefined, failed: (error) => metrics.watching.failed(pipeline.domain.name, error) }) ?? [])
    .map((edge) => withSeries(edge, pipelines.get(seriesDomainOf(edge.name) ?? ''), { now: clock.now, patienceMs: STORE_PATIENCE_MS }))
}

interface Public {
  readonly domains: readonly DomainEdge[]
  readonly logger: Logger
  readonly live: LiveParts | undefined
}

const publicEdge = ({ clock, config, metrics }: Runtime, { domains, logger, live }: Public): FastifyInstance =>
  createEdge({
    domains,
    clock,
    ids: createIds({ now: clock.now, randomBytes }),
    randomBytes,
    limits: {
      rate: config.rateLimit === null ? null : { max: config.rateLimit, windowMs: RATE_WINDOW_MS },
      quota: config.quota,
      usageSample: config.usageSample,
      waitMs: WAIT_MS,
      readMs: READ_MS,
    },
    version: version(),
    logger,
    report: metrics.report,
    live,
  })

interface EdgeParts {
  readonly outside: Outside
  readonly now: () => number
  readonly isEmbedded: boolean
  /** Called with the error of each append that fails. */
  readonly failed: (error: unknown) => void
}

/** Each request asks once which generation serves, and hears outcomes of that one. Nobody need speak to a domain. */
const domainEdge = ({ domain, log, codec, answering: serving, unreadable, confirm }: Pipeline, { outside, now, isEmbedded, failed }: EdgeParts): DomainEdge | undefined => {
  const edge = edgeOf(domain.name, outside)
  if (edge === undefined) return undefined
  let answering: Answering | undefined
  return {
    ...edge,
    name: domain.name,
    commands: reportingFaults(createCommands({ log, codec, outcomes: { after: (sent, timeoutMs) => serving().outcomes.after(sent, timeoutMs) } }), failed),
    // A broker that has just become the leader may not know the end yet, so there nobody is called wrong.
    ...(isEmbedded && { end: async (partition: number) => (await log.watermarks()).find((each) => each.partition === partition)?.high ?? 0 }),
    questions: async () => {
      if (unreadable() !== undefined) throw newerItems(domain.name)
      const followed = serving()
      if (followed.generation !== answering?.generation) answering = { ...answeringOf(followed, now), confirm }
      return answering
    },
  }
}

/** Commands that report each append that fails. */
const reportingFaults = ({ execute, append }: Commands, failed: (error: unknown) => void): Commands => {
  const reported = (error: unknown): never => {
    failed(error)
    throw error
  }
  return {
    execute: (event, options) => execute(event, options).catch(reported),
    append: (events, options) => append(events, options).catch(reported),
  }
}

const NEWER_RETRY_SECONDS = 5

const newerItems = (domain: string): Problem =>
  new Problem(503, 'folds-newer', `A newer release serves ${domain}, and this server cannot read its items. Nothing was written. Send the request to a server of the newer release, or again later.`, { retryAfter: NEWER_RETRY_SECONDS })

const answeringOf = ({ generation, store, outcomes }: Followed, now: () => number): Answering => ({ generation, outcomes, reader: store.reader(now, STORE_PATIENCE_MS), changes: store.changes })

/**
 * Every process is ready only if its log answers, the serving generation of every domain can be read, and that generation has passed every
 * event that the log contained when the process started. A process with the processor role is ready only if, in addition, a processor follows
 * that generation, folding has not stopped, and the lag is small. A domain of series does not count: a series store that is down delays
 * nothing else.
 */
const readinessOf = async ({ pipelines, clock }: Runtime, { processor, failed }: { processor: boolean; failed: (error: unknown) => void }): Promise<Readiness> => {
  const tooLong = new AbortController()
  const check = async (pipeline: Pipeline): Promise<Readiness> => {
    const { name, series } = pipeline.domain
    const { generation } = pipeline.answering()
    const lags = await lagsOf(pipeline)
    const [lagEvents, trimmed] = [lags.reduce((sum, { lag }) => sum + lag, 0), trimmedIn(lags)]
    if (trimmed.length > 0) return { ready: !processor, text: `log-trimmed: ${logTrimmed(pipeline.domain.topic, trimmed).message}` }
    if (!(await isServingFollowed(pipeline))) return { ready: !processor, text: unfollowed(name, generation) }
    if (pipeline.unreadable() !== undefined) return { ready: true, text: `${name} is held back: the items of generation ${generation} need a newer release` }
    if (series !== undefined) return READY
    const stalled = processor ? pipeline.stalled() : undefined
    if (stalled !== undefined) return { ready: false, text: `${name} does not fold: ${failureText(stalled)}` }
    const behind = behindIn(pipeline, lags)
    if (behind > 0) return { ready: false, text: `${name} is catching up: ${counted(behind, 'event')} from before the start to fold` }
    return processor && lagEvents > READY_LAG_EVENTS ? { ready: false, text: `${name} is catching up: ${counted(lagEvents, 'event')} behind` } : READY
  }
  const late = clock.sleep(READY_CHECK_MS, tooLong.signal).then(() => [{ ready: false, text: 'the log or the store does not answer' }])
  const checks = Promise.all([...pipelines.values()].map(check)).catch((error: unknown) => {
    failed(error)
    return [{ ready: false, text: failureText(error) }]
  })
  const found = await Promise.race([checks, late])
  tooLong.abort()
  return found.find(({ ready }) => !ready) ?? found.find((each) => each !== READY) ?? READY
}

const behindIn = (pipeline: Pipeline, lags: Awaited<ReturnType<typeof lagsOf>>): number => pipeline.behindStart(new Map(lags.map(({ partition, next }) => [partition, next])))

const READY: Readiness = { ready: true, text: 'ready' }

const listening = async (app: FastifyInstance, { host, port }: Listen): Promise<string> => {
  try {
    return await app.listen({ host, port })
  } catch (error) {
    await app.close()
    throw cannotListen(error, { host, port }, 'TRIBUTARY_HTTP')
  }
}

const listenAdmin = (server: Server, { host, port }: Listen): Promise<string> =>
  new Promise((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(error, { host, port }, 'TRIBUTARY_ADMIN')))
    server.listen(port, host, () => {
      const { address, family, port: bound } = server.address() as AddressInfo
      resolve(`http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`)
    })
  })
