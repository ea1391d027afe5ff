import { expect, describe, test } from 'vitest'
import { eventMeta } from '../../../producers/http/event-meta.ts'
import { createNotes, type Note } from '../../../producers/http/notes.ts'
import { Problem } from '../../../producers/http/problem.ts'
import type { Webhook } from '../../../producers/http/webhook.ts'
import { derivedId } from '../../../producers/ids.ts'
import { mealsEdge } from '../../../producers/meals/edge.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { Event } from '../../../schemas/event.ts'
import { NOON } from '../../../testing/event.ts'
import { send } from '../../../testing/edge/request.ts'
import { BREAKFAST, openMealsEdge } from '../meals/edge.ts'

const eventOf = (id: string, user: string): Event => ({
  type: 'PatUsed',
  meta: eventMeta({ eventId: derivedId('note', id), user, now: NOON, source: 'note', correlationId: id }),
  data: { patId: 'p1', date: '2026-11-16' },
  personal: null,
})

const webhook: Webhook = {
  url: '/webhooks/toy',
  operationId: 'receiveTestCall',
  summary: 'Calls of a toy.',
  source: 'toy',
  bodyLimit: 1000,
  authenticate: () => {
    throw new Problem(404, 'toy-unknown', 'There is no such toy.')
  },
  eventsOf: async () => [],
}

/** An edge that notes each request of a known user. */
const open = async (noted?: Note) => {
  const seen: string[] = []
  const note: Note = ({ id, method, route, caller, now }, { status, code, appended }) => {
    seen.push(`${method} ${route} ${caller?.user} ${now === NOON} ${status} ${code} ${appended?.type ?? null}`)
    return caller === null ? undefined : eventOf(id, caller.user)
  }
  const edge = await openMealsEdge({ edge: { ...mealsEdge, webhooks: [webhook], noted: noted ?? note } })
  const token = await edge.token('ann')
  const noteEvents = () => edge.events.filter(({ meta }) => meta.source === 'note')
  return { ...edge, seen, noteEvents, bearer: token }
}

describe('a request', () => {
  test('is noted after its answer, with its caller, route, status and event', async () => {
    const { app, seen, noteEvents, bearer } = await open()
    await send(app, { method: 'POST', url: '/v1/meals', token: bearer, body: BREAKFAST })
    await send(app, { url: '/v1/meals/no-such-meal', token: bearer })
    await expect.poll(() => seen.length).toBe(2)
    await app.close()
    expect(seen).toEqual([
      'POST /v1/meals ann true 201 null MealLogged',
      expect.stringMatching(/^GET \/v1\/meals\/:\w+ ann true 404 meal-not-found null$/),
    ])
    expect(noteEvents().map(({ meta }) => meta.actorId)).toEqual(['ann', 'ann'])
  })

  test('that was refused is noted without a caller, webhooks too', async () => {
    const { app, seen, noteEvents } = await open()
    await send(app, { url: '/v1/targets' })
    await send(app, { method: 'POST', url: '/webhooks/toy', body: {} })
    await expect.poll(() => seen.length).toBe(2)
    await app.close()
    expect(seen).toEqual([
      'GET /v1/targets undefined true 401 token-missing null',
      'POST /webhooks/toy undefined true 404 toy-unknown null',
    ])
    expect(noteEvents()).toEqual([])
  })

  test('is answered at once, and not failed, while the log does not answer', async () => {
    const { app, noteEvents, bearer, hang, fail } = await open()
    fail(new Fault('log-unavailable', 'The log does not answer.', { retriable: true }))
    expect(await send(app, { url: '/v1/targets', token: bearer })).toMatchObject({ status: 200 })
    hang('log')
    expect(await send(app, { url: '/v1/targets', token: bearer })).toMatchObject({ status: 200 })
    expect(noteEvents()).toEqual([])
  })

  test('is answered if its note throws', async () => {
    const { app, bearer } = await open(() => {
      throw new Error('planted')
    })
    expect(await send(app, { url: '/v1/targets', token: bearer })).toMatchObject({ status: 200 })
  })
})

describe('the queue of events', () => {
  const open = (append: (events: readonly Event[]) => Promise<readonly never[]>) => {
    const lost: number[] = []
    const appended: string[] = []
    const notes = createNotes({
      commands: { append },
      lost: (_error, count) => lost.push(count),
      appended: ({ meta }) => appended.push(meta.correlationId ?? ''),
    })
    const add = (count: number) => {
      for (let at = 0; at < count; at += 1) notes.add(eventOf(`r${at}`, 'ann'))
    }
    return { notes, add, lost, appended }
  }

  test('is bounded: further events are lost and reported', async () => {
    let release = (): void => undefined
    const gate = new Promise<void>((resolve) => (release = resolve))
    const { notes, add, lost, appended } = open(() => gate.then(() => []))
    add(1_002)
    expect(lost).toEqual([1])
    release()
    await notes.settled()
    expect(appended).toHaveLength(1_001)
  })

  test('goes on after an append that failed', async () => {
    let calls = 0
    const { notes, add, lost, appended } = open(async () => {
      calls += 1
      if (calls === 1) throw new Fault('log-unavailable', 'The log does not answer.', { retriable: true })
      return []
    })
    add(1)
    await notes.settled()
    add(2)
    await notes.settled()
    expect([lost, appended.length]).toEqual([[1], 2])
  })
})
