import { pino } from 'pino'
import type { Logger } from 'pino'
import { deadlineAfter } from '../../producers/deadline.ts'
import { logOptions } from '../../producers/http/logs.ts'
import { Fault, isFault, messageOf } from '../../schemas/fault.ts'
import { requireTwoPorts, printConfig } from '../../host/config/config.ts'
import type { Config } from '../../host/config/config.ts'
import { configOf } from '../context.ts'
import type { Context } from '../context.ts'
import type { EndedCommand } from '../../host/ipc/command-record.ts'
import { createPerform } from '../../host/ipc/handlers.ts'
import { answerRequests } from '../../host/ipc/requests.ts'
import { EXIT } from '../output.ts'
import { untilAborted } from '../until-aborted.ts'
import type { Exit } from '../output.ts'
import { ROLES } from '../roles.ts'
import type { Role } from '../roles.ts'
import { LEDGER_TABLE } from '../../processors/engine/generations/control.ts'
import { removeExpired } from '../../processors/engine/rows/expired.ts'
import { startPolling, type Polling } from '../../processors/engine/timing/polling.ts'
import type { Pipeline } from '../../processors/engine/run/pipeline.ts'
import { isEmbedded, openRuntime } from '../../host/wiring/runtime.ts'
import type { Runtime } from '../../host/wiring/runtime.ts'
import { startFetchers } from '../../host/serving/ask-handlers.ts'
import { openEdge } from '../../host/serving/serve.ts'
import type { Serving } from '../../host/serving/serve.ts'
import { serveSocket } from '../../host/ipc/socket.ts'
import { removesEvents } from '../../host/serving/domain-status.ts'
import { upgrade } from '../../host/serving/upgrade.ts'
import type { PipelineObserver } from '../../processors/engine/run/pipeline-parts.ts'

const STOP_MS = 25_000
/** The pause between two reads of the commands that other processes recorded, in milliseconds. */
const RECORDS_MS = 5_000
const PIPELINE_ROLES = ['processor', 'sender', 'timers'] as const satisfies readonly Role[]

export interface StartOptions {
  readonly roles?: string
  readonly printConfig?: true
}

export const start = async (context: Context, options: StartOptions): Promise<Exit> => {
  const config = configOf(context)
  if (options.printConfig === true) {
    context.output.line(printConfig(context.env, context.domains))
    return EXIT.fine
  }
  const roles = rolesOf(options.roles)
  if (isEmbedded(config) && !roles.has('processor'))
    throw new Fault(
      'bad-usage',
      'Only one process can use the embedded data folder, so this process must fold the events too. Add the role processor, or set both TRIBUTARY_KAFKA and TRIBUTARY_DYNAMODB.',
    )
  if (roles.has('edge')) requireTwoPorts(config)
  const logger = pino(logOptions(config.logLevel), pino.destination({ dest: 2, sync: true }))
  const runtime = await openRuntime({
    config,
    roles: [...roles],
    observer: logging(logger),
    note: (line) => logger.warn(line),
  })
  if (config.dynamodb !== undefined && config.keyEncryptionKey === undefined) {
    logger.warn(
      'TRIBUTARY_KEY_ENCRYPTION_KEY is not set: DynamoDB stores the keys of personal data without encryption, and everybody who can read that table can read them',
    )
  }
  try {
    for (const pipeline of runtime.pipelines.values()) {
      await warnOfRetention(pipeline, logger)
      await upgrade(runtime, pipeline, context)
    }
    const serving = await run(runtime, { roles, logger })
    const { calledAs = 'tributary' } = context
    for (const line of greeting({ config, roles, calledAs }, serving)) context.output.line(line)
    await untilAborted(context.signal)
    logger.info('the server is stopping: it accepts no new requests and finishes the running ones')
    await inTime(serving.stop().then(() => runtime.close()))
  } catch (error) {
    // The fault `stop-too-slow` means that the runtime could not be closed in time. So the runtime is closed here only after other errors.
    if (!isFault(error, 'stop-too-slow'))
      await inTime(runtime.close()).catch((late: unknown) => logger.warn(String(late)))
    throw error
  }
  logger.info('stopped')
  return EXIT.fine
}

const warnOfRetention = async ({ domain, admin }: Pipeline, logger: Logger): Promise<void> => {
  const retention = (await admin.retention?.()) ?? []
  if (retention.length > 0) logger.warn({ domain: domain.name }, removesEvents(domain.topic, retention))
}

/**
 * Waits for the work for at most `STOP_MS`. Fault: `stop-too-slow`. Unfinished work is not lost: it was not acknowledged, or the next process
 * repeats it.
 */
const inTime = (work: Promise<void>): Promise<void> =>
  deadlineAfter(STOP_MS).within(
    work,
    () =>
      new Fault(
        'stop-too-slow',
        `The program did not finish all running work within ${STOP_MS / 1000} s. No acknowledged event is lost. The log names the service that did not answer.`,
      ),
  )

const rolesOf = (text: string | undefined): ReadonlySet<Role> => {
  if (text === undefined) return new Set(ROLES)
  const names = text.split(',').map((role) => role.trim())
  const roles = ROLES.filter((role) => names.includes(role))
  const unknown = names.filter((role) => !ROLES.some((known) => known === role))
  if (unknown.length > 0)
    throw new Fault(
      'bad-usage',
      `--roles contains ${unknown.map((role) => `"${role}"`).join(', ')}. The roles are ${ROLES.join(', ')}.`,
    )
  return new Set(roles)
}

const run = async (
  runtime: Runtime,
  { roles, logger }: { roles: ReadonlySet<Role>; logger: Logger },
): Promise<Serving> => {
  for (const pipeline of runtime.pipelines.values())
    for (const role of PIPELINE_ROLES) if (roles.has(role)) await pipeline.start(role)
  if (roles.has('fetcher')) startFetchers(runtime, logger)
  const serving = await openEdge(runtime, {
    edge: roles.has('edge') || roles.has('live'),
    live: roles.has('live'),
    processor: roles.has('processor'),
    logger,
  })
  const log = ({ id: _, outcome, command, ...rest }: EndedCommand): void =>
    logger.info({ ...rest, command, outcome }, 'operator command')
  if (runtime.folderLock !== undefined) serveSocket(runtime.folderLock, answerRequests(createPerform(runtime, log)))
  const recording = startPolling(
    {
      clock: runtime.clock,
      pollMs: RECORDS_MS,
      failed: (error) => logger.warn({ err: error }, 'cannot read the records of operator commands'),
    },
    async () => {
      for (const ended of await runtime.records.take()) log(ended)
    },
  )
  const sweeping = sweepLedger(runtime, logger)
  return {
    ...serving,
    stop: async () => {
      await Promise.all([recording.stop(), sweeping?.stop()])
      await serving.stop()
    },
  }
}

const SWEEP_MS = 24 * 60 * 60 * 1000

/** Removes the expired rows of the ledger once per day. Undefined if the store itself removes them. */
const sweepLedger = ({ adapters, clock, ledger }: Runtime, logger: Logger): Polling | undefined =>
  adapters.stores.enableTtl === undefined
    ? startPolling(
        {
          clock,
          pollMs: SWEEP_MS,
          failed: (error) => logger.warn({ err: error }, 'cannot remove the expired rows of the ledger'),
        },
        (signal) => removeExpired(ledger, { ttl: LEDGER_TABLE.ttl, now: clock.now(), signal }),
      )
    : undefined

const greeting = (
  { config, roles, calledAs }: { config: Config; roles: ReadonlySet<Role>; calledAs: string },
  { http, admin, mqtt }: Serving,
): readonly string[] => [
  ...(http === undefined
    ? [`tributary runs the roles ${[...roles].join(', ')}`]
    : [`tributary listens on ${http} (all routes: ${http}/docs)`]),
  ...(mqtt === undefined ? [] : [`mqtt:    ${mqtt}`]),
  `admin:   ${admin}/readyz, ${admin}/metrics`,
  `log:     ${config.kafka === undefined ? `embedded, in ${config.data}` : `Kafka at ${config.kafka.brokers.join(', ')}`}`,
  `items:   ${config.dynamodb === undefined ? `embedded, in ${config.data}` : `DynamoDB at ${config.dynamodb.endpoint ?? 'AWS'}`}`,
  `series:  ${seriesIn(config)}`,
  `all commands: ${calledAs} --help`,
  ...tokenHint(config, calledAs),
]

/** The command that creates a token for the first domain with an edge, and its options for the other domains. Empty if no domain has an edge. */
const tokenHint = (config: Config, calledAs: string): readonly string[] => {
  const { records } = config.domains
  const [first, ...others] = records.flatMap((record) => (record.edge === undefined ? [] : [record.domain.name]))
  if (first === undefined) return []
  // `token create` without --domain uses the first of all domains.
  const domain = first === records[0]?.domain.name ? '' : ` --domain ${first}`
  const also =
    others.length === 0 ? '' : ` (for another domain: ${others.map((name) => `--domain ${name}`).join(', ')})`
  const where = isEmbedded(config) ? '' : ', with the same environment'
  return [`a first token: ${calledAs} token create --user me${domain}${also}${where}`]
}

const seriesIn = ({ data, series }: Config): string => {
  if (series.kind === 'embedded') return `embedded, in ${data}`
  return series.kind === 'timestream' ? `Timestream at ${series.endpoint ?? 'AWS'}` : 'rows in DynamoDB'
}

const logging = (logger: Logger): Partial<PipelineObserver> => ({
  // The reason may quote text that a person typed. So the log does not contain it, and only the command `parked` shows it.
  parked: (domain, { key, partition, offset, type, code }) =>
    logger.error(
      { domain, key, position: `${partition}:${offset}`, type, code },
      'a key is parked: run tributary parked to see why',
    ),
  // A server retries after a fault, so most faults are warnings. `log-trimmed` is an error, because a retry does not restore removed events.
  failed: (domain, error) =>
    logger[isFault(error, 'log-trimmed') ? 'error' : 'warn'](
      { domain, code: isFault(error) ? error.code : 'internal' },
      `${messageOf(error)}${isFault(error) && error.retriable ? ' The program tries again.' : ''}`,
    ),
})
