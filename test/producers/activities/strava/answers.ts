import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One answer of the stand-in. `hang`: the stand-in never answers. `cut`: it closes the connection. */
export type Answer =
  | { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> }
  | 'hang'
  | 'cut'

export interface Answers {
  readonly url: string
  /** Every request as `METHOD /path?query`, its authorization and its body. */
  readonly requests: readonly { readonly target: string; readonly authorization: string; readonly body: string }[]
  /** Sets the answers to the next requests, in their order. The last answer repeats. */
  next(...answers: readonly Answer[]): void
  stop(): Promise<void>
}

/** A server on 127.0.0.1 that gives prepared answers. */
export const startAnswers = async (): Promise<Answers> => {
  let answers: readonly Answer[] = []
  const requests: { target: string; authorization: string; body: string }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (part: string) => (body += part))
    request.on('end', () => {
      requests.push({
        target: `${request.method ?? ''} ${request.url ?? ''}`,
        authorization: request.headers.authorization ?? '',
        body,
      })
      const [answer = 'cut', ...rest] = answers
      if (rest.length > 0) answers = rest
      give(answer, request, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    next: (...next) => void (answers = next),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

const give = (answer: Answer, request: IncomingMessage, response: ServerResponse): void => {
  if (answer === 'hang') return
  if (answer === 'cut') return void request.socket.destroy()
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body)
}

export const json = (status: number, body: unknown, headers?: Readonly<Record<string, string>>): Answer => ({
  status,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  ...(headers && { headers }),
})

/** An error in the form of Strava. */
export const errorAnswer = (status: number, resource: string, field: string, code: string): Answer =>
  json(status, { message: 'Error', errors: [{ resource, field, code }] })
