import { SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { checkIssuer, oidcScheme, userOf } from '../../../producers/access/oidc.ts'
import { COOLDOWN_MS, MAX_AGE_MS } from '../../../producers/access/oidc-keys.ts'
import { NOON } from '../../../testing/event.ts'
import { AUDIENCE, startIssuer } from './issuer.ts'
import { openSignIn, ORIGIN } from './sign-in.ts'

const NOON_S = NOON / 1000

const open = async (alg?: 'RS256' | 'ES256', timeoutMs = 10_000) => {
  const issuer = await startIssuer(alg)
  const clock = { at: NOON, now: () => clock.at }
  const reported: unknown[] = []
  const scheme = oidcScheme({
    issuer: issuer.url,
    audience: AUDIENCE,
    clock,
    failed: (error) => reported.push(error),
    timeoutMs,
  })
  const edge = await openSignIn({}, [scheme])
  const advance = (ms: number) => {
    clock.at += ms
    edge.advance(ms)
  }
  const who = (token: string) => edge.call({ url: '/who', token })
  return { ...edge, issuer, reported, advance, who }
}

const refusal = (status: number, code: string) => ({ status, body: { code } })

describe('a JWT of the issuer', () => {
  test.each(['RS256', 'ES256'] as const)('signed with %s is accepted, and its sub is the user', async (alg) => {
    const { who, issuer } = await open(alg)
    expect((await who(await issuer.sign())).body).toEqual({ user: 'ann', hasToken: false, email: null })
  })

  test('gives the rights to read and write, and not admin', async () => {
    const { call, issuer } = await open()
    expect(await call({ method: 'POST', url: '/who', token: await issuer.sign() })).toMatchObject({ status: 200 })
  })

  test('gives its e-mail address only if the issuer has verified it', async () => {
    const { who, issuer } = await open()
    const emailOf = async (claims: object) => (await who(await issuer.sign({ ...claims }))).body['email']
    const email = 'ann@example.com'
    expect(await emailOf({ email, email_verified: true })).toBe(email)
    expect(await emailOf({ email, email_verified: false })).toBeNull()
    expect(await emailOf({ email })).toBeNull()
    expect(await emailOf({ email: 7, email_verified: true })).toBeNull()
  })

  test('does not list or create tokens', async () => {
    const { call, issuer } = await open()
    expect(await call({ url: '/v1/tokens', token: await issuer.sign() })).toMatchObject(refusal(401, 'token-missing'))
  })

  test('opens a session that is valid for every domain, with the e-mail address', async () => {
    const { signIn, call, post, issuer, store } = await open()
    const jwt = await issuer.sign({ email: 'ann@example.com', email_verified: true })
    const { cookie, csrf, set } = await signIn(jwt)
    expect(set).toMatch(/^cc_session=\.[\w-]{43};/)
    expect((await call({ url: '/who', headers: { cookie } })).body).toEqual({
      user: 'ann',
      hasToken: false,
      email: 'ann@example.com',
    })
    expect(await post(cookie, { origin: ORIGIN, 'x-csrf-token': csrf })).toMatchObject({ status: 200 })
    expect(JSON.stringify([...store.items.values()])).not.toContain('example.com')
  })
})

describe('a JWT is refused', () => {
  test('without a signature (alg: none)', async () => {
    const { who, issuer } = await open()
    const jwt = new UnsecuredJWT({ sub: 'ann', iss: issuer.url, aud: AUDIENCE, exp: NOON_S + 600 }).encode()
    expect(await who(jwt)).toMatchObject(refusal(401, 'jwt-invalid'))
  })

  test('with the algorithm HS256, even if the public key of the issuer is the secret', async () => {
    const { who, issuer } = await open()
    const jwt = await new SignJWT({ sub: 'ann', iss: issuer.url, aud: AUDIENCE, exp: NOON_S + 600 })
      .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
      .sign(Buffer.from(JSON.stringify(issuer.current().publicKey)))
    expect(await who(jwt)).toMatchObject(refusal(401, 'jwt-invalid'))
  })

  test('of another issuer or for another audience', async () => {
    const { who, issuer } = await open()
    for (const claims of [{ iss: 'https://evil.example' }, { iss: `${issuer.url}/` }, { aud: 'another' }]) {
      const answer = await who(await issuer.sign(claims))
      expect(answer).toMatchObject(refusal(401, 'jwt-invalid'))
      expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"')
    }
  })

  test('without sub, exp, iss or aud, or with an empty sub', async () => {
    const { who, issuer } = await open()
    const without = (name: string) => issuer.sign({ [name]: undefined })
    for (const name of ['sub', 'exp', 'iss', 'aud'])
      expect(await who(await without(name)), name).toMatchObject(refusal(401, 'jwt-invalid'))
    expect(await who(await issuer.sign({ sub: '' }))).toMatchObject(refusal(401, 'jwt-invalid'))
  })

  test('60 seconds after its end, and 61 seconds before its start', async () => {
    const { who, issuer } = await open()
    expect(await who(await issuer.sign({ exp: NOON_S - 59 }))).toMatchObject({ status: 200 })
    expect(await who(await issuer.sign({ exp: NOON_S - 60 }))).toMatchObject(refusal(401, 'jwt-expired'))
    expect(await who(await issuer.sign({ nbf: NOON_S + 60 }))).toMatchObject({ status: 200 })
    expect(await who(await issuer.sign({ nbf: NOON_S + 61 }))).toMatchObject(refusal(401, 'jwt-invalid'))
  })

  test('if it was changed, or is no JWT', async () => {
    const { who, issuer } = await open()
    const jwt = await issuer.sign()
    const [header = '', , signature = ''] = jwt.split('.')
    const claims = { sub: 'bob', iss: issuer.url, aud: AUDIENCE, exp: NOON_S + 600 }
    const changed = Buffer.from(JSON.stringify(claims)).toString('base64url')
    for (const token of [`${header}.${changed}.${signature}`, `${header}..`, 'abc', 'eyJ.eyJ.x'])
      expect(await who(token)).toMatchObject(refusal(401, 'jwt-invalid'))
  })
})

describe('the keys of the issuer', () => {
  test('are fetched once for many requests', async () => {
    const { who, issuer } = await open()
    const jwt = await issuer.sign()
    await Promise.all(Array.from({ length: 5 }, () => who(jwt)))
    await who(jwt)
    expect(issuer.state.fetches).toBe(1)
  })

  test('are fetched again when a JWT names a new key, but at most once per minute', async () => {
    const { who, issuer, advance } = await open()
    await who(await issuer.sign())
    const next = await issuer.newKey('k2')
    const jwt = await issuer.sign({}, next)
    issuer.rotate(issuer.current(), next)
    for (let times = 0; times < 3; times++) expect(await who(jwt)).toMatchObject(refusal(401, 'jwt-invalid'))
    expect(issuer.state.fetches).toBe(1)
    advance(COOLDOWN_MS)
    expect(await who(jwt)).toMatchObject({ status: 200 })
    const unknown = await issuer.sign({}, await issuer.newKey('k3'))
    for (let times = 0; times < 3; times++) expect(await who(unknown)).toMatchObject(refusal(401, 'jwt-invalid'))
    expect(issuer.state.fetches).toBe(2)
  })

  test('that the issuer has removed are refused after ten minutes', async () => {
    const { who, issuer, advance } = await open()
    const old = issuer.current()
    const jwt = await issuer.sign({ exp: NOON_S + 86_400 })
    await who(jwt)
    issuer.rotate(await issuer.newKey('k2'))
    expect(old.kid).toBe('k1')
    advance(MAX_AGE_MS - 1)
    expect(await who(jwt)).toMatchObject({ status: 200 })
    advance(1)
    expect(await who(jwt)).toMatchObject(refusal(401, 'jwt-invalid'))
  })

  test.each(['fail', 'hang'] as const)(
    'that were never fetched are a 503 if the requests %s, and PATs work',
    async (mode) => {
      const { who, issuer, token, reported, advance } = await open('ES256', 20)
      issuer.state.mode = mode
      const jwt = await issuer.sign({ exp: NOON_S + 86_400 })
      const pat = await token('bob')
      const [refused, admitted] = await Promise.all([who(jwt), who(pat)])
      expect(refused).toMatchObject({ ...refusal(503, 'oidc-unavailable'), headers: { 'retry-after': '60' } })
      expect(admitted).toMatchObject({ status: 200, body: { user: 'bob' } })
      expect(await who(jwt)).toMatchObject(refusal(503, 'oidc-unavailable'))
      expect(reported).toHaveLength(1)
      issuer.state.mode = 'answer'
      advance(COOLDOWN_MS)
      // The timeout of 20 ms is for the hanging requests. The issuer may need longer than that on a busy machine, so the test repeats the request.
      await expect
        .poll(async () => {
          advance(COOLDOWN_MS)
          return (await who(jwt)).status
        })
        .toBe(200)
    },
  )

  test('stay in use while the issuer does not answer', async () => {
    const { who, issuer, advance } = await open()
    const jwt = await issuer.sign({ exp: NOON_S + 86_400 })
    await who(jwt)
    issuer.state.mode = 'fail'
    advance(MAX_AGE_MS)
    expect(await who(jwt)).toMatchObject({ status: 200 })
  })

  test('are checked by doctor', async () => {
    const { issuer } = await open()
    expect(await checkIssuer(issuer.url)).toBe(`${issuer.url} answers, and has 1 key`)
    await expect(checkIssuer(`${issuer.url}/`)).rejects.toMatchObject({
      code: 'oidc-unavailable',
      message: expect.stringContaining('set TRIBUTARY_OIDC_ISSUER to the exact name'),
    })
    issuer.state.mode = 'fail'
    await expect(checkIssuer(issuer.url)).rejects.toMatchObject({ code: 'oidc-unavailable' })
  })
})

describe('the user id of a JWT', () => {
  const HASHED = /^oidc-[a-z2-7]{26}$/

  test.each(['ann', 'A-z_0.9', 'x'.repeat(64)])('is the sub if that has only plain characters: %s', (sub) => {
    expect(userOf(sub, 'https://id.example')).toBe(sub)
  })

  test.each(['auth0|123', 'a#b', 'a~b', 'a:b', 'ann@example.com', 'é', 'x'.repeat(65), `oidc-${'a'.repeat(26)}`])(
    'is a hash of issuer and sub otherwise: %s',
    (sub) => {
      const id = userOf(sub, 'https://id.example')
      expect(id).toMatch(HASHED)
      expect(userOf(sub, 'https://other.example')).not.toBe(id)
    },
  )

  test('is the first 26 characters of the base32 SHA-256', () => {
    expect(userOf('auth0|1', 'https://id.example')).toMatchInlineSnapshot(`"oidc-rlyf5gfuy5fentogdfiykkt3nv"`)
  })
})

test('the document of the edge lists JWTs as a way to authenticate', async () => {
  const { call } = await open()
  const { body } = await call({ url: '/openapi.json' })
  expect(body['components']).toMatchObject({
    securitySchemes: { oidc: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
  })
})
