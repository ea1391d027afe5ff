import { beforeEach, describe, expect, test } from 'vitest'
import { NOON } from '../../../../testing/event.ts'
import { eventsOf, failure, openOutside, result, SUBJECT, type AskOutside } from './outside.ts'

let outside: AskOutside
beforeEach(async () => {
  outside = await openOutside()
  outside.connect({ status: 'REVOKING' })
})

describe('the ask check', () => {
  const check = () => outside.call('check', { epoch: 1, asked: 300 })
  const verdict = (of: string) => ['DeauthorisationChecked', { epoch: 1, asked: 300, verdict: of }]

  test('a token that works refutes the revocation, also if it lacks a scope', async () => {
    outside.strava.athlete = async () => result({ athleteId: '5', name: '' })
    expect(eventsOf(await check())).toEqual([verdict('valid')])
    outside.strava.athlete = async () => failure('scope-missing', 401, 'read')
    expect(eventsOf(await check())).toEqual([verdict('valid')])
  })

  test('a token that Strava refuses, also after a refresh, confirms it', async () => {
    outside.strava.athlete = async () => failure('unauthorized', 401)
    outside.strava.refresh = async () => ({
      failure: { kind: 'refused', status: 400, detail: 'RefreshToken/refresh_token/invalid' },
      use: [],
    })
    expect(eventsOf(await check())).toEqual([verdict('gone')])
    await outside.secrets.drop(SUBJECT, 'strava')
    expect(eventsOf(await check())).toEqual([verdict('gone')])
  })

  test('without an answer there is no verdict', async () => {
    await expect(check()).rejects.toMatchObject({ code: 'strava-unavailable' })
    outside.hold(NOON + 9)
    expect(await check()).toEqual({ later: NOON + 9 })
  })

  test('does nothing after the link has ended', async () => {
    outside.connect({ closedEpoch: 1 })
    expect(await check()).toEqual({ events: [] })
  })
})

describe('the ask revoke', () => {
  const revoke = () => outside.call('revoke', { epoch: 1 })
  const done = (with_: string) => [['StepDone', { step: 'revoke', epoch: 1, result: with_ }]]

  test('revokes the refresh token, and with it the access token', async () => {
    outside.strava.revoke = async () => result(true)
    expect(eventsOf(await revoke())).toEqual(done('200'))
    expect(outside.called).toEqual([['revoke', 'R1']])
  })

  test.each([400, 401])('is done if Strava does not know the token: %s', async (status) => {
    outside.strava.revoke = async () => failure('refused', status)
    expect(eventsOf(await revoke())).toEqual(done(String(status)))
  })

  test('is done without a token, and after a new link exists', async () => {
    outside.connect({ epoch: 2 })
    expect(eventsOf(await revoke())).toEqual(done('none'))
    outside.connect()
    await outside.secrets.drop(SUBJECT, 'strava')
    expect(eventsOf(await revoke())).toEqual(done('none'))
    expect(outside.called).toEqual([])
  })

  test('is repeated after 429 and without an answer', async () => {
    outside.strava.revoke = async () => failure('rate-limited', 429)
    expect(await revoke()).toEqual({ later: NOON + 900_000 })
    outside.strava.revoke = async () => failure('unavailable', 503)
    await expect(revoke()).rejects.toMatchObject({ code: 'strava-unavailable' })
  })
})
