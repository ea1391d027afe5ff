import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import { messageOf } from '../schemas/fault.ts'

export interface Readiness {
  /** Whether requests can be served here. */
  readonly ready: boolean
  readonly text: string
}

export interface AdminParts {
  readonly readiness: () => Promise<Readiness>
  readonly metrics: () => Promise<string>
  /** Which table serves, by domain. */
  readonly tables: () => Promise<unknown>
}

/** For operators and their tools, never for the public: liveness, readiness, metrics, tables. */
export const createAdmin = (parts: AdminParts): Server =>
  createServer((request, response) => {
    const answer = request.method === 'GET' || request.method === 'HEAD' ? ANSWERS[request.url ?? ''] : undefined
    if (answer === undefined) return send(response, 404, ['There are /livez, /readyz, /metrics and /v1/tables here.\n'])
    answer(parts, response).catch((error: unknown) => send(response, 500, [`${messageOf(error)}\n`]))
  })

const ANSWERS: Readonly<Record<string, (parts: AdminParts, response: ServerResponse) => Promise<void>>> = {
  '/livez': (_, response) => Promise.resolve(send(response, 200, ['alive\n'])),
  '/readyz': async ({ readiness }, response) => {
    const { ready, text } = await readiness()
    send(response, ready ? 200 : 503, [`${text}\n`])
  },
  '/metrics': async ({ metrics }, response) => send(response, 200, [await metrics(), 'text/plain; version=0.0.4; charset=utf-8']),
  '/v1/tables': async ({ tables }, response) => send(response, 200, [`${JSON.stringify(await tables())}\n`, 'application/json']),
}

const TEXT = 'text/plain; charset=utf-8'

const send = (response: ServerResponse, status: number, [text, type = TEXT]: readonly [text: string, type?: string]): void => {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
  response.end(text)
}
