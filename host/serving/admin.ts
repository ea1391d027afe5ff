import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import { isFault } from '../../schemas/fault.ts'
import { deadlineAfter } from '../../producers/deadline.ts'
import { tooSlow } from '../../producers/commands.ts'

export interface Readiness {
  /** True if this process can serve requests. */
  readonly ready: boolean
  readonly text: string
}

export interface AdminParts {
  readonly readiness: () => Promise<Readiness>
  readonly metrics: () => Promise<string>
  /** Resolves to the names of the tables that serve now, by domain. */
  readonly tables: () => Promise<unknown>
  /** Called with the error if a request fails, to log it. The answer does not contain the message of the error. */
  readonly failed: (error: unknown) => void
}

const DEADLINE_MS = 5_000

/** The server for operators and their tools: liveness, readiness, metrics, tables. It must not be public. */
export const createAdmin = (parts: AdminParts): Server =>
  createServer((request, response) => {
    const answer = request.method === 'GET' || request.method === 'HEAD' ? ANSWERS[request.url ?? ''] : undefined
    if (answer === undefined) return send(response, 404, ['There are /livez, /readyz, /metrics and /v1/tables here.\n'])
    deadlineAfter(DEADLINE_MS)
      .within(answer(parts), tooSlow)
      .then(
        ({ status = 200, content }) => send(response, status, content),
        (error: unknown) => {
          parts.failed(error)
          send(response, isFault(error) ? 503 : 500, [`${failureText(error)}\n`])
        },
      )
  })

type Content = readonly [text: string, type?: string]

const ANSWERS: Readonly<
  Record<string, (parts: AdminParts) => Promise<{ readonly status?: number; readonly content: Content }>>
> = {
  '/livez': () => Promise.resolve({ content: ['alive\n'] }),
  '/readyz': async ({ readiness }) => {
    const { ready, text } = await readiness()
    return { status: ready ? 200 : 503, content: [`${text}\n`] }
  },
  '/metrics': async ({ metrics }) => ({ content: [await metrics(), 'text/plain; version=0.0.4; charset=utf-8'] }),
  '/v1/tables': async ({ tables }) => ({ content: [`${JSON.stringify(await tables())}\n`, 'application/json'] }),
}

/** The text for an error in an answer: the code of a fault and a fixed text. It never contains the message, which may quote a client library. */
export const failureText = (error: unknown): string =>
  isFault(error)
    ? `${error.code}: ${WHAT_FAILED[error.code.split('-')[0] ?? ''] ?? 'it failed'}; see the log and docs/errors.md`
    : 'internal: it failed; see the log'

const WHAT_FAILED: Readonly<Record<string, string>> = {
  log: 'the log cannot be read',
  topic: 'the log cannot be read',
  store: 'the store cannot be read or written',
  disk: 'the disk is full',
  table: 'the table of the serving generation is missing or incomplete',
  checkpoint: 'the table of the serving generation was replaced',
  data: 'the data folder is damaged',
  series: 'the series cannot be read',
  too: 'the log or the store does not answer in time',
}

const TEXT = 'text/plain; charset=utf-8'

const send = (response: ServerResponse, status: number, [text, type = TEXT]: Content): void => {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
  response.end(text)
}
