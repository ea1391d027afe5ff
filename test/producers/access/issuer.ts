import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, type JWK, type JWTPayload } from 'jose'
import { onTestFinished } from 'vitest'
import { NOON } from '../../../testing/event.ts'

export const AUDIENCE = 'tributary'

/** How the issuer answers requests. `hang`: it never answers. */
type Mode = 'answer' | 'fail' | 'hang'

interface Signing {
  readonly alg: 'RS256' | 'ES256'
  readonly kid: string
  readonly privateKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey']
  readonly publicKey: JWK
}

const newKey = async (alg: Signing['alg'], kid: string): Promise<Signing> => {
  const { privateKey, publicKey } = await generateKeyPair(alg)
  return { alg, kid, privateKey, publicKey: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

/** An OIDC issuer on loopback, with one key. */
export const startIssuer = async (alg: Signing['alg'] = 'ES256') => {
  const state = {
    mode: 'answer' as Mode,
    fetches: 0,
    published: [await newKey(alg, 'k1')],
    waiting: [] as ServerResponse[],
  }
  const server = createServer((request, response) => {
    if (state.mode === 'hang') return void state.waiting.push(response)
    if (state.mode === 'fail') return void response.writeHead(500).end()
    response.setHeader('content-type', 'application/json')
    if (request.url === '/keys') {
      state.fetches += 1
      return void response.end(JSON.stringify({ keys: state.published.map(({ publicKey }) => publicKey) }))
    }
    response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/keys` }))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  })
  /** The first published key. */
  const current = (): Signing => {
    const [key] = state.published
    if (key === undefined) throw new Error('The issuer has no key.')
    return key
  }
  /** Signs a JWT that is valid at noon for ten minutes, with the claims and the key that are given. */
  const sign = (claims: JWTPayload = {}, key: Signing = current()): Promise<string> =>
    new SignJWT({ sub: 'ann', iss: url, aud: AUDIENCE, exp: NOON / 1000 + 600, ...claims })
      .setProtectedHeader({ alg: key.alg, kid: key.kid })
      .sign(key.privateKey)
  return {
    url,
    state,
    current,
    sign,
    newKey: (kid: string) => newKey(alg, kid),
    rotate: (...keys: readonly Signing[]) => (state.published = [...keys]),
  }
}
