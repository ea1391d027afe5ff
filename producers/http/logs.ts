import { stdTimeFunctions, type LoggerOptions } from 'pino'

/** The options of the logger. Lines are JSON with ids, codes and sizes, never with bodies, headers, query strings or tokens. */
export const logOptions = (level: string): LoggerOptions => ({
  level,
  base: null,
  timestamp: stdTimeFunctions.isoTime,
  formatters: { level: (label) => ({ level: label }), log: (fields) => cleaned(fields, 0) as Record<string, unknown> },
  hooks: {
    logMethod(args, method) {
      const message = args.length === 1 ? errorIn(args[0])?.message : undefined
      const all: readonly unknown[] = message === undefined ? args : [...args, message]
      method.apply(this, all.map((arg) => (typeof arg === 'string' ? withoutSecrets(arg) : arg)) as typeof args)
    },
  },
  serializers: {
    req: (request: unknown) => pick(request, ['id', 'method']),
    res: (reply: unknown) => pick(reply, ['statusCode']),
    err: described,
  },
  redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[hidden]' },
})

const SECRETS = ['authorization', 'token', 'secret', 'password', 'body', 'headers', 'cookie', 'personal', 'hash']

const pick = (from: unknown, names: readonly string[]): Record<string, unknown> =>
  typeof from === 'object' && from !== null
    ? Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)))
    : {}

const TOKENS = /trib_[a-z]{1,20}_[0-9A-Za-z]{49}/g
/** The query string of a path or a URL. It is hidden, because a client may put a token or a name into a query string. */
const QUERIES = /\?[^\s"'<>]*[=&][^\s"'<>]*/g

/** Removes tokens and query strings from a text. The lines of the web framework and its plugins pass through this function, too. */
const withoutSecrets = (text: string): string => text.replace(TOKENS, '[hidden]').replace(QUERIES, '?[hidden]')

/** Returns the error in the first argument of a log call, or undefined. The line gets the message of this error if the call has no message. */
const errorIn = (first: unknown): Error | undefined => {
  if (first instanceof Error) return first
  const err: unknown = typeof first === 'object' && first !== null && 'err' in first ? first.err : undefined
  return err instanceof Error ? err : undefined
}

const cleaned = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return withoutSecrets(value)
  if (value === null || typeof value !== 'object' || value instanceof Error || depth >= DEPTH) return value
  if (Array.isArray(value)) return value.map((each) => cleaned(each, depth + 1))
  return isPlain(value)
    ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cleaned(each, depth + 1)]))
    : value
}

/** True for plain objects. False for requests and answers of the framework: their own serializers process them. */
const isPlain = (value: object): boolean =>
  Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null

const DEPTH = 4

const described = (error: unknown, depth = 0): unknown => {
  if (!(error instanceof Error)) return { message: withoutSecrets(String(error)) }
  return {
    type: error.name,
    code: 'code' in error ? error.code : undefined,
    message: withoutSecrets(error.message),
    stack: error.stack && withoutSecrets(error.stack),
    ...(error.cause === undefined || depth >= DEPTH ? {} : { cause: described(error.cause, depth + 1) }),
  }
}
