import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { pino } from 'pino'
import { logOptions } from '../../../producers/http/logs.ts'
import { scales } from '../../../processors/scales/domain.ts'
import { scalesEdge } from '../../../producers/scales/edge.ts'
import type { ChangeFeed } from '../../../projections/changes.ts'
import type { Event } from '../../../schemas/event.ts'
import { as } from '../person.ts'
import { openMemoryEdge } from '../../../testing/edge/edge.ts'
import { LOC } from './bar.ts'

afterEach(() => void vi.useRealTimers())

/** A change feed without changes. */
const changes: ChangeFeed = {
  async *follow({ signal }) {
    yield { changes: [], cursor: '0' }
    if (!signal.aborted) await once(signal, 'abort')
  },
}

/** Advances the time by a minute, in two halves. In each half, the server pings every client. The next half begins after the clients answered. */
const minute = async (...sockets: readonly WebSocket[]) => {
  for (let half = 0; half < 2; half += 1) {
    const pinged = Promise.all(sockets.map((socket) => once(socket, 'ping')))
    vi.advanceTimersByTime(30_000)
    await pinged
    await Promise.all(
      sockets.map(async (socket) => {
        const answered = once(socket, 'pong')
        socket.ping()
        await answered
      }),
    )
  }
}

const openWatched = async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  const open = new Set<string>()
  const connections = {
    opened: async ({ id }: { readonly id: string }) => void open.add(id),
    closed: async (id: string) => void open.delete(id),
  }
  const edge = await openMemoryEdge({
    domain: scales,
    edge: scalesEdge,
    live: {
      sleep: (ms, signal) => sleep(ms, undefined, { ref: false, ...(signal && { signal }) }),
      connections: new Map([['scales', connections]]),
      origins: [],
      changes,
    },
  })
  const address = (await edge.app.listen({ port: 0, host: '127.0.0.1' })).replace('http:', 'ws:')
  const ann = await as(edge, 'ann')
  await ann.sendCommand('PUT', `${LOC}/members/bob`)
  const bob = await as(edge, 'bob')
  const watch = async (token: string, more: { readonly autoPong?: boolean } = {}) => {
    const socket = new WebSocket(`${address}/v1/live?loc=loc-001`, {
      ...more,
      headers: { authorization: `Bearer ${token}` },
    })
    const closed = once(socket, 'close').then(([code]) => code as number)
    await once(socket, 'message')
    return { socket, closed }
  }
  return { edge, ann, bob, watch, open }
}

test('a removed member and a user with a revoked token receive no changes within a minute, and others still do', async () => {
  const { edge, ann, bob, watch } = await openWatched()
  const [member, screen, owner] = [await watch(bob.token), await watch(await edge.token('ann')), await watch(ann.token)]
  const issued = edge.events.findLast(({ type }) => type === 'PatIssued') as Event<string, { readonly patId: string }>
  await minute(member.socket, screen.socket, owner.socket)
  expect([member, screen, owner].map(({ socket }) => socket.readyState)).toEqual([1, 1, 1])
  expect((await ann.sendCommand('DELETE', `${LOC}/members/bob`)).status).toBe(200)
  await edge.commands.append([
    {
      ...issued,
      type: 'PatRevoked',
      meta: { ...issued.meta, eventId: 'revoked' },
      data: { patId: issued.data.patId },
      personal: null,
    },
  ])
  await minute(owner.socket)
  expect(await Promise.all([member.closed, screen.closed])).toEqual([4003, 4003])
  expect(owner.socket.readyState).toBe(1)
  await edge.app.close()
})

test('if the store does not answer in time, the viewer is disconnected with a reason, without the error of a client library', async () => {
  const connections = { opened: () => new Promise<void>(() => {}), closed: async () => {} }
  const lines: string[] = []
  const edge = await openMemoryEdge({
    domain: scales,
    edge: scalesEdge,
    limits: { readMs: 300, waitMs: 100 },
    live: {
      sleep: (ms, signal) => sleep(ms, undefined, { ref: false, ...(signal && { signal }) }),
      connections: new Map([['scales', connections]]),
      origins: [],
      changes,
    },
    logger: pino(logOptions('warn'), { write: (line: string) => void lines.push(line) }),
  })
  const address = (await edge.app.listen({ port: 0, host: '127.0.0.1' })).replace('http:', 'ws:')
  const ann = await as(edge, 'ann')
  await ann.sendCommand('PUT', `${LOC}/members/bob`)
  const socket = new WebSocket(`${address}/v1/live?loc=loc-001`, { headers: { authorization: `Bearer ${ann.token}` } })
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer]
  expect([code, reason.toString()]).toEqual([1011, 'the server cannot read its store now: connect again later'])
  expect(lines.join('')).toContain('too-slow')
  await edge.app.close()
})

test('S54: a connection that does not answer a ping is closed and removed', async () => {
  const { edge, ann, watch, open } = await openWatched()
  const [dead, alive] = [await watch(ann.token, { autoPong: false }), await watch(ann.token)]
  expect(open.size).toBe(2)
  await minute(alive.socket)
  expect(await dead.closed).toBe(1006)
  await vi.waitFor(() => expect(open.size).toBe(1))
  expect(alive.socket.readyState).toBe(1)
  await edge.app.close()
})
