import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

type Answering = (received: Received, response: ServerResponse) => void

const ok: Answering = (_received, response) => void response.end('{}')

/** A callback that records every request. `answer` decides how it answers the next requests. */
export const startReceiver = async () => {
  const received: Received[] = []
  let answering: Answering = ok
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const one = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      text: Buffer.concat(chunks).toString(),
    }
    received.push(one)
    answering(one, response)
  }
  const server = createServer((request, response) => void serve(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/webhooks/strava/secret`,
    received,
    events: () => received.filter(({ method }) => method === 'POST').map(({ text }) => text),
    answer: (next: Answering) => void (answering = next),
    stop: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
