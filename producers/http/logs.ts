import { stdTimeFunctions, type LoggerOptions } from 'pino'

/** Lines of JSON for machines: ids, codes, sizes. Never bodies, never headers, never a token. */
export const logOptions = (level: string): LoggerOptions => ({
  level,
  base: null,
  timestamp: stdTimeFunctions.isoTime,
  formatters: { level: (label) => ({ level: label }) },
  serializers: {
    req: (request: unknown) => pick(request, ['id', 'method']),
    res: (reply: unknown) => pick(reply, ['statusCode']),
    err: described,
  },
  redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[hidden]' },
})

const SECRETS = ['authorization', 'token', 'secret', 'password', 'body', 'headers', 'cookie', 'personal', 'hash']

const pick = (from: unknown, names: readonly string[]): Record<string, unknown> =>
  typeof from === 'object' && from !== null ? Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name))) : {}

const TOKENS = /trib_[a-z]{1,20}_[0-9A-Za-z]{49}/g

/** Whatever an error quotes, a token is not shown. */
const withoutTokens = (text: string | undefined): string | undefined => text?.replace(TOKENS, '[hidden]')

const DEPTH = 4

const described = (error: unknown, depth = 0): unknown => {
  if (!(error instanceof Error)) return { message: withoutTokens(String(error)) }
  return {
    type: error.name,
    code: 'code' in error ? error.code : undefined,
    message: withoutTokens(error.message),
    stack: withoutTokens(error.stack),
    ...(error.cause === undefined || depth >= DEPTH ? {} : { cause: described(error.cause, depth + 1) }),
  }
}
