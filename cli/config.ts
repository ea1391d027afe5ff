import { resolve } from 'node:path'
import { Fault } from '../schemas/fault.ts'
import { unknownNames } from './misspelt.ts'
import { givenText, isSecret, Mistake, NAMES, VARIABLES } from './variables.ts'
import type { Env, Listen, LogLevel, Name, SaslMechanism, Variable } from './variables.ts'

export interface KafkaConfig {
  readonly brokers: readonly string[]
  readonly partitions: number
  readonly ssl: boolean
  /** A processor that is silent for so long loses its partitions. */
  readonly sessionMs: number
  readonly sasl?: { readonly mechanism: SaslMechanism; readonly username: string; readonly password: string }
}

type SeriesConfig = { readonly kind: 'embedded' } | { readonly kind: 'timestream'; readonly endpoint?: string } | { readonly kind: 'dynamodb' }

/** The broker of others that devices speak to. */
export interface JoinConfig {
  readonly url: string
  readonly username?: string
  readonly password?: string
  /** Unset: by the name of this machine. */
  readonly clientId?: string
  readonly share?: string
}

export interface Config {
  readonly data: string
  readonly http: Listen
  readonly admin: Listen
  /** Whose pages may watch a bar, beside our own. */
  readonly origins: readonly string[]
  /** `asked`: the address was set, so that it must be had. */
  readonly mqtt: 'off' | { readonly listen: Listen; readonly asked: boolean } | { readonly join: JoinConfig }
  /** Unset: the embedded log. */
  readonly kafka?: KafkaConfig
  /** Unset: the embedded store. `endpoint` absent: AWS, by the SDK's own region and credentials. */
  readonly dynamodb?: { readonly endpoint?: string }
  /** Where points go. */
  readonly series: SeriesConfig
  /** Wraps the data keys that lie in DynamoDB; unset: they lie there as they are. */
  readonly keyEncryptionKey?: string
  /** The bot token and the webhook secret. Unset: the Telegram routes answer `telegram-not-configured`. */
  readonly telegram: { readonly botToken?: string; readonly webhookSecret?: string }
  /** Who is asked about TON transactions; unset: nobody. */
  readonly ton?: { readonly api: string; readonly key?: string }
  /** Requests a person may make in a UTC day; `null`: as many as they like. */
  readonly quota: { readonly reads: number | null; readonly writes: number | null }
  /** Requests a token may make in a minute; `null`: as many as it likes. */
  readonly rateLimit: number | null
  /** One request in so many is counted, with that weight; `null`: none is. */
  readonly usageSample: number | null
  readonly logLevel: LogLevel
}

/** Read once, every mistake told at once. */
export const readConfig = (env: Env): Config => {
  const mistakes: string[] = unknownNames(env)
  const value = <N extends Name>(name: N): ReturnType<(typeof VARIABLES)[N]['parse']> => {
    const { parse, fallback } = VARIABLES[name] as Variable<ReturnType<(typeof VARIABLES)[N]['parse']>>
    try {
      const given = givenText(env, name)
      return given === undefined ? fallback : parse(given)
    } catch (error) {
      if (!(error instanceof Mistake)) throw error
      mistakes.push(`${name} ${error.message}.`)
      return fallback
    }
  }
  const config = assemble(value, mistakes)
  if (mistakes.length > 0) {
    throw new Fault('bad-config', `The configuration has ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}:\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`)
  }
  return deepFreeze(config)
}

type ValueOf = <N extends Name>(name: N) => ReturnType<(typeof VARIABLES)[N]['parse']>

const mqttOf = (value: ValueOf, mistakes: string[]): Config['mqtt'] => {
  const chosen = value('TRIBUTARY_MQTT')
  const [username, password, clientId, share] = [value('TRIBUTARY_MQTT_USERNAME'), value('TRIBUTARY_MQTT_PASSWORD'), value('TRIBUTARY_MQTT_CLIENT_ID'), value('TRIBUTARY_MQTT_SHARE')]
  const more = { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }), ...(clientId === undefined ? {} : { clientId }), ...(share === undefined ? {} : { share }) }
  if (chosen !== 'off' && 'url' in chosen) return { join: { ...chosen, ...more } }
  if (Object.keys(more).length > 0) mistakes.push('TRIBUTARY_MQTT_USERNAME, _PASSWORD, _CLIENT_ID and _SHARE are for a broker of others; set TRIBUTARY_MQTT to its URL, or unset them.')
  return chosen === 'off' ? 'off' : { listen: chosen, asked: chosen !== VARIABLES.TRIBUTARY_MQTT.fallback }
}

const tonOf = (value: ValueOf, mistakes: string[]): Pick<Config, 'ton'> => {
  const [api, key] = [value('TRIBUTARY_TON_API'), value('TRIBUTARY_TON_API_KEY')]
  if (api !== undefined) return { ton: { api, ...(key === undefined ? {} : { key }) } }
  if (key !== undefined) mistakes.push('TRIBUTARY_TON_API_KEY is set, but TRIBUTARY_TON_API is not; set it to the URL that the key is for, or unset the key.')
  return {}
}

const assemble = (value: ValueOf, mistakes: string[]): Config => {
  const list = value('TRIBUTARY_KAFKA')
  const dynamodb = value('TRIBUTARY_DYNAMODB')
  const timestream = value('TRIBUTARY_TIMESTREAM')
  if (timestream === 'dynamodb' && dynamodb === undefined) mistakes.push('TRIBUTARY_TIMESTREAM=dynamodb keeps readings in DynamoDB, but TRIBUTARY_DYNAMODB is not set; set it, or leave TRIBUTARY_TIMESTREAM unset.')
  const [botToken, webhookSecret] = [value('TRIBUTARY_TELEGRAM_BOT_TOKEN'), value('TRIBUTARY_TELEGRAM_WEBHOOK_SECRET')]
  const keyEncryptionKey = value('TRIBUTARY_KEY_ENCRYPTION_KEY')
  const username = value('TRIBUTARY_KAFKA_SASL_USERNAME')
  const password = value('TRIBUTARY_KAFKA_SASL_PASSWORD')
  if ((username === undefined) !== (password === undefined)) {
    mistakes.push('TRIBUTARY_KAFKA_SASL_USERNAME and TRIBUTARY_KAFKA_SASL_PASSWORD go together; set both or neither.')
  }
  const sasl = username === undefined || password === undefined ? {} : { sasl: { mechanism: value('TRIBUTARY_KAFKA_SASL_MECHANISM'), username, password } }
  const kafka = { partitions: value('TRIBUTARY_KAFKA_PARTITIONS'), ssl: value('TRIBUTARY_KAFKA_SSL'), sessionMs: value('TRIBUTARY_KAFKA_SESSION_MS'), ...sasl }
  return {
    data: resolve(value('TRIBUTARY_DATA')),
    http: value('TRIBUTARY_HTTP'),
    admin: value('TRIBUTARY_ADMIN'),
    origins: value('TRIBUTARY_ORIGINS'),
    mqtt: mqttOf(value, mistakes),
    ...(list === undefined ? {} : { kafka: { brokers: list, ...kafka } }),
    ...(dynamodb === undefined ? {} : { dynamodb: dynamodb === 'aws' ? {} : { endpoint: dynamodb } }),
    series: seriesOf(timestream, list !== undefined && dynamodb !== undefined),
    ...(keyEncryptionKey === undefined ? {} : { keyEncryptionKey }),
    telegram: { ...(botToken === undefined ? {} : { botToken }), ...(webhookSecret === undefined ? {} : { webhookSecret }) },
    ...tonOf(value, mistakes),
    quota: { reads: value('TRIBUTARY_QUOTA_READS'), writes: value('TRIBUTARY_QUOTA_WRITES') },
    rateLimit: value('TRIBUTARY_RATE_LIMIT'),
    usageSample: value('TRIBUTARY_USAGE_SAMPLE'),
    logLevel: value('TRIBUTARY_LOG_LEVEL'),
  }
}

/** Unset: embedded; where neither log nor items are, several processes run, and what they share is the tables. */
const seriesOf = (said: string | undefined, isServices: boolean): SeriesConfig => {
  if (said === undefined) return { kind: isServices ? 'dynamodb' : 'embedded' }
  if (said === 'dynamodb') return { kind: 'dynamodb' }
  return { kind: 'timestream', ...(said !== 'aws' && { endpoint: said }) }
}

const EVERYWHERE = ['0.0.0.0', '::']

/** Only a process that has both an edge and an admin port can have them in each other's way. */
export const demandTwoPorts = ({ http, admin }: Pick<Config, 'http' | 'admin'>): void => {
  if (http.port === 0 || http.port !== admin.port) return
  if (http.host !== admin.host && ![http.host, admin.host].some((host) => EVERYWHERE.includes(host))) return
  throw new Fault('bad-config', `TRIBUTARY_HTTP (${http.host}:${http.port}) and TRIBUTARY_ADMIN (${admin.host}:${admin.port}) name the same port: give each its own.`)
}

/** What is set and what is not, as lines `NAME=value`; secrets hidden. */
export const printConfig = (env: Env): string =>
  NAMES.map((name) => {
    const given = givenText(env, name)
    if (given === undefined) return `# ${name} is not set${describeFallback(name)}`
    return `${name}=${isSecret(name) ? '(hidden)' : given}`
  }).join('\n')

const describeFallback = (name: Name): string => {
  const { fallback } = VARIABLES[name]
  if (fallback === undefined) return ''
  if (fallback === null) return '; default off'
  if (typeof fallback === 'object' && 'host' in fallback) return `; default ${fallback.host}:${fallback.port}`
  if (typeof fallback === 'boolean') return `; default ${fallback ? 'on' : 'off'}`
  return `; default ${String(fallback)}`
}

const deepFreeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) deepFreeze(member)
  return Object.freeze(value)
}
