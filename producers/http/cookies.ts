import type { FastifyRequest } from 'fastify'
import type { Cookie } from './route.ts'

/** The parts of a request that determine the names and attributes of its cookies. */
export type CookieRequest = Pick<FastifyRequest, 'headers' | 'hostname'>

const LOOPBACK = /^(127(?:\.\d{1,3}){3}|localhost|\[?::1\]?)$/

/**
 * True if the cookies of the request need no TLS: the client connects to a loopback address, and the server has no public https address. Browsers
 * reject a `__Host-` cookie without TLS.
 */
const isPlain = ({ hostname }: CookieRequest, publicUrl: string | undefined): boolean =>
  publicUrl?.startsWith('https:') !== true && LOOPBACK.test(hostname)

const nameOf = (name: string, request: CookieRequest, publicUrl: string | undefined): string =>
  isPlain(request, publicUrl) ? name : `__Host-${name}`

/** Returns the value of a cookie that `setCookie` set. Undefined if the request does not have the cookie, or has it more than once. */
export const readCookie = (name: string, request: CookieRequest, publicUrl: string | undefined): string | undefined => {
  const { cookie } = request.headers
  if (cookie === undefined) return undefined
  const prefix = `${nameOf(name, request, publicUrl)}=`
  const found = cookie
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix))
  return found.length === 1 ? found[0]?.slice(prefix.length) : undefined
}

/** Returns the value of the header `Set-Cookie`. */
export const setCookie = (
  { name, value, maxAge }: Cookie,
  request: CookieRequest,
  publicUrl: string | undefined,
): string => {
  const secure = isPlain(request, publicUrl) ? '' : '; Secure'
  return `${nameOf(name, request, publicUrl)}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`
}
