import type { NewToken } from './operations/token.ts'
import type { Ask } from './reach.ts'

export interface DemoOptions {
  readonly domain: string
  readonly seconds: number
  readonly rate: number
  readonly seed: number
  readonly json?: true
}

/** What was sent, and what became of it. */
export interface Tally {
  readonly statuses: Map<number, number>
  readonly millis: number[]
  failed: number
  /** How to see what came of it. */
  look?: string
}

/** Where a demo sends what it makes up. */
export interface DemoPlace {
  readonly ask: Ask
  readonly url: string
  /** Null where devices cannot speak. */
  readonly mqtt: string | null
  readonly tally: Tally
}

export const tokenOf = async (ask: Ask, user: string, domain: string): Promise<string> =>
  ((await ask('token-create', { user, domain, scopes: 'read,write', name: 'demo' })) as NewToken).token

export interface DemoRequest {
  readonly method: string
  readonly path: string
  readonly token: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** What was answered; a body that is no JSON is nothing. */
export interface DemoAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** Sends to the real edge, and counts what became of it. */
export const sending = ({ url, tally }: Pick<DemoPlace, 'url' | 'tally'>) => async ({ method, path, token, headers, body }: DemoRequest): Promise<DemoAnswer> => {
  const began = performance.now()
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { ...headers, authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  note(tally, answer.status, began)
  return { status: answer.status, body: text.startsWith('{') ? (JSON.parse(text) as DemoAnswer['body']) : {} }
}

export const note = (tally: Tally, status: number, began: number): void => {
  tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
  tally.millis.push(performance.now() - began)
  if (status >= 500 || status === 401) tally.failed += 1
}
