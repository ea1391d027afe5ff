import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MemoryEdge } from '../../../testing/edge/edge.ts'
import { openMealsEdge } from '../meals/edge.ts'

let edge: MemoryEdge
beforeAll(async () => {
  edge = await openMealsEdge()
  await edge.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => edge.app.close())

/** Sends bytes on a new connection. Resolves to everything that the server sends until it closes the connection. */
const answered = (bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect((edge.app.server.address() as AddressInfo).port, '127.0.0.1', () => socket.write(bytes))
    let text = ''
    socket.on('data', (part) => (text += part.toString()))
    socket.on('end', () => resolve(text))
    socket.on('error', reject)
  })

test.each([
  ['what is not HTTP', 'EHLO example\r\n\r\n', 400, 'bad-request'],
  ['a header without a name', 'GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n', 400, 'bad-request'],
  [
    'two lengths of one body',
    'POST /v1/meals HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
    400,
    'bad-request',
  ],
  ['headers without an end', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, 431, 'headers-too-large'],
])('%s is answered by a problem, and the connection is closed', async (_what, bytes, status, code) => {
  const text = await answered(bytes)
  expect(text).toContain(`HTTP/1.1 ${status}`)
  expect(text).toContain('content-type: application/problem+json')
  expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))).toMatchObject({ code, status })
})

test('after an unreadable request, others are still answered', async () => {
  await answered('nonsense\r\n\r\n')
  expect(await answered('GET /openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toContain('HTTP/1.1 200')
})

describe('a request that arrives too slowly', () => {
  let slow: MemoryEdge
  beforeAll(async () => {
    slow = await openMealsEdge({ limits: { arrivalMs: 300, waitMs: 1_000 } })
    await slow.app.listen({ host: '127.0.0.1', port: 0 })
  })
  afterAll(() => slow.app.close())

  /** Sends the head, and then a blank every 20 ms until the connection is closed. Resolves to the answer. */
  const trickled = (head: string): Promise<string> =>
    new Promise((resolve) => {
      let sending: NodeJS.Timeout | undefined
      const socket: Socket = connect((slow.app.server.address() as AddressInfo).port, '127.0.0.1', () => {
        socket.write(head)
        // The blanks begin after the head, because a request that begins with a blank is unreadable.
        sending = setInterval(() => socket.write(' '), 20)
      })
      let text = ''
      socket.on('data', (part) => (text += part.toString()))
      // The server can reset the connection, because this client never stops sending.
      socket.on('error', () => undefined)
      socket.on('close', () => {
        clearInterval(sending)
        resolve(text)
      })
    })

  test.each([
    [
      'a body',
      (token: string) =>
        `POST /v1/meals HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{`,
    ],
    ['the headers', () => 'POST /v1/meals HTTP/1.1\r\nHost: x\r\nX: '],
  ])(
    '%s that arrives too slowly is cut off at the deadline: 408, and the connection is closed',
    async (_what, head) => {
      const text = await trickled(head(await slow.token('ann')))
      expect(text).toContain('HTTP/1.1 408')
      expect(text).toContain('content-type: application/problem+json')
      expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))).toMatchObject({
        code: 'request-timeout',
        status: 408,
      })
    },
  )

  test('an answer that takes longer than the deadline is not cut off', async () => {
    const { port } = slow.app.server.address() as AddressInfo
    const after = `0:999999:${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}`
    const answer = await fetch(`http://127.0.0.1:${port}/v1/targets`, {
      headers: { authorization: `Bearer ${await slow.token('ann')}`, 'tributary-after': after },
    })
    expect(await answer.json()).toMatchObject({ status: 503, code: 'not-yet-visible' })
  })
})
