import { request, type Agent } from 'node:http'

/** The result of one request to the callback. `error`: no answer within the time, or no connection. */
export type CallbackResult = { readonly status: number; readonly body: string } | { readonly error: string }

/** Whether the service can call a URL. It has no TLS. */
export const isCallbackUrl = (text: string): boolean => URL.canParse(text) && new URL(text).protocol === 'http:'

/** Sends one request to a callback for which `isCallbackUrl` is true. Never rejects. */
export const callCallback = (
  url: URL,
  { method, body, timeoutMs, agent }: { method: string; body?: string; timeoutMs: number; agent: Agent },
): Promise<CallbackResult> =>
  new Promise((resolve) => {
    const headers =
      body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }
    const outgoing = request(url, { method, agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => finish({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }))
      response.on('error', fail)
    })
    const timer = setTimeout(() => outgoing.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
    const finish = (result: CallbackResult): void => {
      clearTimeout(timer)
      resolve(result)
    }
    const fail = (error: Error): void => finish({ error: error.message })
    outgoing.on('error', fail)
    outgoing.end(body)
  })
