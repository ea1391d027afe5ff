import { randomBytes } from 'node:crypto'
import type { AddressInfo, Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { createCommands, tooSlow, type Commands } from '../../producers/commands.ts'
import { createEdge } from '../../producers/http/server.ts'
import { Problem } from '../../producers/http/problem.ts'
import type { ServingGeneration } from '../../producers/http/auth.ts'
import type { DomainEdge } from '../../producers/http/domain.ts'
import type { LiveParts } from '../../producers/http/live.ts'
import { createIds } from '../../producers/ids.ts'
import { deadlineAfter } from '../../producers/deadline.ts'
import { createAdmin } from './admin.ts'
import { openDevices } from '../wiring/devices.ts'
import { cannotListen } from './listen.ts'
import type { Config } from '../config/config.ts'
import type { Listen } from '../config/variables.ts'
import type { Edge, Outside } from '../../domains/record.ts'
import type { Domain } from '../../projections/projection.ts'
import type { Pipeline } from '../../processors/engine/run/pipeline.ts'
import type { Runtime } from '../wiring/runtime.ts'
import { liveParts } from '../wiring/live.ts'
import { outsideOf } from '../wiring/outside.ts'
import { openSignIn } from '../wiring/sign-in.ts'
import type { SignIn } from '../../producers/http/sign-in.ts'
import type { Measured, SpentUnits } from './metrics.ts'
import { withFurther } from '../wiring/further.ts'
import { behindIn, readinessOf } from './readiness.ts'
import { lagsOf, measureDomainStatus, statusRowsOf } from './domain-status.ts'
import { version } from '../config/version.ts'
import type { OpenGeneration } from '../../processors/engine/run/open-generations.ts'

export interface Serving {
  readonly http: string | undefined
  readonly admin: string
  /** The address for devices that use MQTT, or the reason why there is none. Undefined if MQTT is off. */
  readonly mqtt: string | undefined
  /** Reports that this process is not ready, accepts no new requests, and finishes the running requests. */
  stop(): Promise<void>
}

export interface Parts {
  readonly edge: boolean
  readonly processor: boolean
  /** Whether this process accepts WebSocket connections for live push. */
  readonly live: boolean
  readonly logger: Logger
}

/** How long a command waits for its outcome. */
const WAIT_MS = 5_000
/** How long a request may take to read what it needs. */
const READ_MS = 5_000
/** A store gives up a little before the request does, because the fault of the store names the cause better than the timeout of the request. */
const STORE_PATIENCE_MS = READ_MS - 250
const RATE_WINDOW_MS = 60_000
const MEASURE_MS = 3_000

export const openEdge = async (runtime: Runtime, { edge, processor, live, logger }: Parts): Promise<Serving> => {
  let state: 'starting' | 'serving' | 'stopping' = 'starting'
  const failed = (error: unknown): void =>
    logger.warn({ err: error }, 'the state of the pipeline could not be read for an answer of the admin port')
  const admin = createAdmin({
    failed,
    readiness: async () =>
      state === 'serving' ? readinessOf(runtime, { processor, failed }) : { ready: false, text: state },
    metrics: async () => runtime.metrics.text(await measuredInTime(runtime, failed)),
    tables: async () =>
      Object.fromEntries(
        (await statusRowsOf(runtime)).map(({ domain, table, generation }) => [domain, { table, generation }]),
      ),
  })
  const adminUrl = await listenAdmin(admin, runtime.config.admin)
  const domains = edge ? edgesOf(runtime, logger) : []
  const app = edge
    ? publicEdge(runtime, {
        domains,
        logger,
        live: live ? await liveParts(runtime, domains) : undefined,
        signIn: await openSignIn(runtime, logger),
      })
    : undefined
  const devices = await openDevices(runtime, {
    domains,
    logger,
    isCaughtUp: async (domain) => behindIn(runtime.pipeline(domain), await lagsOf(runtime.pipeline(domain))) === 0,
  })
  const http = app === undefined ? undefined : await listening(app, runtime.config.http)
  state = 'serving'
  Object.assign(runtime.where, {
    admin: adminUrl,
    ...(http === undefined ? {} : { http }),
    ...(devices?.url === undefined ? {} : { mqtt: devices.url }),
  })
  const stop = async (): Promise<void> => {
    state = 'stopping'
    await Promise.all([app && closeEdge(app), devices?.stop()])
    admin.closeAllConnections()
    await new Promise((done) => admin.close(done))
  }
  return { http, admin: adminUrl, mqtt: devices?.description, stop }
}

/** Measures all domains. Leaves out a domain whose log or store does not answer in time, so that the metrics of the other domains are returned. */
const measuredInTime = async (runtime: Runtime, failed: (error: unknown) => void): Promise<readonly Measured[]> => {
  const deadline = deadlineAfter(MEASURE_MS)
  const found = [...runtime.pipelines.values()].map((pipeline) =>
    deadline.within(measured(runtime, pipeline), tooSlow).catch((error: unknown) => void failed(error)),
  )
  return (await Promise.all(found)).filter((each) => each !== undefined)
}

const IDLE_SWEEP_MS = 50

/**
 * Closes the server. Fastify closes idle connections only once, so a connection whose last request ends later would stay open. So this function
 * closes idle connections again and again until the server is closed.
 */
const closeEdge = async (app: FastifyInstance): Promise<void> => {
  const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_MS)
  await app.close().finally(() => clearInterval(sweep))
}

const measured = async (runtime: Runtime, pipeline: Pipeline): Promise<Measured> => {
  const status = await measureDomainStatus(runtime, pipeline)
  const unitsOf = (generation: number): SpentUnits | [] => {
    const units = runtime.adapters.units(pipeline.domain.table, generation)
    return units === null ? [] : { generation, ...units }
  }
  return { ...status, units: status.generations.flatMap(({ generation }) => unitsOf(generation)) }
}

const edgesOf = (runtime: Runtime, logger: Logger): readonly DomainEdge[] => {
  const { pipelines, clock, config, metrics } = runtime
  const outside = outsideOf(runtime, logger)
  return [...pipelines.values()]
    .flatMap(
      (pipeline) =>
        domainEdge(pipeline, {
          edge: edgeIn(config, pipeline.domain, outside),
          now: clock.now,
          isEmbedded: config.kafka === undefined,
          failed: (error) => metrics.observer.failed(pipeline.domain.name, error),
        }) ?? [],
    )
    .map((edge) =>
      withFurther(edge, config.domains.recordOf(edge.name), {
        pipelines,
        now: clock.now,
        patienceMs: STORE_PATIENCE_MS,
      }),
    )
}

/** Returns the edge of a domain. Undefined if the domain has no edge, or only folds the log of another domain. */
const edgeIn = ({ domains, edges }: Config, { name }: Domain, outside: Outside): Edge | undefined => {
  const { edge } = domains.recordOf(name)
  if (edge === undefined || domains.isFurther(name)) return undefined
  return 'configure' in edge ? edges[name]?.edge(outside) : edge
}

interface Public {
  readonly domains: readonly DomainEdge[]
  readonly logger: Logger
  readonly live: LiveParts | undefined
  readonly signIn: SignIn
}

const publicEdge = ({ clock, config, metrics }: Runtime, { domains, logger, live, signIn }: Public): FastifyInstance =>
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
    publicUrl: config.publicUrl,
    signIn,
    live,
  })

interface EdgeParts {
  /** Undefined if the domain has no edge. */
  readonly edge: Edge | undefined
  readonly now: () => number
  readonly isEmbedded: boolean
  /** Called with the error of each append that fails. */
  readonly failed: (error: unknown) => void
}

/** The edge of a domain, connected to its log and its serving generation. Each request reads once which generation serves. */
const domainEdge = (
  { domain, log, codec, answering: serving, unreadable, confirm }: Pipeline,
  { edge, now, isEmbedded, failed }: EdgeParts,
): DomainEdge | undefined => {
  if (edge === undefined) return undefined
  let answering: ServingGeneration | undefined
  return {
    ...edge,
    name: domain.name,
    topic: domain.topic,
    schemas: domain.schemas,
    commands: reportingFaults(
      createCommands({
        log,
        codec,
        outcomes: { untilOutcome: (sent, timeoutMs) => serving().outcomes.untilOutcome(sent, timeoutMs) },
      }),
      failed,
    ),
    // Only for the embedded log: a Kafka broker that has just become the leader may report an end that is too low.
    ...(isEmbedded && {
      end: async (partition: number) =>
        (await log.watermarks()).find((each) => each.partition === partition)?.high ?? 0,
    }),
    serving: async () => {
      if (unreadable() !== undefined) throw newerItems(domain.name)
      const followed = serving()
      if (followed.generation !== answering?.generation) answering = { ...answeringOf(followed, now), confirm }
      return answering
    },
  }
}

/** Returns commands that also call `failed` with the error of each append that fails. */
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
  new Problem(
    503,
    'folds-newer',
    `A newer release serves ${domain}, and this server cannot read its items. Nothing was written. Send the request to a server of the newer release, or again later.`,
    { retryAfter: NEWER_RETRY_SECONDS },
  )

const answeringOf = ({ generation, store, outcomes }: OpenGeneration, now: () => number): ServingGeneration => ({
  generation,
  outcomes,
  reader: store.reader(now, STORE_PATIENCE_MS),
  changes: store.changes,
})

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
