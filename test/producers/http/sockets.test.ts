import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openMemoryEdge, type MemoryEdge } from '../memory-edge.ts'

let edge: MemoryEdge
beforeAll(async () => {
  edge = await openMemoryEdge()
  await edge.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => edge.app.close())

/** Everything the server says on a connection until it ends it. */
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
  ['two lengths of one body', 'POST /v1/meals HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}', 400, 'bad-request'],
  ['headers without an end', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, 431, 'headers-too-large'],
])('%s is answered by a problem, and the connection is closed', async (_what, bytes, status, code) => {
  const text = await answered(bytes)
  expect(text).toContain(`HTTP/1.1 ${status}`)
  expect(text).toContain('content-type: application/problem+json')
  expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))).toMatchObject({ code, status })
})

test('after what could not be read, others are still served', async () => {
  await answered('nonsense\r\n\r\n')
  expect(await answered('GET /openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toContain('HTTP/1.1 200')
})
