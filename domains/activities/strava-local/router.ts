import type { IncomingHttpHeaders } from 'node:http'
import type { Answer } from './answer.ts'

/** One request with its body parsed. */
export interface Call {
  readonly method: string
  /** The path without the base path of the API. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** The fields of the query and of a form body or JSON body. A field of the body replaces one of the query. */
  readonly fields: ReadonlyMap<string, string>
  /** The body of a JSON request. */
  readonly body: unknown
  /** The parts of the path that the route names. */
  readonly params: Readonly<Record<string, string>>
  /** The answer of a scripted fault, for routes with `isLimited`. */
  readonly forced?: Answer | undefined
}

export interface Route {
  readonly method: string
  /** A path with named parts, such as `/activities/{id}`. */
  readonly path: string
  /** The route checks an access token and counts the call for the rate limits, before it sends the answer of a scripted fault. */
  readonly isLimited?: true
  readonly handle: (call: Call) => Answer | Promise<Answer>
}

interface Match {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

/** Returns a function that finds the route of a method and a path. */
export const createRouter = (routes: readonly Route[]): ((method: string, path: string) => Match | undefined) => {
  const compiled = routes.map((route) => ({
    route,
    pattern: new RegExp(`^${route.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
  }))
  return (method, path) => {
    for (const { route, pattern } of compiled) {
      const match = route.method === method ? pattern.exec(path) : null
      if (match !== null)
        return {
          route,
          params: Object.fromEntries(Object.entries(match.groups ?? {}).map(([k, v]) => [k, decodeURIComponent(v)])),
        }
    }
    return undefined
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : undefined

/** Parses a body by its content type: JSON, a form, or a form with parts (`curl -F`). Throws for a body that does not parse. */
export const parseBody = async (
  bytes: Buffer,
  contentType: string | undefined,
  query: URLSearchParams,
): Promise<Pick<Call, 'fields' | 'body'>> => {
  const fields = new Map(query)
  if (bytes.length === 0) return { fields, body: undefined }
  if (contentType !== undefined && contentType.includes('form')) {
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData()
    for (const [name, value] of form) if (typeof value === 'string') fields.set(name, value)
    return { fields, body: undefined }
  }
  const body: unknown = JSON.parse(bytes.toString())
  if (typeof body === 'object' && body !== null)
    for (const [name, value] of Object.entries(body)) {
      const text = textOf(value)
      if (text !== undefined) fields.set(name, text)
    }
  return { fields, body }
}
