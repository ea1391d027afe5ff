import { describe, expect, test } from 'vitest'
import { createCommands } from '../../../producers/commands.ts'
import type { Event } from '../../../schemas/event.ts'
import { Fault } from '../../../schemas/fault.ts'
import { BREAKFAST, openMealsEdge } from '../meals/edge.ts'
import { send } from '../../../testing/edge/request.ts'
import { openCodec } from '../../../schemas/codec.ts'

const codec = openCodec()

const open = async () => {
  const edge = await openMealsEdge()
  const token = await edge.token('ann')
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    send(edge.app, { method: 'POST', url: '/v1/meals', token, body, headers })
  return { edge, token, post }
}

describe('Idempotency-Key', () => {
  test('the same key and body again gives the same answer, and one meal', async () => {
    const { edge, token, post } = await open()
    const first = await post(BREAKFAST, { 'idempotency-key': 'k1' })
    const again = await post({ ...BREAKFAST }, { 'idempotency-key': 'k1' })
    expect(first.status).toBe(201)
    expect(again).toMatchObject({ status: 201, body: first.body })
    expect((await send(edge.app, { url: '/v1/meals?day=2026-11-16', token })).body.items).toHaveLength(1)
  })

  test('the order of fields and the spaces between them do not matter', async () => {
    const { post, edge, token } = await open()
    const first = await post(BREAKFAST, { 'idempotency-key': 'k1' })
    const raw = JSON.stringify(Object.fromEntries(Object.entries(BREAKFAST).reverse()), null, 3)
    expect(
      await send(edge.app, { method: 'POST', url: '/v1/meals', token, raw, headers: { 'idempotency-key': 'k1' } }),
    ).toMatchObject({ status: 201, body: first.body })
  })

  test('the key itself is stored nowhere, and no refusal shows its stored form', async () => {
    const { post, edge } = await open()
    await post(BREAKFAST, { 'idempotency-key': 'PLANTED-KEY' })
    const refused = await post({ ...BREAKFAST, calories: 1 }, { 'idempotency-key': 'PLANTED-KEY' })
    expect(refused.body).toMatchObject({
      detail: 'This Idempotency-Key was used before with another body. Use a new key for a new request.',
    })
    expect(JSON.stringify([edge.events, [...edge.items.values()]])).not.toContain('PLANTED')
  })

  test('the same key with another body is 422, and changes nothing', async () => {
    const { post } = await open()
    await post(BREAKFAST, { 'idempotency-key': 'k1' })
    expect(await post({ ...BREAKFAST, calories: 1 }, { 'idempotency-key': 'k1' })).toMatchObject({
      status: 422,
      body: { code: 'idempotency-key-reused' },
    })
  })

  test('the same key for another target is 422', async () => {
    const { edge, token, post } = await open()
    const ids = [(await post(BREAKFAST)).body.id, (await post(BREAKFAST)).body.id]
    const erase = (id: unknown) =>
      send(edge.app, { method: 'DELETE', url: `/v1/meals/${id}`, token, headers: { 'idempotency-key': 'k2' } })
    expect(await erase(ids[0])).toMatchObject({ status: 200 })
    expect(await erase(ids[1])).toMatchObject({ status: 422 })
    expect(await erase(ids[0])).toMatchObject({ status: 200, body: { id: ids[0], deleted: true } })
  })

  test('the keys of two people are two keys', async () => {
    const { edge, post } = await open()
    const bob = await edge.token('bob')
    const mine = await post(BREAKFAST, { 'idempotency-key': 'k1' })
    const theirs = await send(edge.app, {
      method: 'POST',
      url: '/v1/meals',
      token: bob,
      body: { ...BREAKFAST, calories: 1 },
      headers: { 'idempotency-key': 'k1' },
    })
    expect(theirs.status).toBe(201)
    expect(theirs.body.id).not.toBe(mine.body.id)
  })

  test('a correction under a key is applied once', async () => {
    const { edge, token, post } = await open()
    const { body } = await post(BREAKFAST)
    const correct = () =>
      send(edge.app, {
        method: 'PATCH',
        url: `/v1/meals/${body.id}`,
        token,
        body: { calories: 5, revision: 1 },
        headers: { 'idempotency-key': 'k3' },
      })
    const first = await correct()
    expect(first).toMatchObject({ status: 200, body: { revision: 2 } })
    expect(await correct()).toMatchObject({ status: 200, body: first.body })
  })

  test('a refusal under a key is the same refusal again', async () => {
    const { edge, token, post } = await open()
    const { body } = await post(BREAKFAST)
    const correct = () =>
      send(edge.app, {
        method: 'PATCH',
        url: `/v1/meals/${body.id}`,
        token,
        body: { calories: 5, revision: 9 },
        headers: { 'idempotency-key': 'k4' },
      })
    expect(await correct()).toMatchObject({ status: 409, body: { code: 'revision-conflict' } })
    expect(await correct()).toMatchObject({ status: 409, body: { code: 'revision-conflict' } })
  })

  test('a repeated create after its meal was deleted gets the same answer, and restores nothing', async () => {
    const { edge, token, post } = await open()
    const first = await post(BREAKFAST, { 'idempotency-key': 'k1' })
    await send(edge.app, { method: 'DELETE', url: `/v1/meals/${first.body.id}`, token })
    expect(await post(BREAKFAST, { 'idempotency-key': 'k1' })).toMatchObject({ status: 201, body: first.body })
    expect((await send(edge.app, { url: '/v1/meals?day=2026-11-16', token })).body.items).toEqual([])
  })

  test('a repeated creation of a token under a key gives one token, and does not show its secret again', async () => {
    const { edge, token } = await open()
    const make = () =>
      send(edge.app, {
        method: 'POST',
        url: '/v1/tokens',
        token,
        body: { name: 'a', scopes: ['read'] },
        headers: { 'idempotency-key': 'k5' },
      })
    const first = await make()
    const again = await make()
    expect(first.body).toHaveProperty('token')
    expect(again).toMatchObject({ status: 201, body: { id: first.body.id } })
    expect(again.body).not.toHaveProperty('token')
  })
})

describe('waiting for the fold', () => {
  test('with Prefer: respond-async a command is answered 202 with its event and id', async () => {
    const { edge, token, post } = await open()
    edge.pause()
    const accepted = await post(BREAKFAST, { prefer: 'respond-async' })
    expect(accepted).toMatchObject({
      status: 202,
      body: { state: 'pending', event: accepted.headers['tributary-event'] },
    })
    const read = () =>
      send(edge.app, {
        url: `/v1/meals/${accepted.body.id}`,
        token,
        headers: { 'tributary-after': accepted.body.event },
      })
    expect(await read()).toMatchObject({
      status: 503,
      body: { code: 'not-yet-visible' },
      headers: { 'retry-after': '1' },
    })
    edge.resume()
    expect(await read()).toMatchObject({ status: 200, body: { calories: 412.5 } })
  })

  test('a command whose fold takes too long is answered 202', async () => {
    const { edge, post } = await open()
    edge.pause()
    expect(await post(BREAKFAST)).toMatchObject({ status: 202, body: { state: 'pending' } })
  })

  test('a command behind a parked event is answered 202 with the reason', async () => {
    const { edge, post } = await open()
    edge.pause()
    edge.outcomes.set(edge.events.length, { kind: 'parked', reason: 'unknown-schema', behind: true })
    expect(await post(BREAKFAST)).toMatchObject({
      status: 202,
      body: {
        state: 'parked',
        detail: expect.stringContaining('an earlier event of yours could not be folded') as string,
      },
    })
  })

  test('a command whose own event cannot be folded is answered 202 with the reason', async () => {
    const { edge, post } = await open()
    edge.pause()
    edge.outcomes.set(edge.events.length, { kind: 'parked', reason: 'fold-threw' })
    expect(await post(BREAKFAST)).toMatchObject({
      status: 202,
      body: {
        state: 'parked',
        detail: expect.stringContaining('it could not be folded, so your later events wait') as string,
      },
    })
  })

  test('a Tributary-After that the log does not contain is 400 at once, if the end of the log is known', async () => {
    const edge = await openMealsEdge({ end: async (partition) => (partition === 0 ? edge.events.length : 0) })
    const token = await edge.token('ann')
    edge.pause()
    const last = edge.events.length - 1
    for (const [after, status, code] of [
      [`0:${last + 1}:x`, 400, 'bad-event-reference'],
      ['7:0:x', 400, 'bad-event-reference'],
      [`0:${last}:x`, 200, undefined],
    ] as const) {
      expect(
        await send(edge.app, { url: '/v1/targets', token, headers: { 'tributary-after': after } }),
        after,
      ).toMatchObject({ status, body: code === undefined ? {} : { code } })
    }
  })

  test('a token that is created without waiting shows its secret at once', async () => {
    const { edge, token } = await open()
    const made = await send(edge.app, {
      method: 'POST',
      url: '/v1/tokens',
      token,
      body: { name: 'a', scopes: ['read'] },
      headers: { prefer: 'respond-async' },
    })
    expect(made).toMatchObject({ status: 202, body: { token: expect.stringMatching(/^trib_meals_/) } })
    expect(await send(edge.app, { url: '/v1/targets', token: made.body.token })).toMatchObject({ status: 200 })
  })

  test('a request without a token does not wait', async () => {
    const { edge } = await open()
    edge.pause()
    expect(await send(edge.app, { url: '/v1/targets', headers: { 'tributary-after': '0:99:x' } })).toMatchObject({
      status: 401,
    })
  })

  test('a GET without Tributary-After does not wait', async () => {
    const { edge, token } = await open()
    edge.pause()
    expect(await send(edge.app, { url: '/v1/targets', token })).toMatchObject({ status: 200 })
  })
})

describe('when the log fails', () => {
  test('an event that it refused is 503 with Retry-After, and is not stored', async () => {
    const { edge, token, post } = await open()
    edge.fail(new Fault('log-unavailable', 'The log does not answer.', { retriable: true }))
    expect(await post(BREAKFAST)).toMatchObject({
      status: 503,
      body: { code: 'log-unavailable' },
      headers: { 'retry-after': '1' },
    })
    edge.fail(undefined)
    expect((await send(edge.app, { url: '/v1/meals?day=2026-11-16', token })).body.items).toEqual([])
  })

  test('a full log has a code of its own', async () => {
    const { edge, post } = await open()
    edge.fail(new Fault('log-full', 'No space is left.'))
    expect(await post(BREAKFAST)).toMatchObject({
      status: 503,
      body: { code: 'log-full' },
      headers: { 'retry-after': '1' },
    })
  })

  test('an event that it may contain is named, and a repeated request with the same key is safe', async () => {
    const { edge, post } = await open()
    edge.fail(new Fault('append-unknown', 'The answer did not come.', { retriable: true }))
    const unknown = await post(BREAKFAST, { 'idempotency-key': 'k1' })
    expect(unknown).toMatchObject({
      status: 503,
      body: { code: 'append-unknown', event: expect.stringMatching(/^unknown:[0-9a-f-]{36}$/) },
      headers: { 'retry-after': '1' },
    })
    edge.fail(undefined)
    const sure = await post(BREAKFAST, { 'idempotency-key': 'k1' })
    expect(sure).toMatchObject({ status: 201 })
    expect(String(sure.headers['tributary-event'])).toContain(String(unknown.body.event).slice('unknown:'.length))
  })

  test('an appended event is not reported as unwritten if the store does not answer', async () => {
    const { edge, token, post } = await open()
    const { get, getMany, query } = edge.reader
    const before = edge.events.length
    const until =
      <T extends unknown[], R>(read: (...args: T) => Promise<R>) =>
      async (...args: T): Promise<R> => {
        if (edge.events.length > before) throw new Fault('store-throttled', 'It does not answer.', { retriable: true })
        return read(...args)
      }
    Object.assign(edge.reader, { get: until(get), getMany: until(getMany), query: until(query) })
    expect(await post(BREAKFAST)).toMatchObject({
      status: 202,
      body: { state: 'pending', event: expect.stringMatching(/^0:/) as unknown },
    })
    expect(await send(edge.app, { url: '/v1/targets', token })).toMatchObject({
      status: 503,
      body: { code: 'store-throttled', detail: expect.not.stringContaining('written') as unknown },
    })
    Object.assign(edge.reader, { get, getMany, query })
    expect((await send(edge.app, { url: '/v1/meals?day=2026-11-16', token })).body.items).toHaveLength(1)
  })

  test('an appended event is not reported as unwritten if its outcome is unknown', async () => {
    const { edge, post } = await open()
    const deaf = createCommands({
      log: { append: async () => [{ partition: 0, offset: 7 }] },
      codec,
      outcomes: {
        untilOutcome: async () =>
          Promise.reject(new Fault('store-throttled', 'It does not answer.', { retriable: true })),
      },
    })
    await post(BREAKFAST)
    const [event] = edge.events
    expect(await deaf.execute(event as Event, { wait: true, timeoutMs: 50 })).toMatchObject({
      outcome: 'pending',
      position: { offset: 7 },
    })
  })

  test('an unexpected error is 500 without details', async () => {
    const { edge, post } = await open()
    edge.fail(new Fault('strange', 'secret details'))
    const answer = await post(BREAKFAST)
    expect(answer).toMatchObject({ status: 500, body: { code: 'internal' } })
    expect(answer.text).not.toContain('secret details')
  })
})
