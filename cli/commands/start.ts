import { pino } from 'pino'
import type { Logger } from 'pino'
import { deadlineAfter } from '../../producers/deadline.ts'
import { logOptions } from '../../producers/http/logs.ts'
import { Fault, isFault, messageOf } from '../../schemas/fault.ts'
import { demandTwoPorts, printConfig } from '../config.ts'
import type { Config } from '../config.ts'
import { configOf } from '../context.ts'
import type { Context } from '../context.ts'
import { withCommandLog, type EndedCommand } from '../command-record.ts'
import { createPerform } from '../operations.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { startPolling } from '../../processors/engine/polling.ts'
import type { Pipeline, Watching } from '../../processors/engine/pipeline.ts'
import { isEmbedded, openRuntime } from '../runtime.ts'
import type { Runtime } from '../runtime.ts'
import { openEdge } from '../serve.ts'
import type { Serving } from '../serve.ts'
import { serveSocket } from '../socket.ts'
import { removesEvents } from '../standing.ts'
import { upgrade } from '../upgrade.ts'

const ROLES = ['edge', 'processor', 'sender', 'timers', 'live', 'fetcher'] as const
export type Role = (typeof ROLES)[number]
const STOP_MS = 25_000
/** How often a server looks for commands that other processes recorded. */
const RECORDS_MS = 5_000
/** Named by the interface, and nothing of this version needs them. */
const IDLE: readonly Role[] = ['fetcher']
const HANDS = ['processor', 'sender', 'timers'] as const satisfies readonly Role[]

export interface StartOptions {
  readonly roles?: string
  readonly printConfig?: true
}

export const start = async (context: Context, options: StartOptions): Promise<Exit> => {
  const config = configOf(context)
  if (options.printConfig === true) {
    context.output.line(printConfig(context.env))
    return EXIT.fine
  }
  const roles = rolesOf(options.roles)
  if (isEmbedded(config) && !roles.has('processor')) throw new Fault('bad-usage', 'The data folder belongs to one process, so nobody else could fold what is said here: name the role processor too, or set both TRIBUTARY_KAFKA and TRIBUTARY_DYNAMODB.')
  if (roles.has('edge')) demandTwoPorts(config)
  const logger = pino(logOptions(config.logLevel), pino.destination({ dest: 2, sync: true }))
  const runtime = await openRuntime({ config, roles: [...roles], watching: logging(logger), note: (line) => logger.warn(line) })
  if (config.dynamodb !== undefined && config.keyEncryptionKey === undefined) {
    logger.warn('TRIBUTARY_KEY_ENCRYPTION_KEY is not set: the keys that seal what is personal lie unwrapped in DynamoDB, readable for whoever reads that table')
  }
  try {
    for (const pipeline of runtime.pipelines.values()) {
      await warnOfRetention(pipeline, logger)
      await upgrade(runtime, pipeline, context)
    }
    const serving = await run(runtime, { roles, logger })
    for (const line of greeting(config, serving, roles)) context.output.line(line)
    await untilAborted(context.signal)
    logger.info('stopping: no new requests, finishing what is under way')
    await inTime(serving.stop().then(() => runtime.close()))
  } catch (error) {
    // A stop that took too long has used up its time: it does not get the same time again.
    if (!isFault(error, 'stop-too-slow')) await inTime(runtime.close()).catch((late: unknown) => logger.warn(String(late)))
    throw error
  }
  logger.info('stopped')
  return EXIT.fine
}

const warnOfRetention = async ({ domain, log }: Pipeline, logger: Logger): Promise<void> => {
  const retention = (await log.retention?.()) ?? []
  if (retention.length > 0) logger.warn({ domain: domain.name }, removesEvents(domain.topic, retention))
}

/** Work that is not finished by then is not lost: it was not acknowledged, or it comes again. */
const inTime = (work: Promise<void>): Promise<void> => deadlineAfter(STOP_MS).within(work, () =>
  new Fault('stop-too-slow', `Not everything could be finished within ${STOP_MS / 1000} s. Nothing acknowledged is lost; see the log for what did not answer.`))

const rolesOf = (text: string | undefined): ReadonlySet<Role> => {
  if (text === undefined) return new Set(ROLES)
  const asked = text.split(',').map((role) => role.trim())
  const roles = ROLES.filter((role) => asked.includes(role))
  const unknown = asked.filter((role) => !ROLES.some((known) => known === role))
  if (unknown.length > 0) throw new Fault('bad-usage', `--roles names ${unknown.map((role) => `"${role}"`).join(', ')}; there are ${ROLES.join(', ')}.`)
  if (roles.every((role) => IDLE.includes(role))) throw new Fault('bad-usage', `Nothing in this version needs the roles ${roles.join(', ')}; name edge, processor, sender or timers.`)
  return new Set(roles)
}

const run = async (runtime: Runtime, { roles, logger }: { roles: ReadonlySet<Role>; logger: Logger }): Promise<Serving> => {
  for (const pipeline of runtime.pipelines.values()) for (const hand of HANDS) if (roles.has(hand)) await pipeline.start(hand)
  const serving = await openEdge(runtime, { edge: roles.has('edge') || roles.has('live'), live: roles.has('live'), processor: roles.has('processor'), logger })
  const log = ({ id: _, outcome, command, ...rest }: EndedCommand): void => logger.info({ ...rest, command, outcome }, 'operator command')
  if (runtime.held !== undefined) serveSocket(runtime.held, withCommandLog(createPerform(runtime), log))
  const recording = startPolling({ clock: runtime.clock, pollMs: RECORDS_MS, failed: (error) => logger.warn({ err: error }, 'the records of operator commands could not be read') }, async () => {
    for (const ended of await runtime.records.take()) log(ended)
  })
  return { ...serving, stop: async () => {
    await recording.stop()
    await serving.stop()
  } }
}

const greeting = (config: Config, { http, admin, mqtt }: Serving, roles: ReadonlySet<Role>): readonly string[] => [
  ...(http === undefined ? [`tributary runs the roles ${[...roles].join(', ')}`] : [`tributary listens on ${http} (what it serves: ${http}/docs)`]),
  ...(mqtt === undefined ? [] : [`mqtt:    ${mqtt}`]),
  `admin:   ${admin}/readyz, ${admin}/metrics`,
  `log:     ${config.kafka === undefined ? `embedded, in ${config.data}` : `Kafka at ${config.kafka.brokers.join(', ')}`}`,
  `items:   ${config.dynamodb === undefined ? `embedded, in ${config.data}` : `DynamoDB at ${config.dynamodb.endpoint ?? 'AWS'}`}`,
  `series:  ${seriesIn(config)}`,
  `a first token: npx tributary token create --user me (for another domain: --domain scales, --domain expenses)${isEmbedded(config) ? '' : ', with the same environment'}`,
]

const seriesIn = ({ data, series }: Config): string => {
  if (series.kind === 'embedded') return `embedded, in ${data}`
  return series.kind === 'timestream' ? `Timestream at ${series.endpoint ?? 'AWS'}` : 'rows in DynamoDB'
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })))

const logging = (logger: Logger): Partial<Watching> => ({
  // The reason may quote what a person typed, so it is shown by the command only.
  parked: (domain, { key, partition, offset, type, code }) =>
    logger.error({ domain, key, position: `${partition}:${offset}`, type, code }, 'a key is parked: run tributary parked to see why'),
  // A running server retries; in other commands a fault ends the command. Lost events do not return by a retry.
  failed: (domain, error) => logger[isFault(error, 'log-trimmed') ? 'error' : 'warn']({ domain, code: isFault(error) ? error.code : 'internal' }, `${messageOf(error)}${isFault(error) && error.retriable ? ' It is tried again.' : ''}`),
})
