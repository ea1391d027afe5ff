import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Fault } from '../schemas/fault.ts'

export interface Listen {
  readonly host: string
  readonly port: number
}

export interface KafkaConfig {
  readonly brokers: readonly string[]
  readonly partitions: number
  readonly ssl: boolean
  /** A processor that is silent for so long loses its partitions. */
  readonly sessionMs: number
  readonly sasl?: { readonly mechanism: SaslMechanism; readonly username: string; readonly password: string }
}

export interface Config {
  readonly data: string
  readonly http: Listen
  readonly admin: Listen
  /** Unset: the embedded log. */
  readonly kafka?: KafkaConfig
  /** Unset: the embedded store. `endpoint` absent: AWS, by the SDK's own region and credentials. */
  readonly dynamodb?: { readonly endpoint?: string }
  /** Requests a person may make in a UTC day; `null`: as many as they like. */
  readonly quota: { readonly reads: number | null; readonly writes: number | null }
  /** Requests a token may make in a minute; `null`: as many as it likes. */
  readonly rateLimit: number | null
  /** One request in so many is counted, with that weight; `null`: none is. */
  readonly usageSample: number | null
  readonly logLevel: LogLevel
}

const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const
type SaslMechanism = (typeof SASL_MECHANISMS)[number]
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
type LogLevel = (typeof LOG_LEVELS)[number]

type Parse<T> = (text: string) => T
interface Variable<T> {
  readonly parse: Parse<T>
  readonly fallback: T
  readonly secret?: true
}
/** A mistake in one value: what is wrong with it, and what it should look like. */
class Mistake extends Error {}

const variable = <T>(parse: Parse<T>, fallback: T): Variable<T> => ({ parse, fallback })
const secret = (): Variable<string | undefined> => ({ parse: (text) => text, fallback: undefined, secret: true })

const listen: Parse<Listen> = (text) => {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9_.-]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) throw new Mistake('is not HOST:PORT; write for example 127.0.0.1:8080 (port 0 takes a free one)')
  return { host: match[1] ?? match[2] ?? '', port }
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

const onOff: Parse<boolean> = (text) => oneOf(['on', 'off'])(text) === 'on'
const text: Parse<string | undefined> = (value) => value

const VARIABLES = {
  TRIBUTARY_DATA: variable<string>((path) => path, './data'),
  TRIBUTARY_HTTP: variable(listen, { host: '127.0.0.1', port: 8080 }),
  TRIBUTARY_ADMIN: variable(listen, { host: '127.0.0.1', port: 8081 }),
  TRIBUTARY_KAFKA: variable(brokers, undefined),
  TRIBUTARY_KAFKA_PARTITIONS: variable(whole(1, 1000), 6),
  TRIBUTARY_KAFKA_SSL: variable(onOff, false),
  TRIBUTARY_KAFKA_SASL_MECHANISM: variable(oneOf(SASL_MECHANISMS), 'plain'),
  TRIBUTARY_KAFKA_SASL_USERNAME: variable(text, undefined),
  TRIBUTARY_KAFKA_SASL_PASSWORD: secret(),
  TRIBUTARY_KAFKA_SESSION_MS: variable(whole(6_000, 300_000), 30_000),
  TRIBUTARY_DYNAMODB: variable(endpoint, undefined),
  TRIBUTARY_QUOTA_READS: variable(limit, null),
  TRIBUTARY_QUOTA_WRITES: variable(limit, null),
  TRIBUTARY_RATE_LIMIT: variable(limit, null),
  TRIBUTARY_USAGE_SAMPLE: variable(limit, 10),
  TRIBUTARY_LOG_LEVEL: variable(oneOf(LOG_LEVELS), 'info'),
} as const

type Name = keyof typeof VARIABLES
type Env = Readonly<Record<string, string | undefined>>
const NAMES = Object.keys(VARIABLES) as readonly Name[]

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

const assemble = (value: <N extends Name>(name: N) => ReturnType<(typeof VARIABLES)[N]['parse']>, mistakes: string[]): Config => {
  const list = value('TRIBUTARY_KAFKA')
  const dynamodb = value('TRIBUTARY_DYNAMODB')
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
    ...(list === undefined ? {} : { kafka: { brokers: list, ...kafka } }),
    ...(dynamodb === undefined ? {} : { dynamodb: dynamodb === 'aws' ? {} : { endpoint: dynamodb } }),
    quota: { reads: value('TRIBUTARY_QUOTA_READS'), writes: value('TRIBUTARY_QUOTA_WRITES') },
    rateLimit: value('TRIBUTARY_RATE_LIMIT'),
    usageSample: value('TRIBUTARY_USAGE_SAMPLE'),
    logLevel: value('TRIBUTARY_LOG_LEVEL'),
  }
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

const isSecret = (name: Name): boolean => 'secret' in VARIABLES[name]

/** A secret may lie in a file instead: `<NAME>_FILE` holds its path. */
const givenText = (env: Env, name: Name): string | undefined => {
  const direct = env[name]
  const path = isSecret(name) ? env[`${name}_FILE`] : undefined
  if (path === undefined || path === '') return direct === '' ? undefined : direct
  if (direct !== undefined && direct !== '') throw new Mistake(`is set, and so is ${name}_FILE; keep one of them`)
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new Mistake(`should come from ${path} (${name}_FILE), which cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const LATER = ['MQTT', 'TIMESTREAM', 'SCHEMA_REGISTRY', 'OIDC_ISSUER', 'STRAVA_', 'TELEGRAM_'].map((name) => `TRIBUTARY_${name}`)

/** Of docker-compose.yml and of the tests: not ours to read, and no mistake. */
const OTHERS = /^TRIBUTARY_(KAFKA_PORT|DYNAMODB_PORT|REQUIRE_\w+|TEST_\w+)$/

const unknownNames = (env: Env): string[] => {
  const known = new Set<string>([...NAMES, ...NAMES.filter(isSecret).map((name) => `${name}_FILE`)])
  return Object.keys(env)
    .filter((name) => name.startsWith('TRIBUTARY_') && !known.has(name) && !OTHERS.test(name))
    .filter((name) => !(name === 'TRIBUTARY_MQTT' && env[name] === 'off'))
    .sort()
    .map((name) => LATER.some((prefix) => name.startsWith(prefix))
      ? `${name} configures a part that this version does not have; unset it.`
      : `${name} is not a variable of this program${nearest(name)}; unset it or mend its name.`)
}

const nearest = (name: string): string => {
  const scored = NAMES.map((known) => ({ known, distance: editDistance(name, known) })).sort((a, b) => a.distance - b.distance)
  const best = scored[0]
  return best !== undefined && best.distance <= 4 ? ` (did you mean ${best.known}?)` : ''
}

const editDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

const deepFreeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) deepFreeze(member)
  return Object.freeze(value)
}
