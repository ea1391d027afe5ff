import { resolve } from 'node:path'
import { Fault } from '../../schemas/fault.ts'
import type { Domains } from '../../domains/domains.ts'
import { OUR_DOMAINS } from '../../domains/list.ts'
import type { ConfiguredEdge } from '../../domains/record.ts'
import { Mistake, type Variable, type Variables } from '../../producers/variables.ts'
import { defaultOf } from './descriptions.ts'
import { unknownNames } from './misspelt.ts'
import { edgeVariables, givenText, VARIABLES } from './variables.ts'
import type { Env, Listen, LogLevel, Name, SaslMechanism } from './variables.ts'

export interface KafkaConfig {
  readonly brokers: readonly string[]
  readonly partitions: number
  readonly ssl: boolean
  /** Milliseconds. A processor that sends no heartbeat for this time loses its partitions. */
  readonly sessionMs: number
  readonly sasl?: { readonly mechanism: SaslMechanism; readonly username: string; readonly password: string }
}

type SeriesConfig =
  | { readonly kind: 'embedded' }
  | { readonly kind: 'timestream'; readonly endpoint?: string }
  | { readonly kind: 'dynamodb' }

/** An outside MQTT broker to which devices connect. */
export interface JoinConfig {
  readonly url: string
  readonly username?: string
  readonly password?: string
  /** Default: derived from the name of this machine. */
  readonly clientId?: string
  /** The name of the shared subscription. Absent: every process receives every message. */
  readonly share?: string
}

export interface OidcConfig {
  readonly issuer: string
  readonly audience: string
}

export interface Config {
  readonly data: string
  readonly http: Listen
  readonly admin: Listen
  /** Origins of web pages that may open the WebSocket and use sessions, in addition to the edge's own origin. */
  readonly origins: readonly string[]
  /** The origin under which people reach the edge. */
  readonly publicUrl?: string
  /** The OIDC issuer whose JWTs authenticate people. */
  readonly oidc?: OidcConfig
  /** `isExplicit`: the address was configured, so the program does not start without it. */
  readonly mqtt: 'off' | { readonly listen: Listen; readonly isExplicit: boolean } | { readonly join: JoinConfig }
  /** Absent: the embedded log. */
  readonly kafka?: KafkaConfig
  /** Absent: the embedded store. Without `endpoint`: AWS, with the region and the credentials that the SDK finds. */
  readonly dynamodb?: { readonly endpoint?: string }
  /** The store of the points. */
  readonly series: SeriesConfig
  /** Encrypts the keys of people that DynamoDB stores. Absent: DynamoDB stores them without encryption. */
  readonly keyEncryptionKey?: string
  /** The domains that run. */
  readonly domains: Domains
  /** The edges that use outside services, by the name of the domain. */
  readonly edges: Readonly<Record<string, ConfiguredEdge>>
  /** Requests per person and UTC day. Null: no limit. */
  readonly quota: { readonly reads: number | null; readonly writes: number | null }
  /** Requests per minute and token, or per person who signs in without a token. Null: no limit. */
  readonly rateLimit: number | null
  /** With N, the server counts one of N requests, and counts it as N requests. Null: the server counts no request. */
  readonly usageSample: number | null
  readonly logLevel: LogLevel
}

/**
 * Reads the configuration from the environment. If a domain of this package is not selected, its variables have no effect. Fault: `bad-config`,
 * with all mistakes at once.
 */
export const readConfig = (env: Env, domains: Domains = OUR_DOMAINS): Config => {
  const mistakes: string[] = unknownNames(env, { ...edgeVariables(OUR_DOMAINS), ...variablesOf(domains) })
  const read = <T>(name: string, variable: Variable<T>): T => {
    try {
      const given = givenText(env, name, variable)
      return given === undefined ? variable.fallback : variable.parse(given)
    } catch (error) {
      if (!(error instanceof Mistake)) throw error
      mistakes.push(`${name} ${error.message}.`)
      return variable.fallback
    }
  }
  const value: ValueOf = (name) =>
    read(name, VARIABLES[name] as Variable<ReturnType<(typeof VARIABLES)[typeof name]['parse']>>)
  const config = assemble(value, mistakes)
  const edges = Object.fromEntries(
    domains.records.flatMap(({ domain, edge }) => {
      if (edge === undefined || !('configure' in edge)) return []
      const values = Object.entries(edge.variables).map(([name, variable]) => [name, read(name, variable)] as const)
      return [[domain.name, edge.configure(Object.fromEntries(values), mistakes)] as const]
    }),
  )
  if (mistakes.length > 0) {
    throw new Fault(
      'bad-config',
      `The configuration has ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}:\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`,
    )
  }
  return Object.freeze({ ...deepFreeze(config), edges, domains })
}

type ValueOf = <N extends Name>(name: N) => ReturnType<(typeof VARIABLES)[N]['parse']>

const mqttOf = (value: ValueOf, mistakes: string[]): Config['mqtt'] => {
  const chosen = value('TRIBUTARY_MQTT')
  const [username, password, clientId, share] = [
    value('TRIBUTARY_MQTT_USERNAME'),
    value('TRIBUTARY_MQTT_PASSWORD'),
    value('TRIBUTARY_MQTT_CLIENT_ID'),
    value('TRIBUTARY_MQTT_SHARE'),
  ]
  const more = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(clientId === undefined ? {} : { clientId }),
    ...(share === undefined ? {} : { share }),
  }
  if (chosen !== 'off' && 'url' in chosen) return { join: { ...chosen, ...more } }
  if (Object.keys(more).length > 0)
    mistakes.push(
      'TRIBUTARY_MQTT_USERNAME, _PASSWORD, _CLIENT_ID and _SHARE apply to an outside broker only; set TRIBUTARY_MQTT to its URL, or unset them.',
    )
  return chosen === 'off' ? 'off' : { listen: chosen, isExplicit: chosen !== VARIABLES.TRIBUTARY_MQTT.fallback }
}

const oidcOf = (value: ValueOf, mistakes: string[]): Pick<Config, 'oidc'> => {
  const [issuer, audience] = [value('TRIBUTARY_OIDC_ISSUER'), value('TRIBUTARY_OIDC_AUDIENCE')]
  if ((issuer === undefined) !== (audience === undefined))
    mistakes.push('TRIBUTARY_OIDC_ISSUER and TRIBUTARY_OIDC_AUDIENCE go together; set both or neither.')
  return issuer === undefined || audience === undefined ? {} : { oidc: { issuer, audience } }
}

const assemble = (value: ValueOf, mistakes: string[]): Omit<Config, 'domains' | 'edges'> => {
  const list = value('TRIBUTARY_KAFKA')
  const dynamodb = value('TRIBUTARY_DYNAMODB')
  const timestream = value('TRIBUTARY_TIMESTREAM')
  if (timestream === 'dynamodb' && dynamodb === undefined)
    mistakes.push(
      'TRIBUTARY_TIMESTREAM=dynamodb stores readings in DynamoDB, but TRIBUTARY_DYNAMODB is not set; set it, or leave TRIBUTARY_TIMESTREAM unset.',
    )
  const keyEncryptionKey = value('TRIBUTARY_KEY_ENCRYPTION_KEY')
  const publicUrl = value('TRIBUTARY_PUBLIC_URL')
  const username = value('TRIBUTARY_KAFKA_SASL_USERNAME')
  const password = value('TRIBUTARY_KAFKA_SASL_PASSWORD')
  if ((username === undefined) !== (password === undefined)) {
    mistakes.push('TRIBUTARY_KAFKA_SASL_USERNAME and TRIBUTARY_KAFKA_SASL_PASSWORD go together; set both or neither.')
  }
  const sasl =
    username === undefined || password === undefined
      ? {}
      : { sasl: { mechanism: value('TRIBUTARY_KAFKA_SASL_MECHANISM'), username, password } }
  const kafka = {
    partitions: value('TRIBUTARY_KAFKA_PARTITIONS'),
    ssl: value('TRIBUTARY_KAFKA_SSL'),
    sessionMs: value('TRIBUTARY_KAFKA_SESSION_MS'),
    ...sasl,
  }
  return {
    data: resolve(value('TRIBUTARY_DATA')),
    http: value('TRIBUTARY_HTTP'),
    admin: value('TRIBUTARY_ADMIN'),
    origins: value('TRIBUTARY_ORIGINS'),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...oidcOf(value, mistakes),
    mqtt: mqttOf(value, mistakes),
    ...(list === undefined ? {} : { kafka: { brokers: list, ...kafka } }),
    ...(dynamodb === undefined ? {} : { dynamodb: dynamodb === 'aws' ? {} : { endpoint: dynamodb } }),
    series: seriesOf(timestream, list !== undefined && dynamodb !== undefined),
    ...(keyEncryptionKey === undefined ? {} : { keyEncryptionKey }),
    quota: { reads: value('TRIBUTARY_QUOTA_READS'), writes: value('TRIBUTARY_QUOTA_WRITES') },
    rateLimit: value('TRIBUTARY_RATE_LIMIT'),
    usageSample: value('TRIBUTARY_USAGE_SAMPLE'),
    logLevel: value('TRIBUTARY_LOG_LEVEL'),
  }
}

/**
 * Returns the store of the points. `isServices`: true if Kafka stores the log and DynamoDB stores the items. Then several processes can run, so
 * the default is DynamoDB, which all of them can use. Otherwise the default is the embedded store.
 */
const seriesOf = (chosen: string | undefined, isServices: boolean): SeriesConfig => {
  if (chosen === undefined) return { kind: isServices ? 'dynamodb' : 'embedded' }
  if (chosen === 'dynamodb') return { kind: 'dynamodb' }
  return { kind: 'timestream', ...(chosen !== 'aws' && { endpoint: chosen }) }
}

const EVERYWHERE = ['0.0.0.0', '::']

/** Fault: `bad-config` if the edge and the admin server would listen on the same port. */
export const requireTwoPorts = ({ http, admin }: Pick<Config, 'http' | 'admin'>): void => {
  if (http.port === 0 || http.port !== admin.port) return
  if (http.host !== admin.host && ![http.host, admin.host].some((host) => EVERYWHERE.includes(host))) return
  throw new Fault(
    'bad-config',
    `TRIBUTARY_HTTP (${http.host}:${http.port}) and TRIBUTARY_ADMIN (${admin.host}:${admin.port}) name the same port. Set a different port for each.`,
  )
}

/** Every variable of the program and of the edges of its domains. */
const variablesOf = (domains: Domains): Variables => ({ ...VARIABLES, ...edgeVariables(domains) })

/** The variables as lines `NAME=value`. Secrets are hidden, and unset variables are comments with their default. */
export const printConfig = (env: Env, domains: Domains = OUR_DOMAINS): string =>
  Object.entries(variablesOf(domains))
    .map(([name, variable]) => {
      const given = givenText(env, name, variable)
      const fallback = defaultOf(variable)
      if (given === undefined) return `# ${name} is not set${fallback === undefined ? '' : `; default ${fallback}`}`
      return `${name}=${variable.secret === true ? '(hidden)' : given}`
    })
    .join('\n')

const deepFreeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) deepFreeze(member)
  return Object.freeze(value)
}
