import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { EdgeReport } from '../producers/http/server.ts'
import type { DeviceReport } from '../producers/mqtt/taking.ts'
import type { Proof } from '../processors/engine/control.ts'
import type { Unconfirmed } from '../processors/engine/ledger.ts'
import type { Trimmed } from '../processors/engine/trimmed.ts'
import type { Watching } from '../processors/engine/pipeline.ts'
import { version } from './version.ts'

/** Where a domain stands, as measured now. */
export interface Standing {
  readonly domain: string
  readonly generation: number
  /** Whether anybody follows it; null where nobody is meant to, since nothing runs on the folder. */
  readonly followed: boolean | null
  readonly lagEvents: number
  readonly lagSeconds: number
  /** Partitions of the log that lost their first events. */
  readonly trimmed: readonly Trimmed[]
  readonly parked: number
  /** Events that wait behind what is parked. */
  readonly waiting: number
  /** How the last `verify` came out; null when there was none. */
  readonly verified: Proof | null
  /** Effects that may or may not have arrived, or were refused for good; at most the first hundred. */
  readonly unconfirmed: readonly Unconfirmed[]
  /** The generation that is being built, wherever that is; null when none is. */
  readonly rebuild: { readonly generation: number; readonly share: number; readonly eventsPerSecond: number } | null
}

export interface Measured extends Standing {
  /** Write units this process spent on the serving generation; null where the store has no price. */
  readonly units: { readonly domain: number; readonly bookkeeping: number } | null
}

export interface Metrics {
  readonly watching: Pick<Watching, 'passed' | 'failed'>
  readonly report: EdgeReport
  readonly devices: DeviceReport
  /** The Prometheus text format. What must be asked for is asked for here. */
  text(standings: readonly Measured[]): Promise<string>
  /** Events folded by this process so far. */
  events(domain: string, generation: number): number
  /** Events a second over the last ten seconds. */
  rate(domain: string, generation: number): number
}

const WINDOW_SECONDS = 10

export const createMetrics = (now: () => number): Metrics => {
  const { registry, appended, projected, conflicts, failures, followed, trimmed, lagEvents, lagSeconds, parked, waiting, unconfirmed, drifted, compared, verifiedAt, writeUnits, rebuilt, rebuildRate, heard, answers } = instruments()
  const rates = createRates(now)
  const devices = devicesReport(registry, (source, type) => appended.inc({ source, type }))
  return {
    watching: {
      passed(domain, generation, passed) {
        projected.inc({ domain, generation }, passed.events)
        conflicts.inc({ domain, generation }, passed.conflicts)
        rates.add(`${domain}.${generation}`, passed.events)
      },
      failed: (domain, error) => failures.inc({ domain, code: error instanceof Error && 'code' in error ? String(error.code) : 'internal' }),
    },
    report: {
      appended: devices.appended,
      quarantined: devices.quarantined,
      heard: (source, outcome) => heard.inc({ source, outcome }),
      answered: ({ method, route, status, seconds }) => answers.observe({ method, route, status }, seconds),
    },
    devices,
    text(standings) {
      // A domain that could not be measured has none of these, rather than its last values.
      for (const gauge of [followed, lagEvents, lagSeconds, rebuilt, rebuildRate]) gauge.reset()
      for (const { domain, generation, ...standing } of standings) {
        followed.set({ domain, generation }, standing.followed === false ? 0 : 1)
        trimmed.set({ domain }, standing.trimmed.length > 0 ? 1 : 0)
        lagEvents.set({ domain, generation }, standing.lagEvents)
        lagSeconds.set({ domain, generation }, standing.lagSeconds)
        parked.set({ domain }, standing.parked)
        waiting.set({ domain }, standing.waiting)
        unconfirmed.set({ domain }, standing.unconfirmed.length)
        if (standing.rebuild !== null) {
          rebuilt.set({ domain, generation: standing.rebuild.generation }, standing.rebuild.share)
          rebuildRate.set({ domain, generation: standing.rebuild.generation }, standing.rebuild.eventsPerSecond)
        }
        if (standing.units !== null) for (const [kind, units] of Object.entries(standing.units)) writeUnits.set({ domain, generation, kind }, units)
        if (standing.verified === null) continue
        drifted.set({ domain }, standing.verified.differences)
        compared.set({ domain }, standing.verified.items)
        verifiedAt.set({ domain }, standing.verified.at / 1000)
      }
      return registry.metrics()
    },
    events: (domain, generation) => rates.total(`${domain}.${generation}`),
    rate: (domain, generation) => rates.of(`${domain}.${generation}`),
  }
}

const instruments = () => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const labels = ['domain', 'generation'] as const
  const named = <N extends string>(name: string, help: string, labelNames: readonly N[]) => ({ name, help, labelNames, registers: [registry] })
  const built = new Gauge(named('build_info', 'The version that runs, as a label.', ['version']))
  built.set({ version: version() }, 1)
  const appended = new Counter(named('pipeline_events_appended_total', 'Events from outside that this process appended: of requests, devices, tokens and imports.', ['source', 'type']))
  const projected = new Counter(named('pipeline_projection_events_total', 'Events folded by this process.', labels))
  const conflicts = new Counter(named('pipeline_projection_conflicts_total', 'Chunks whose condition failed and that were folded again.', labels))
  const failures = new Counter(named('pipeline_failures_total', 'Faults that were retried or waited out.', ['domain', 'code']))
  const followed = new Gauge(named('pipeline_serving_followed', 'Whether a processor follows the generation that serves.', labels))
  const trimmed = new Gauge(named('tributary_log_trimmed', 'Whether events were removed from the log of the domain (1) or not (0).', ['domain']))
  const lagEvents = new Gauge(named('pipeline_projection_lag_events', 'Events in the log that are not in the items yet.', labels))
  const lagSeconds = new Gauge(named('pipeline_projection_lag_seconds', 'Age of the newest folded event while there is a lag, else 0.', labels))
  const parked = new Gauge(named('pipeline_dlq_size', 'Keys parked because one of their events could not be folded.', ['domain']))
  const waiting = new Gauge(named('pipeline_dlq_waiting_events', 'Events that wait behind what is parked.', ['domain']))
  const unconfirmed = new Gauge(named('pipeline_effects_unconfirmed', 'Effects that may or may not have arrived, or were refused for good.', ['domain']))
  const drifted = new Gauge(named('pipeline_verify_differences', 'Stored items that differed from the fold of their log when `verify` last looked.', ['domain']))
  const compared = new Gauge(named('pipeline_verify_items', 'Stored items that the last `verify` compared.', ['domain']))
  const verifiedAt = new Gauge(named('pipeline_verify_timestamp_seconds', 'When `verify` last ended.', ['domain']))
  const writeUnits = new Gauge(named('pipeline_write_units', 'DynamoDB write units that this process spent, by the documented rules; our bookkeeping apart.', ['domain', 'generation', 'kind']))
  const rebuilt = new Gauge(named('pipeline_rebuild_progress_ratio', 'How much of its log the generation that is being built has folded.', labels))
  const rebuildRate = new Gauge(named('pipeline_rebuild_events_per_second', 'How fast it folds.', labels))
  const heard = new Counter(named('webhook_calls_total', 'Calls of outside services: taken into the log, nothing to us, or not from whom they should be.', ['source', 'outcome']))
  const answers = new Histogram({ ...named('http_request_duration_seconds', 'Answers of the edge.', ['method', 'route', 'status']), buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5] })
  return { registry, appended, projected, conflicts, failures, followed, trimmed, lagEvents, lagSeconds, parked, waiting, unconfirmed, drifted, compared, verifiedAt, writeUnits, rebuilt, rebuildRate, heard, answers }
}

const devicesReport = (registry: Registry, appended: DeviceReport['appended']): DeviceReport => {
  const counter = <N extends string>(name: string, help: string, labelNames: readonly N[]) => new Counter({ name, help, labelNames, registers: [registry] })
  const messages = counter('mqtt_messages_total', 'Messages of devices that are in the log.', ['kind'])
  const refused = counter('mqtt_refused_total', 'Logins, subscriptions and messages of devices that were refused.', ['reason'])
  const quarantined = counter('device_events_quarantined_total', 'Events of devices that were not believed.', ['reason'])
  const delayed = counter('mqtt_delayed_total', 'Times a device had to wait because it sent faster than it may.', [])
  const dropped = counter('mqtt_dropped_total', 'Messages and sessions of devices that the built-in broker dropped because a bound was reached.', ['cause'])
  const keptMessages = new Gauge({ name: 'mqtt_kept_messages', help: 'Retained and queued messages that the built-in broker keeps for devices.', registers: [registry] })
  const keptBytes = new Gauge({ name: 'mqtt_kept_bytes', help: 'Memory that those messages take, estimated.', registers: [registry] })
  const connections = new Gauge({ name: 'mqtt_connections', help: 'Devices connected to the built-in broker, or 1 while a broker of others is joined.', registers: [registry] })
  return {
    appended,
    message: (kind) => messages.inc({ kind }),
    quarantined: (reason) => quarantined.inc({ reason }),
    refused: (reason) => refused.inc({ reason }),
    delayed: () => delayed.inc(),
    connections: (count) => connections.set(count),
    dropped: (cause) => dropped.inc({ cause }),
    kept: ({ messages: count, bytes }) => {
      keptMessages.set(count)
      keptBytes.set(bytes)
    },
  }
}

/** Counts by second, over a short window. */
const createRates = (now: () => number) => {
  const counts = new Map<string, Map<number, number>>()
  const totals = new Map<string, number>()
  const second = (): number => Math.floor(now() / 1000)
  return {
    add(name: string, count: number): void {
      const bySecond = counts.get(name) ?? new Map<number, number>()
      counts.set(name, bySecond)
      totals.set(name, (totals.get(name) ?? 0) + count)
      bySecond.set(second(), (bySecond.get(second()) ?? 0) + count)
      for (const at of bySecond.keys()) if (at < second() - WINDOW_SECONDS) bySecond.delete(at)
    },
    total: (name: string): number => totals.get(name) ?? 0,
    of(name: string): number {
      const from = second() - WINDOW_SECONDS
      const recent = [...(counts.get(name) ?? [])].filter(([at]) => at >= from && at < second())
      return recent.reduce((sum, [, count]) => sum + count, 0) / WINDOW_SECONDS
    },
  }
}
