import type { Domains } from '../../domains/domains.ts'
import type { Variable } from '../../producers/variables.ts'
import { edgeVariables, NAMES, VARIABLES } from './variables.ts'
import type { Name } from './variables.ts'

interface Description {
  /** The heading of docs/configuration.md under which the variable is listed. */
  readonly group: string
  /** The description of the variable, in Markdown. */
  readonly about: string
  /** The behaviour of the program if the variable is not set and has no default value. */
  readonly unset?: string
}

const GENERAL = 'Data, addresses and log'
const DEVICES = 'Devices (MQTT)'
const SERVICES = 'Kafka, DynamoDB and Timestream'
const PEOPLE = 'People and outside services'
const LIMITS = 'Limits'

const DESCRIPTIONS: Readonly<Record<Name, Description>> = {
  TRIBUTARY_DOMAINS: {
    group: GENERAL,
    about:
      'The domains that run, comma separated: names of domains that this package contains, and paths or names of packages that contain another domain.',
    unset: 'all domains of this package',
  },
  TRIBUTARY_DATA: { group: GENERAL, about: 'The folder of the embedded log, items, series and keys.' },
  TRIBUTARY_HTTP: { group: GENERAL, about: 'Address of the public edge. Port 0 selects a free port.' },
  TRIBUTARY_ADMIN: {
    group: GENERAL,
    about:
      'Address of `/livez`, `/readyz`, `/metrics` ([all metrics and alerts](operating.md#metrics-and-alerts)) and `/v1/tables`. Keep it away from the public.',
  },
  TRIBUTARY_ORIGINS: {
    group: GENERAL,
    about:
      'Origins of web pages that may open the WebSocket of [live push](live.md), and that may send requests with the cookie of a [session](authentication.md#sessions), comma separated.',
    unset: 'only the origin of the edge',
  },
  TRIBUTARY_PUBLIC_URL: {
    group: GENERAL,
    about:
      'Origin under which people reach the edge, for example `https://tributary.example`. Set it behind a proxy that ends TLS: it determines the [cookies](authentication.md#sessions), and the addresses to which outside services redirect.',
    unset: 'the edge uses the `Host` of each request',
  },
  TRIBUTARY_LOG_LEVEL: {
    group: GENERAL,
    about: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`. The log is JSON on stderr.',
  },
  TRIBUTARY_MQTT: {
    group: DEVICES,
    about:
      'Address of the built-in broker for [devices](devices.md). `mqtt://HOST` or `mqtts://HOST` joins an outside broker instead. `off`: no broker.',
  },
  TRIBUTARY_MQTT_USERNAME: { group: DEVICES, about: 'User name at the outside broker.', unset: 'none' },
  TRIBUTARY_MQTT_PASSWORD: { group: DEVICES, about: 'Password at the outside broker.', unset: 'none' },
  TRIBUTARY_MQTT_CLIENT_ID: {
    group: DEVICES,
    about: 'Client id at the outside broker, which names the session.',
    unset: 'derived from the name of the machine',
  },
  TRIBUTARY_MQTT_SHARE: {
    group: DEVICES,
    about: 'Name of the shared subscription (MQTT 5) in which several processes divide the messages.',
    unset: 'every process receives every message',
  },
  TRIBUTARY_KAFKA: {
    group: SERVICES,
    about: 'Kafka brokers, `HOST:PORT`, comma separated.',
    unset: 'the embedded log',
  },
  TRIBUTARY_KAFKA_PARTITIONS: {
    group: SERVICES,
    about: 'Number of partitions of the topics that the program creates.',
  },
  TRIBUTARY_KAFKA_SSL: { group: SERVICES, about: '`on`: connect to Kafka with TLS.' },
  TRIBUTARY_KAFKA_SASL_MECHANISM: { group: SERVICES, about: '`plain`, `scram-sha-256` or `scram-sha-512`.' },
  TRIBUTARY_KAFKA_SASL_USERNAME: { group: SERVICES, about: 'User name at Kafka. Set the password too.', unset: 'none' },
  TRIBUTARY_KAFKA_SASL_PASSWORD: { group: SERVICES, about: 'Password at Kafka.', unset: 'none' },
  TRIBUTARY_KAFKA_SESSION_MS: {
    group: SERVICES,
    about:
      'Session timeout of the consumer group, in milliseconds. A processor that is silent for longer loses its partitions.',
  },
  TRIBUTARY_DYNAMODB: {
    group: SERVICES,
    about: 'Endpoint URL of DynamoDB, or `aws`: the AWS SDK finds region and credentials.',
    unset: 'the embedded store',
  },
  TRIBUTARY_TIMESTREAM: {
    group: SERVICES,
    about:
      'Endpoint URL of Timestream or of [`timestream-local`](../timestream-local/README.md), or `aws`. `dynamodb`: readings are rows in DynamoDB and expire after 30 days.',
    unset: 'the embedded series; `dynamodb` if both Kafka and DynamoDB are set',
  },
  TRIBUTARY_KEY_ENCRYPTION_KEY: {
    group: PEOPLE,
    about:
      '32 bytes in base64 or hex. Encrypts the keys of people that DynamoDB stores ([forgetting a person](operating.md#forgetting-a-person)).',
    unset: 'DynamoDB stores the keys without encryption',
  },
  TRIBUTARY_OIDC_ISSUER: {
    group: PEOPLE,
    about:
      'OIDC issuer whose JWTs authenticate people, exactly as its JWTs name it ([authentication](authentication.md#jwts-of-an-oidc-issuer)). Set the audience too.',
    unset: 'the edge accepts no JWTs',
  },
  TRIBUTARY_OIDC_AUDIENCE: { group: PEOPLE, about: 'Audience (`aud`) that a JWT must have.', unset: 'none' },
  TRIBUTARY_QUOTA_READS: { group: LIMITS, about: 'Read requests per person and UTC day. `off`: no limit.' },
  TRIBUTARY_QUOTA_WRITES: { group: LIMITS, about: 'Writing requests per person and UTC day. `off`: no limit.' },
  TRIBUTARY_RATE_LIMIT: {
    group: LIMITS,
    about:
      'Requests per minute and token, or per person who signs in without a token. Beyond it the answer is `429` with `Retry-After`. `off`: no limit.',
  },
  TRIBUTARY_USAGE_SAMPLE: {
    group: LIMITS,
    about:
      'The server counts one of N requests for usage and quotas, and counts it as N requests. `off`: it counts none.',
  },
}

/** A variable as docs/configuration.md lists it. */
export interface DescribedVariable extends Description {
  readonly name: string
  readonly variable: Variable<unknown>
}

/** Every variable of the program, then every variable of the edges of these domains. */
export const describedVariables = (domains: Domains): readonly DescribedVariable[] => [
  ...NAMES.map((name) => ({ ...DESCRIPTIONS[name], name, variable: VARIABLES[name] })),
  ...Object.entries(edgeVariables(domains)).map(([name, variable]) => ({
    group: PEOPLE,
    about: variable.about ?? '',
    ...(variable.unset !== undefined && { unset: variable.unset }),
    name,
    variable,
  })),
]

/** The default, written as a user sets it: for example `127.0.0.1:8080`, `on` or `off`. Undefined if the variable has no default value. */
export const defaultOf = ({ fallback }: Variable<unknown>): string | undefined => {
  if (fallback === undefined || (Array.isArray(fallback) && fallback.length === 0)) return undefined
  if (fallback === null) return 'off'
  if (typeof fallback === 'object' && 'host' in fallback && 'port' in fallback)
    return `${String(fallback.host)}:${String(fallback.port)}`
  if (typeof fallback === 'boolean') return fallback ? 'on' : 'off'
  return String(fallback)
}
