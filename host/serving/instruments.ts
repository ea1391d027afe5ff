import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { version } from '../config/version.ts'

/** Describes this process: the labels of `tributary_build_info`. */
export interface Build {
  readonly log: 'embedded' | 'kafka'
  readonly items: 'embedded' | 'dynamodb'
  /** The roles of this process, separated by commas. */
  readonly roles: string
}

/** The buckets of every latency, in seconds. */
const LATENCY_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/**
 * Creates all metrics of the program, which docs/operating.md lists. Each label has a fixed set of values: no user, key, device or position.
 * `domains`: gauges of domains and generations. All values of these gauges are replaced before each scrape.
 */
export const createInstruments = (build: Build) => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const named = <N extends string>(name: string, help: string, labelNames: readonly N[]) => ({
    name: `tributary_${name}`,
    help,
    labelNames,
    registers: [registry],
  })
  const counter = <N extends string>(name: string, help: string, ...labelNames: readonly N[]) =>
    new Counter(named(name, help, labelNames))
  const gauge = <N extends string>(name: string, help: string, ...labelNames: readonly N[]) =>
    new Gauge(named(name, help, labelNames))
  gauge(
    'build_info',
    'Always 1. The labels contain the version, the version of Node.js, the log, the store of the items and the roles of this process.',
    'version',
    'node',
    'log',
    'items',
    'roles',
  ).set({ version: version(), node: process.version, ...build }, 1)
  return {
    registry,
    domains: createDomainGauges(gauge),
    appended: counter(
      'events_appended_total',
      'Events that this process appended to the log, from requests, devices, webhooks, commands and imports.',
      'domain',
      'source',
      'type',
    ),
    folded: counter('events_folded_total', 'Events that this process folded, by generation.', 'domain', 'generation'),
    conflicts: counter(
      'fold_conflicts_total',
      'Commits that failed because another writer had changed the items, and that this process folded again.',
      'domain',
    ),
    faults: counter(
      'faults_total',
      'Faults of the log and the stores while this process folded, sent or appended events, by error code. docs/errors.md lists the codes.',
      'domain',
      'code',
    ),
    askCalls: counter(
      'ask_calls_total',
      'Calls of outside services that folds asked for. The outcome is answered, dropped (the answer is about forgotten data), later (nothing was called yet), failed (it is repeated) or unknown (it waits for an operator).',
      'domain',
      'kind',
      'outcome',
    ),
    writeUnits: counter(
      'write_units_total',
      'DynamoDB write units that this process used, computed by the documented rules. The kind is domain for items and bookkeeping for our own rows.',
      'domain',
      'generation',
      'kind',
    ),
    duration: new Histogram({
      ...named(
        'http_request_duration_seconds',
        'Time from the arrival of an HTTP request to the end of its answer, in seconds.',
        ['edge', 'method', 'route', 'class'],
      ),
      buckets: LATENCY_BUCKETS,
    }),
    responses: counter('http_responses_total', 'HTTP answers by exact status code.', 'edge', 'route', 'status'),
    webhookCalls: counter(
      'webhook_calls_total',
      'Webhook calls of outside services. The outcome is taken (events appended), ignored (nothing to append) or refused (not authenticated).',
      'source',
      'outcome',
    ),
    ...deviceInstruments(counter, gauge),
  }
}

type CreateCounter = <N extends string>(name: string, help: string, ...labelNames: readonly N[]) => Counter<N>
type CreateGauge = <N extends string>(name: string, help: string, ...labelNames: readonly N[]) => Gauge<N>

const deviceInstruments = (counter: CreateCounter, gauge: CreateGauge) => ({
  mqttMessages: counter('mqtt_messages_total', 'MQTT messages of devices that are in the log.', 'kind'),
  mqttRefused: counter(
    'mqtt_refused_total',
    'Logins, subscriptions and messages of devices that were refused.',
    'reason',
  ),
  mqttDelayed: counter('mqtt_delayed_total', 'Times a device had to wait because it sent faster than its limit.'),
  mqttDropped: counter(
    'mqtt_dropped_total',
    'Messages and sessions of devices that the built-in broker dropped because a bound was reached.',
    'cause',
  ),
  mqttConnections: gauge(
    'mqtt_connections',
    'Devices connected to the built-in broker, or 1 while this process is connected to an outside broker.',
  ),
  mqttKeptMessages: gauge(
    'mqtt_kept_messages',
    'Retained and queued messages that the built-in broker keeps for devices.',
  ),
  mqttKeptBytes: gauge(
    'mqtt_kept_bytes',
    'Estimated memory of the messages that the built-in broker keeps for devices, in bytes.',
  ),
  quarantined: counter(
    'device_events_quarantined_total',
    'Events of devices that were stored as quarantined because a check failed.',
    'reason',
  ),
})

const createDomainGauges = (gauge: CreateGauge) => ({
  lagEvents: gauge(
    'lag_events',
    'Events in the log that are not in the items of the serving generation.',
    'domain',
    'generation',
  ),
  lagSeconds: gauge(
    'lag_seconds',
    'Age of the oldest event that is not in the items of the serving generation, in seconds. 0 if there is none.',
    'domain',
    'generation',
  ),
  servingFollowed: gauge(
    'serving_followed',
    'Whether a processor follows the serving generation (1) or not (0).',
    'domain',
  ),
  servingGeneration: gauge('serving_generation', 'Number of the serving generation.', 'domain'),
  logTrimmed: gauge('log_trimmed', 'Whether events were removed from the log of the domain (1) or not (0).', 'domain'),
  parkedKeys: gauge(
    'parked_keys',
    'Keys whose folding has stopped because one of their events could not be folded.',
    'domain',
  ),
  parkedWaiting: gauge('parked_waiting_events', 'Events of parked keys that are not folded yet.', 'domain'),
  asksDue: gauge('asks_due', 'Calls of outside services that are due and not answered yet.', 'domain'),
  asksWaiting: gauge('asks_waiting', 'Calls of outside services that wait for an operator (tributary asks).', 'domain'),
  parkedOldest: gauge(
    'parked_oldest_timestamp_seconds',
    'When the oldest event that parked a key was recorded, in seconds since 1970. 0 if no key is parked.',
    'domain',
  ),
  verifyDifferences: gauge(
    'verify_differences',
    'Items of the serving generation that differed from the fold of their log in the last verify.',
    'domain',
  ),
  verifyItems: gauge('verify_items', 'Items of the serving generation that the last verify compared.', 'domain'),
  verifiedAt: gauge(
    'verify_timestamp_seconds',
    'When the last verify of the serving generation ended, in seconds since 1970. 0 if it was never verified.',
    'domain',
  ),
  rebuildProgress: gauge(
    'rebuild_progress_ratio',
    'Share of the log that the generation under construction has folded, from 0 to 1.',
    'domain',
    'generation',
  ),
  rebuildRate: gauge(
    'rebuild_events_per_second',
    'Events per second that the generation under construction folds.',
    'domain',
    'generation',
  ),
})

export type Instruments = ReturnType<typeof createInstruments>
