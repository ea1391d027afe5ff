import type { FastifyInstance } from 'fastify'

/** A request to an edge in a test. */
export interface EdgeRequest {
  /** Default: GET. */
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  readonly url: string
  /** Sent as the bearer token. Default: no token. */
  readonly token?: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is, instead of a body, with the content type of JSON. */
  readonly raw?: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/** The parsed JSON of an answer, with the fields that tests often read. A field that the answer does not contain is undefined. */
export interface AnswerBody {
  readonly id: string
  readonly token: string
  readonly event: string
  readonly cursor?: string
  readonly items: readonly AnswerBody[]
  readonly errors: readonly { readonly pointer: string }[]
  readonly paths: Readonly<Record<string, object>>
  readonly [name: string]: unknown
}

/** The answer of an edge in a test. */
export interface EdgeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  /** An empty object if the answer is not JSON. */
  readonly body: AnswerBody
  readonly text: string
}

/** Sends a request to an edge without a network, and returns its answer. */
export const send = async (
  app: FastifyInstance,
  { method = 'GET', url, token, body, raw, headers }: EdgeRequest,
): Promise<EdgeAnswer> => {
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await app.inject({
    method,
    url,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(payload === undefined ? {} : { payload }),
  })
  const isJson = response.body !== '' && String(response.headers['content-type']).includes('json')
  return {
    status: response.statusCode,
    headers: response.headers,
    body: isJson ? response.json<AnswerBody>() : ({} as AnswerBody),
    text: response.body,
  }
}
