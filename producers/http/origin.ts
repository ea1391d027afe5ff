import type { FastifyRequest } from 'fastify'
import { Problem } from './problem.ts'

/** The origins whose pages may use the edge, in addition to the origin of the edge itself. */
export interface OurOrigins {
  readonly origins: readonly string[]
  /** The origin under which people reach this server. Undefined: not configured. */
  readonly publicUrl?: string | undefined
}

/** Throws `origin-refused` if a page of another origin sent the request. A request without `Origin` is not from a page, unless `isRequired`. */
export const requireOrigin = (
  { headers: { origin }, host }: Pick<FastifyRequest, 'headers' | 'host'>,
  { origins, publicUrl }: OurOrigins,
  isRequired = false,
): void => {
  if (origin === undefined && !isRequired) return
  if (origin !== undefined && (origins.includes(origin) || isOurs(origin, host, publicUrl))) return
  throw new Problem(
    403,
    'origin-refused',
    origin === undefined
      ? 'A request with the cookie of a session needs the header Origin. Browsers send it. Other clients send Authorization: Bearer <token> instead of the cookie.'
      : `Pages of ${origin} are not allowed to connect. To allow them, add the origin to TRIBUTARY_ORIGINS.`,
  )
}

const isOurs = (origin: string, host: string, publicUrl: string | undefined): boolean => {
  if (!URL.canParse(origin)) return false
  return new URL(origin).host === host || (publicUrl !== undefined && new URL(publicUrl).origin === origin)
}
