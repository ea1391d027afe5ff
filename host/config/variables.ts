import { readFileSync } from 'node:fs'
import type { Domains } from '../../domains/domains.ts'
import { ownerOf, requireDistinct } from '../../producers/distinct.ts'
import { Mistake, secret, variable, type Parse, type Variable, type Variables } from '../../producers/variables.ts'
import { messageOf } from '../../schemas/fault.ts'

export interface Listen {
  readonly host: string
  readonly port: number
}

const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const
export type SaslMechanism = (typeof SASL_MECHANISMS)[number]
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

const listen: Parse<Listen> = (text) => {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9_.-]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535)
    throw new Mistake('is not HOST:PORT; write for example 127.0.0.1:8080 (port 0 selects a free port)')
  return { host: match[1] ?? match[2] ?? '', port }
}

export interface OutsideBroker {
  readonly url: string
}

const mqtt: Parse<'off' | Listen | OutsideBroker> = (text) => {
  if (text === 'off') return text
  if (!/^mqtts?:/.test(text)) return listen(text)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (
    url === undefined ||
    url.hostname === '' ||
    url.search !== '' ||
    url.hash !== '' ||
    !['', '/'].includes(url.pathname)
  )
    throw new Mistake('is not mqtt://HOST[:PORT] or mqtts://HOST[:PORT]')
  if (url.username !== '' || url.password !== '')
    throw new Mistake(
      'contains a user name or a password; set TRIBUTARY_MQTT_USERNAME and TRIBUTARY_MQTT_PASSWORD instead',
    )
  return { url: `${url.protocol}//${url.host}` }
}

const named =
  (pattern: RegExp): Parse<string | undefined> =>
  (value) => {
    if (pattern.test(value)) return value
    throw new Mistake(`does not match ${String(pattern)}`)
  }

const brokers: Parse<readonly string[] | undefined> = (text) => {
  const list = text.split(',').map((broker) => broker.trim())
  const wrong = list.find((broker) => !/^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]+):\d{1,5}$/.test(broker))
  if (wrong !== undefined)
    throw new Mistake(
      `contains the broker "${wrong}", which is not HOST:PORT; write for example kafka-1:9092,kafka-2:9092`,
    )
  return list
}

const endpoint: Parse<string | undefined> = (text) => {
  if (text === 'aws') return text
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new Mistake('is neither `aws` nor an http(s) URL; write for example http://127.0.0.1:8000')
  }
  return text
}

const origins: Parse<readonly string[]> = (text) => {
  const list = text.split(',').map((origin) => origin.trim())
  const wrong = list.find((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin)
  if (wrong !== undefined)
    throw new Mistake(
      `contains "${wrong}", which is not an origin; write for example https://app.example,http://localhost:5173`,
    )
  return list
}

const origin: Parse<string | undefined> = (text) => {
  const given = URL.canParse(text) ? new URL(text) : undefined
  if (given === undefined || !/^https?:$/.test(given.protocol) || given.origin !== text)
    throw new Mistake(
      'is not an origin; write for example https://tributary.example, without a path or a slash at the end',
    )
  return text
}

const LOOPBACK = /^(127(\.\d{1,3}){3}|localhost|\[::1\])$/

/** Accepts the exact name of an issuer. A slash at the end belongs to the name. Without TLS, others could replace the keys of the issuer. */
const issuer: Parse<string | undefined> = (text) => {
  const given = URL.canParse(text) ? new URL(text) : undefined
  if (given === undefined || given.search !== '' || given.hash !== '' || given.username !== '')
    throw new Mistake('is not the URL of an issuer; write for example https://id.example')
  if (given.protocol !== 'https:' && !(given.protocol === 'http:' && LOOPBACK.test(given.hostname)))
    throw new Mistake('is not an https URL; only an issuer on this machine can use http')
  return text
}

const seriesEndpoint: Parse<string | undefined> = (text) => {
  if (text === 'dynamodb') return text
  try {
    return endpoint(text)
  } catch {
    throw new Mistake('is neither `aws`, nor `dynamodb`, nor an http(s) URL; write for example http://127.0.0.1:8087')
  }
}

const whole =
  (least: number, most: number): Parse<number> =>
  (text) => {
    const value = Number(text)
    if (!/^\d{1,12}$/.test(text) || value < least || value > most)
      throw new Mistake(`is not a whole number from ${least} to ${most}`)
    return value
  }

const limit: Parse<number | null> = (text) => (text === 'off' ? null : whole(1, 1_000_000_000)(text))

const oneOf =
  <T extends string>(choices: readonly T[]): Parse<T> =>
  (text) => {
    const choice = choices.find((each) => each === text)
    if (choice === undefined) throw new Mistake(`is not one of ${choices.join(', ')}`)
    return choice
  }

/** Accepts 32 bytes in hex or base64. */
const keyText: Parse<string | undefined> = (value) => {
  if (/^[0-9a-fA-F]{64}$/.test(value) || /^[A-Za-z0-9+/]{43}=$/.test(value)) return value
  throw new Mistake('is not 32 bytes in base64 or hex; create a key with: openssl rand -base64 32')
}

const onOff: Parse<boolean> = (text) => oneOf(['on', 'off'])(text) === 'on'
const text: Parse<string | undefined> = (value) => value

export const VARIABLES = {
  TRIBUTARY_DOMAINS: variable(text, undefined),
  TRIBUTARY_DATA: variable<string>((path) => path, './data'),
  TRIBUTARY_HTTP: variable(listen, { host: '127.0.0.1', port: 8080 }),
  TRIBUTARY_ADMIN: variable(listen, { host: '127.0.0.1', port: 8081 }),
  TRIBUTARY_ORIGINS: variable(origins, []),
  TRIBUTARY_PUBLIC_URL: variable(origin, undefined),
  TRIBUTARY_MQTT: variable<'off' | Listen | OutsideBroker>(mqtt, { host: '127.0.0.1', port: 1883 }),
  TRIBUTARY_MQTT_USERNAME: variable(text, undefined),
  TRIBUTARY_MQTT_PASSWORD: secret(),
  TRIBUTARY_MQTT_CLIENT_ID: variable(named(/^[A-Za-z0-9_.-]{1,64}$/), undefined),
  TRIBUTARY_MQTT_SHARE: variable(named(/^[A-Za-z0-9_.-]{1,64}$/), undefined),
  TRIBUTARY_KAFKA: variable(brokers, undefined),
  TRIBUTARY_KAFKA_PARTITIONS: variable(whole(1, 1000), 6),
  TRIBUTARY_KAFKA_SSL: variable(onOff, false),
  TRIBUTARY_KAFKA_SASL_MECHANISM: variable(oneOf(SASL_MECHANISMS), 'plain'),
  TRIBUTARY_KAFKA_SASL_USERNAME: variable(text, undefined),
  TRIBUTARY_KAFKA_SASL_PASSWORD: secret(),
  TRIBUTARY_KAFKA_SESSION_MS: variable(whole(6_000, 300_000), 30_000),
  TRIBUTARY_DYNAMODB: variable(endpoint, undefined),
  TRIBUTARY_TIMESTREAM: variable(seriesEndpoint, undefined),
  TRIBUTARY_KEY_ENCRYPTION_KEY: secret(keyText),
  TRIBUTARY_OIDC_ISSUER: variable(issuer, undefined),
  TRIBUTARY_OIDC_AUDIENCE: variable(text, undefined),
  TRIBUTARY_QUOTA_READS: variable(limit, null),
  TRIBUTARY_QUOTA_WRITES: variable(limit, null),
  TRIBUTARY_RATE_LIMIT: variable(limit, 6_000),
  TRIBUTARY_USAGE_SAMPLE: variable(limit, 10),
  TRIBUTARY_LOG_LEVEL: variable(oneOf(LOG_LEVELS), 'info'),
} as const

export type Name = keyof typeof VARIABLES
export const NAMES = Object.keys(VARIABLES) as readonly Name[]

/** The variables of the edges of these domains. */
export const edgeVariables = ({ records }: Domains): Variables =>
  Object.fromEntries(
    records.flatMap(({ edge }) => (edge !== undefined && 'configure' in edge ? Object.entries(edge.variables) : [])),
  )

/** Fault: `bad-config` if two domains, or a domain and the program, declare the same variable. */
export const requireDistinctVariables = ({ records }: Domains): void =>
  requireDistinct('environment variable', [
    ...NAMES.map((value) => ({ value, owner: 'this program' })),
    ...records.flatMap(({ domain, edge }) =>
      edge !== undefined && 'configure' in edge
        ? Object.keys(edge.variables).map((value) => ({ value, owner: ownerOf(domain) }))
        : [],
    ),
  ])

export type Env = Readonly<Record<string, string | undefined>>

/**
 * The text of a variable. Undefined if the variable is unset or empty. A secret can be in a file: `<NAME>_FILE` contains the path of the file.
 * Throws a `Mistake` if both are set, or if the file cannot be read.
 */
export const givenText = (env: Env, name: string, { secret: isSecret }: Variable<unknown>): string | undefined => {
  const direct = env[name]
  const path = isSecret === true ? env[`${name}_FILE`] : undefined
  if (path === undefined || path === '') return direct === '' ? undefined : direct
  if (direct !== undefined && direct !== '') throw new Mistake(`and ${name}_FILE are both set; unset one of them`)
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new Mistake(`cannot be read from ${path} (${name}_FILE): ${messageOf(error)}`)
  }
}
