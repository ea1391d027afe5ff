/** The options of `tributary demo`. */
export interface DemoOptions {
  readonly domain?: string
  readonly seconds: number
  readonly rate: number
  readonly seed: number
  readonly json?: true
}

/** The number of answers per HTTP status, and the milliseconds of each request. `failed` counts 401, statuses from 500, and lost requests. */
export interface Tally {
  readonly statuses: Map<number, number>
  readonly millis: number[]
  failed: number
  /** A hint for the user: a command that shows the result. */
  hint?: string
}

/** The running server to which a demo sends its requests, and the functions that a demo uses. */
export interface DemoTarget {
  readonly url: string
  /** Null if the server has no built-in broker for devices. */
  readonly mqtt: string | null
  readonly tally: Tally
  /** The command that starts this program, for hints: for example `npx tributary`. */
  readonly calledAs: string
  readonly clock: { now(): number; sleep(ms: number, signal?: AbortSignal): Promise<void> }
  readonly signal: AbortSignal
  progress(text: string): void
  /** Creates a token of the user. Default of `scopes`: `read,write`. */
  createToken(user: string, scopes?: string): Promise<string>
}

/** Sends realistic traffic of one domain. The same seed sends the same traffic. */
export type Demo = (options: DemoOptions, target: DemoTarget) => Promise<void>

/** A request of a demo. */
export interface DemoRequest {
  readonly method: string
  readonly path: string
  readonly token: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** An answer of the edge. If it is not a JSON object, `body` is empty. */
export interface DemoAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** Returns a function that sends a request to the edge, counts the answer in `tally`, and returns the answer. */
export const createSender =
  ({ url, tally }: Pick<DemoTarget, 'url' | 'tally'>) =>
  async ({ method, path, token, headers, body }: DemoRequest): Promise<DemoAnswer> => {
    const began = performance.now()
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...headers,
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    countAnswer(tally, answer.status, began)
    return { status: answer.status, body: text.startsWith('{') ? (JSON.parse(text) as DemoAnswer['body']) : {} }
  }

export const countAnswer = (tally: Tally, status: number, began: number): void => {
  tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
  tally.millis.push(performance.now() - began)
  if (status >= 500 || status === 401) tally.failed += 1
}
