import { endGrant } from './announcing.ts'
import { badRequest, invalidToken, json, wrongSecret, type Answer } from './answer.ts'
import { athleteBody } from './api.ts'
import { consentPage } from './consent-page.ts'
import type { Call, Route } from './router.ts'
import { APPLICATION, type Consent, type LocalStrava } from './strava.ts'
import type { TokenPair } from './tokens.ts'

const SCOPES = [
  'read',
  'read_all',
  'profile:read_all',
  'profile:write',
  'activity:read',
  'activity:read_all',
  'activity:write',
]

type Fields = ReadonlyMap<string, string>

const requestedScopes = (fields: Fields): readonly string[] =>
  (fields.get('scope') ?? '').split(',').filter((scope) => scope !== '')

/** Strava accepts redirects to the callback domain of the application, localhost and 127.0.0.1. This application has no other domain. */
const isRedirectAllowed = (redirectUri: string | undefined): boolean =>
  redirectUri !== undefined &&
  URL.canParse(redirectUri) &&
  ['localhost', '127.0.0.1'].includes(new URL(redirectUri).hostname)

const refusedRequest = (fields: Fields): Answer | undefined => {
  const scopes = requestedScopes(fields)
  if (fields.get('client_id') !== APPLICATION.clientId) return badRequest('Application', 'client_id', 'invalid')
  if (!isRedirectAllowed(fields.get('redirect_uri'))) return badRequest('Application', 'redirect_uri', 'invalid')
  if (fields.get('response_type') !== 'code') return badRequest('Authorize', 'response_type', 'invalid')
  if (scopes.length === 0 || scopes.some((scope) => !SCOPES.includes(scope)))
    return badRequest('Authorize', 'scope', 'invalid')
  return undefined
}

/** Returns the redirect with which Strava answers a consent: `state`, then `code` and the granted scopes, or `error=access_denied`. */
const redirectAfterConsent = (strava: LocalStrava, fields: Fields, consent: Consent): string => {
  const target = new URL(fields.get('redirect_uri') ?? '')
  target.searchParams.set('state', fields.get('state') ?? '')
  if (consent.isDenied) {
    target.searchParams.set('error', 'access_denied')
    return target.href
  }
  const requested = requestedScopes(fields)
  const granted = requested.filter((scope) => consent.scopes === undefined || consent.scopes.includes(scope))
  const scopes = ['read', ...granted.filter((scope) => scope !== 'read')]
  target.searchParams.set('code', strava.tokens.authorize(consent.athlete, scopes))
  target.searchParams.set('scope', scopes.join())
  return target.href
}

/** The page of Strava that an athlete sees instead of the redirect. The application does not learn of it. */
const tooManyAthletes = (): Answer => ({
  status: 403,
  html: '<!doctype html><title>Error 403</title><h1>Error 403: Limit of connected athletes exceeded</h1>',
})

/** The answer to an authorization request whose consent is known. */
export const answerConsent = (strava: LocalStrava, fields: Fields, consent: Consent): Answer => {
  const { tokens, settings } = strava
  const isNew = tokens.grantOfAthlete(consent.athlete) === undefined
  if (!consent.isDenied && isNew && tokens.linked() >= settings.athleteLimit) return tooManyAthletes()
  return refusedRequest(fields) ?? { status: 302, headers: { Location: redirectAfterConsent(strava, fields, consent) } }
}

const FIFTY_WEEKS_S = 50 * 7 * 86_400

/** The consent that a person has given on the consent page. */
const consentOf = (strava: LocalStrava, fields: Fields): Consent => {
  const chosen = fields.get('athlete') ?? 'new'
  const now = strava.clock.seconds()
  const generator = { seed: 1, count: 50, fromS: now - FIFTY_WEEKS_S, untilS: now, onlyMeShare: 0, hiddenShare: 0 }
  const athlete =
    strava.athletes.get(chosen) ??
    strava.athletes.create({ firstname: 'New', lastname: 'Athlete', createdAtS: now, generator })
  return {
    athlete: athlete.id,
    scopes: requestedScopes(fields).filter((scope) => fields.has(`granted:${scope}`)),
    isDenied: fields.get('decision') !== 'grant',
  }
}

const pairBody = (strava: LocalStrava, { access, refresh, expiresAt }: TokenPair) => ({
  token_type: 'Bearer',
  expires_at: expiresAt,
  expires_in: expiresAt - strava.clock.seconds(),
  refresh_token: refresh,
  access_token: access,
})

const exchangeCode = (strava: LocalStrava, code: string): Answer => {
  const pair = strava.tokens.exchange(code)
  if (pair === 'invalid') return badRequest('AuthorizationCode', 'code', 'invalid')
  if (pair === 'expired') return badRequest('AuthorizationCode', '', 'expired')
  const athlete = strava.athletes.get(pair.grant.athlete)
  return json({ ...pairBody(strava, pair), athlete: athlete === undefined ? null : athleteBody(athlete, 2) })
}

const token = (strava: LocalStrava, { fields }: Call): Answer => {
  if (fields.get('client_id') !== APPLICATION.clientId) return badRequest('Application', 'client_id', 'invalid')
  if (fields.get('client_secret') !== APPLICATION.clientSecret) return wrongSecret()
  const grantType = fields.get('grant_type')
  if (grantType === 'authorization_code') return exchangeCode(strava, fields.get('code') ?? '')
  if (grantType !== 'refresh_token') return badRequest('Application', 'grant_type', 'invalid')
  const pair = strava.tokens.refresh(fields.get('refresh_token') ?? '')
  return pair === undefined ? badRequest('RefreshToken', 'refresh_token', 'invalid') : json(pairBody(strava, pair))
}

/** RFC 7009: the answer to an unknown token is 200 too, because the token does not work. */
const revoke = (strava: LocalStrava, { headers, fields }: Call): Answer => {
  const basic = Buffer.from(`${APPLICATION.clientId}:${APPLICATION.clientSecret}`).toString('base64')
  if (headers.authorization !== `Basic ${basic}`) return wrongSecret()
  const grant = strava.tokens.grantOfAny(fields.get('token') ?? '')
  if (grant !== undefined) endGrant(strava, grant, strava.settings.webhooks.onAppRevocation)
  return json({})
}

const deauthorize = (strava: LocalStrava, { headers, fields }: Call): Answer => {
  const access = fields.get('access_token') ?? /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
  const grant = strava.tokens.grantOf(access)
  if (grant === undefined) return invalidToken()
  endGrant(strava, grant, strava.settings.webhooks.onAppRevocation)
  return json({ access_token: access })
}

export const oauthRoutes = (strava: LocalStrava): readonly Route[] => [
  {
    method: 'GET',
    path: '/oauth/authorize',
    handle: ({ fields, query }) =>
      refusedRequest(fields) ??
      (strava.consent === undefined
        ? { status: 200, html: consentPage(query, requestedScopes(fields), strava.athletes.all()) }
        : answerConsent(strava, fields, strava.consent)),
  },
  {
    method: 'POST',
    path: '/oauth/authorize',
    handle: ({ fields }) => answerConsent(strava, fields, consentOf(strava, fields)),
  },
  { method: 'POST', path: '/oauth/token', handle: (call) => token(strava, call) },
  { method: 'POST', path: '/oauth/revoke', handle: (call) => revoke(strava, call) },
  { method: 'POST', path: '/oauth/deauthorize', handle: (call) => deauthorize(strava, call) },
]
