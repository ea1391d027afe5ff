import { readFileSync } from 'node:fs'
import { messageOf } from '../schemas/fault.ts'

export interface Listen {
  readonly host: string
  readonly port: number
}

const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const
export type SaslMechanism = (typeof SASL_MECHANISMS)[number]
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

type Parse<T> = (text: string) => T
export interface Variable<T> {
  readonly parse: Parse<T>
  readonly fallback: T
  readonly secret?: true
}
/** A mistake in one value: what is wrong with it, and what it should look like. */
export class Mistake extends Error {}

const variable = <T>(parse: Parse<T>, fallback: T): Variable<T> => ({ parse, fallback })
const secret = (parse: Parse<string | undefined> = (text) => text): Variable<string | undefined> => ({ parse, fallback: undefined, secret: true })

const listen: Parse<Listen> = (text) => {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9_.-]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) throw new Mistake('is not HOST:PORT; write for example 127.0.0.1:8080 (port 0 takes a free one)')
  return { host: match[1] ?? match[2] ?? '', port }
}

export interface OutsideBroker {
  readonly url: string
}

const mqtt: Parse<'off' | Listen | OutsideBroker> = (text) => {
  if (text === 'off') return text
  if (!/^mqtts?:/.test(text)) return listen(text)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || url.hostname === '' || url.search !== '' || url.hash !== '' || !['', '/'].includes(url.pathname)) throw new Mistake('is not mqtt://HOST[:PORT] or mqtts://HOST[:PORT]')
  if (url.username !== '' || url.password !== '') throw new Mistake('holds a name or a password; put them into TRIBUTARY_MQTT_USERNAME and TRIBUTARY_MQTT_PASSWORD')
  return { url: `${url.protocol}//${url.host}` }
}

const named = (pattern: RegExp): Parse<string | undefined> => (value) => {
  if (pattern.test(value)) return value
  throw new Mistake(`does not match ${String(pattern)}`)
}

const brokers: Parse<readonly string[] | undefined> = (text) => {
  const list = text.split(',').map((broker) => broker.trim())
  const wrong = list.find((broker) => !/^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]+):\d{1,5}$/.test(broker))
  if (wrong !== undefined) throw new Mistake(`names a broker "${wrong}" that is not HOST:PORT; write for example kafka-1:9092,kafka-2:9092`)
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
  if (wrong !== undefined) throw new Mistake(`names an origin "${wrong}" that is none; write for example https://bar.example,http://localhost:5173`)
  return list
}

const seriesEndpoint: Parse<string | undefined> = (text) => {
  if (text === 'dynamodb') return text
  try {
    return endpoint(text)
  } catch {
    throw new Mistake('is none of `aws`, `dynamodb` and an http(s) URL; write for example http://127.0.0.1:8086')
  }
}

const url: Parse<string | undefined> = (text) => {
  const given = URL.canParse(text) ? new URL(text) : undefined
  if (given === undefined || !/^https?:$/.test(given.protocol) || given.search !== '' || given.hash !== '' || given.username !== '') throw new Mistake('is not an http(s) URL without query; write for example https://toncenter.com')
  return given.href.replace(/\/$/, '')
}

const whole = (least: number, most: number): Parse<number> => (text) => {
  const value = Number(text)
  if (!/^\d{1,12}$/.test(text) || value < least || value > most) throw new Mistake(`is not a whole number from ${least} to ${most}`)
  return value
}

const limit: Parse<number | null> = (text) => (text === 'off' ? null : whole(1, 1_000_000_000)(text))

const oneOf = <T extends string>(choices: readonly T[]): Parse<T> => (text) => {
  const choice = choices.find((each) => each === text)
  if (choice === undefined) throw new Mistake(`is none of ${choices.join(', ')}`)
  return choice
}

/** Thirty-two bytes. */
const keyText: Parse<string | undefined> = (value) => {
  if (/^[0-9a-fA-F]{64}$/.test(value) || /^[A-Za-z0-9+/]{43}=$/.test(value)) return value
  throw new Mistake('is not 32 bytes in base64 or hex; make one with: openssl rand -base64 32')
}

/** The value itself is not told: it is a secret. */
const formed = (pattern: RegExp, mistake: string): Parse<string | undefined> => (value) => {
  if (pattern.test(value)) return value
  throw new Mistake(mistake)
}

const onOff: Parse<boolean> = (text) => oneOf(['on', 'off'])(text) === 'on'
const text: Parse<string | undefined> = (value) => value

export const VARIABLES = {
  TRIBUTARY_DATA: variable<string>((path) => path, './data'),
  TRIBUTARY_HTTP: variable(listen, { host: '127.0.0.1', port: 8080 }),
  TRIBUTARY_ADMIN: variable(listen, { host: '127.0.0.1', port: 8081 }),
  TRIBUTARY_ORIGINS: variable(origins, []),
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
  TRIBUTARY_TELEGRAM_BOT_TOKEN: secret(formed(/^\d{1,20}:[A-Za-z0-9_-]{20,100}$/, 'is not a bot\'s token as BotFather tells it (123456789:AA…)')),
  TRIBUTARY_TELEGRAM_WEBHOOK_SECRET: secret(formed(/^[A-Za-z0-9_-]{16,256}$/, 'is not 16 to 256 letters, digits, _ and -; make one with: openssl rand -hex 32')),
  TRIBUTARY_TON_API: variable(url, undefined),
  TRIBUTARY_TON_API_KEY: secret(),
  TRIBUTARY_QUOTA_READS: variable(limit, null),
  TRIBUTARY_QUOTA_WRITES: variable(limit, null),
  TRIBUTARY_RATE_LIMIT: variable(limit, 6_000),
  TRIBUTARY_USAGE_SAMPLE: variable(limit, 10),
  TRIBUTARY_LOG_LEVEL: variable(oneOf(LOG_LEVELS), 'info'),
} as const

export type Name = keyof typeof VARIABLES
export type Env = Readonly<Record<string, string | undefined>>
export const NAMES = Object.keys(VARIABLES) as readonly Name[]

export const isSecret = (name: Name): boolean => 'secret' in VARIABLES[name]

/** A secret may lie in a file instead: `<NAME>_FILE` holds its path. */
export const givenText = (env: Env, name: Name): string | undefined => {
  const direct = env[name]
  const path = isSecret(name) ? env[`${name}_FILE`] : undefined
  if (path === undefined || path === '') return direct === '' ? undefined : direct
  if (direct !== undefined && direct !== '') throw new Mistake(`is set, and so is ${name}_FILE; keep one of them`)
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new Mistake(`should come from ${path} (${name}_FILE), which cannot be read: ${messageOf(error)}`)
  }
}
