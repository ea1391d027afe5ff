import { request, type Agent } from 'node:http'

/** The result of one request to the callback. `error`: no answer within the time, or no connection. */
export type CallbackResult = { readonly status: number; readonly body: string } | { readonly error: string }

/** Sends one request to the callback. Never rejects. */
export const callCallback = (
  url: URL,
  { method, body, timeoutMs, agent }: { method: string; body?: string; timeoutMs: number; agent: Agent },
): Promise<CallbackResult> =>
  new Promise((resolve) => {
    const headers =
      body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }
    const outgoing = request(url, { method, agent, headers, signal: AbortSignal.timeout(timeoutMs) }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }))
      response.on('error', fail)
    })
    const fail = (error: Error): void => {
      const isLate = error.name === 'AbortError' || error.name === 'TimeoutError'
      resolve({ error: isLate ? `no answer within ${timeoutMs} ms` : error.message })
    }
    outgoing.on('error', fail)
    outgoing.end(body)
  })
