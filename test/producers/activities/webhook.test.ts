import { beforeEach, describe, expect, test } from 'vitest'
import { owners } from '../../../projections/activities/keys.ts'
import { keyOf } from '../../../projections/item.ts'
import { Fault } from '../../../schemas/fault.ts'
import { NOON } from '../../../testing/event.ts'
import { send, type EdgeRequest } from '../../../testing/edge/request.ts'
import { openActivities, WEBHOOK, type ActivitiesEdge } from './open-edge.ts'

const PATH = `/webhooks/strava/${WEBHOOK.secret}`
const NOW_S = NOON / 1000
const NOTICE = {
  aspect_type: 'create',
  event_time: NOW_S - 5,
  object_id: 1360128428,
  object_type: 'activity',
  owner_id: 134815,
  subscription_id: 120475,
  updates: {},
}

let edge: ActivitiesEdge
let outcomes: string[]
beforeEach(async () => {
  outcomes = []
  edge = await openActivities({
    report: {
      appended: () => {},
      quarantined: () => {},
      answered: () => {},
      webhookCalled: (_, outcome) => void outcomes.push(outcome),
    },
  })
  const owner = { ...owners.key('134815'), userId: 'ada', epoch: 3, ref: 'r' }
  edge.items.set(keyOf(owner), owner)
})

const post = (changes: object = {}, request: Partial<EdgeRequest> = {}) =>
  send(edge.app, { method: 'POST', url: PATH, body: { ...NOTICE, ...changes }, ...request })
const received = () => edge.events.filter(({ type }) => type === 'StravaWebhookReceived')

describe('the challenge', () => {
  const challenge = (query: string, path = PATH) => send(edge.app, { url: `${path}?${query}` })
  const QUERY = `hub.mode=subscribe&hub.challenge=15f7d1a91c1f40f8a748fd134752feb3&hub.verify_token=${WEBHOOK.verifyToken}`

  test('is echoed as JSON', async () => {
    expect(await challenge(QUERY)).toMatchObject({
      status: 200,
      body: { 'hub.challenge': '15f7d1a91c1f40f8a748fd134752feb3' },
    })
  })

  test('is answered without a subscription, because Strava sends it before the subscription exists', async () => {
    edge = await openActivities({ webhook: { ...WEBHOOK, subscriptionId: undefined } })
    expect((await challenge(QUERY)).status).toBe(200)
    expect(await post()).toMatchObject({ status: 503, body: { code: 'subscription-not-configured' } })
  })

  test('is refused with another token, another mode, and on another path', async () => {
    for (const query of [QUERY.replace('the-verify', 'a-verify'), QUERY.replace('subscribe', 'x'), ''])
      expect(await challenge(query)).toMatchObject({ status: 403, body: { code: 'challenge-refused' } })
    expect((await challenge(QUERY, '/webhooks/strava/wrong')).status).toBe(404)
  })
})

describe('an event of Strava', () => {
  test('is stored under the owner, sealed for the link, with refs instead of ids', async () => {
    expect((await post({ updates: { title: 'Messy', private: 'true' } })).status).toBe(200)
    const [event] = received()
    expect(event).toMatchObject({
      meta: { key: 'ada', subjectId: 'ada~strava~3', actorId: null, occurredAt: NOON - 5_000, source: 'strava' },
      data: { objectType: 'activity', aspect: 'create', eventTime: NOW_S - 5, epoch: 3 },
      personal: {
        objectId: '1360128428',
        ownerId: '134815',
        updates: [
          { name: 'private', value: 'true' },
          { name: 'title', value: 'Messy' },
        ],
      },
    })
    expect(JSON.stringify([event?.meta, event?.data])).not.toMatch(/1360128428|134815/)
    expect(outcomes).toEqual(['taken'])
  })

  test('has the same id at each delivery, and another one with other updates', async () => {
    for (const changes of [{}, {}, {}, { updates: { title: 'x' } }]) await post(changes)
    const ids = received().map(({ meta }) => meta.eventId)
    expect(new Set(ids).size).toBe(2)
    expect(ids.slice(0, 3)).toEqual([ids[0], ids[0], ids[0]])
  })

  test('keeps ids of 17 digits', async () => {
    const raw = JSON.stringify(NOTICE).replace('1360128428', '12345678901234567')
    expect((await send(edge.app, { method: 'POST', url: PATH, raw })).status).toBe(200)
    expect(received()[0]?.personal).toMatchObject({ objectId: '12345678901234567' })
  })

  test.each([
    ['in the future', NOW_S + 7_200],
    ['in milliseconds', NOON],
  ])('with a time %s keeps its event_time, and happened when it was received', async (_, event_time) => {
    expect((await post({ event_time })).status).toBe(200)
    expect(received()[0]).toMatchObject({ data: { eventTime: event_time }, meta: { occurredAt: NOON } })
  })

  test('of an unknown athlete is answered 200, counted, and not stored', async () => {
    expect((await post({ owner_id: 999 })).status).toBe(200)
    expect(received()).toEqual([])
    expect(outcomes).toEqual(['ignored'])
  })

  test('of an athlete is stored only if it is a revocation', async () => {
    const athlete = { object_type: 'athlete', aspect_type: 'update', object_id: 134815 }
    expect((await post({ ...athlete, updates: { authorized: 'true' } })).status).toBe(200)
    expect((await post({ ...athlete, updates: {} })).status).toBe(200)
    expect(received()).toEqual([])
    expect((await post({ ...athlete, updates: { authorized: 'false' } })).status).toBe(200)
    expect(received()[0]?.data).toMatchObject({ objectType: 'athlete' })
  })

  test('on a wrong path, or of another subscription, is answered 404', async () => {
    for (const url of ['/webhooks/strava/wrong', `${PATH}x`, '/webhooks/strava/%E2%98%83'])
      expect((await post({}, { url })).status).toBe(404)
    expect(await post({ subscription_id: 7 })).toMatchObject({ status: 404, body: { code: 'webhook-not-found' } })
    expect(received()).toEqual([])
  })

  test('of 1 MB is answered 413, and another form 400', async () => {
    expect((await post({ updates: { title: 'x'.repeat(1_000_000) } })).status).toBe(413)
    expect(await post({ object_id: 'abc' })).toMatchObject({ status: 400, body: { code: 'webhook-malformed' } })
    expect((await send(edge.app, { method: 'POST', url: PATH, raw: '{' })).status).toBe(400)
    expect(received()).toEqual([])
  })

  test('is answered 503 if the log does not accept it, so that Strava sends it again', async () => {
    edge.fail(new Fault('log-unavailable', 'The log does not answer.', { retriable: true }))
    expect((await post()).status).toBe(503)
  })
})

test('without its variables, the webhook is answered 404', async () => {
  const { app } = await openActivities({ webhook: null })
  expect((await send(app, { method: 'POST', url: PATH, body: NOTICE })).status).toBe(404)
})
