import { Check } from 'typebox/schema'
import { expect } from 'vitest'
import { NOTE_SOURCE } from '../../producers/http/notes.ts'
import type { Route } from '../../producers/http/route.ts'
import { DERIVED_SOURCE, type Event } from '../../schemas/event.ts'
import { send, type EdgeAnswer, type EdgeRequest } from '../edge/request.ts'
import type { Rule, Scene } from './case.ts'
import type { EdgeCase } from './scene.ts'

/** Makes a rule that opens the scene, applies `rule` to it, and then runs the check of the case. */
export const inScene =
  (rule: (subject: EdgeCase, scene: Scene) => Promise<void>): Rule<EdgeCase> =>
  async (subject) => {
    const scene = await subject.open()
    try {
      await rule(subject, scene)
      await subject.check?.(scene)
    } finally {
      await scene.edge.app.close()
    }
  }

const nameOf = ({ method = 'GET', url }: EdgeRequest): string => `${method} ${url.slice(0, 200)}`

const expectProblem = ({ status, headers, body }: EdgeAnswer, name: string): void => {
  expect(String(headers['content-type']), name).toContain('application/problem+json')
  expect(body, name).toMatchObject({
    code: expect.stringMatching(/^[a-z0-9-]+$/),
    status,
    title: expect.any(String),
    detail: expect.any(String),
  })
}

/** A log key is an id, or several ids with a prefix. It must not contain `#`, which separates the parts of the keys of items. */
const LOG_KEY = /^[A-Za-z0-9][A-Za-z0-9_.:@+/=-]{0,131}$/

/** True for the event of the request itself. False for derived events, for events that record a request after its answer, and for events about the use of a token. */
const isOfRequest = ({ type, meta }: Event): boolean =>
  type !== 'PatUsed' && type !== 'ApiUsageSampled' && meta.source !== DERIVED_SOURCE && meta.source !== NOTE_SOURCE

/**
 * Sends a request and expects that the answer keeps the rules for all requests. The status is below 500, unless `unavailable` contains the
 * code. An error is a problem document. A request with an error appends no event, or the fold refused its last event. Every event has a valid
 * log key. A success has the form that the route declares. Without a route the form is not checked.
 */
export const expectAnswer = async (
  request: EdgeRequest,
  { edge, token }: Scene,
  { unavailable = [], route }: { readonly unavailable?: readonly string[] | undefined; readonly route?: Route },
): Promise<EdgeAnswer> => {
  const before = edge.events.length
  const answer = await send(edge.app, { token, ...request })
  const { status, body, text } = answer
  const appended = edge.events
    .slice(before)
    .map((event, index) => ({ ...event, outcome: edge.outcomes.get(before + index) }))
    .filter(isOfRequest)
  if (status >= 500 && !unavailable.includes(String(body['code'])))
    throw new Error(`${nameOf(request)} was answered ${status}: ${text}`)
  if (status >= 400) {
    expectProblem(answer, nameOf(request))
    if (appended.length > 0)
      expect([appended.at(-1)?.outcome?.kind, status], nameOf(request)).toEqual([
        'refused',
        expect.toSatisfy((each: number) => [403, 404, 409, 422].includes(each)),
      ])
  } else if (route !== undefined && 'status' in route && route.status === status)
    expect(Check(route.result, body), `${nameOf(request)} answered what its schema does not allow: ${text}`).toBe(true)
  for (const { type, meta } of appended)
    expect(meta.key, `the log key of ${type} by ${nameOf(request)}`).toMatch(LOG_KEY)
  return answer
}

interface Expected {
  readonly status?: number
  readonly code?: string
  readonly pointer?: string
}

/** Sends a request, and expects that the edge refuses it with a problem document that names the mistake, and appends nothing. */
export const expectRefusal = async (
  request: EdgeRequest,
  { edge, token }: Scene,
  { status = 400, code, pointer }: Expected,
): Promise<void> => {
  const before = edge.events.length
  const answer = await send(edge.app, { token, ...request })
  const name = `${nameOf(request)} with ${JSON.stringify(request.body ?? request.raw ?? request.headers ?? null)?.slice(0, 300)}`
  expect(answer.status, `${name}: ${answer.text}`).toBe(status)
  expectProblem(answer, name)
  if (code !== undefined)
    expect(
      [answer.body['code'], ...(answer.body.errors ?? []).map((error) => (error as { code?: string }).code)],
      name,
    ).toContain(code)
  if (pointer !== undefined)
    expect(
      (answer.body.errors ?? []).map((error) => error.pointer.slice(0, pointer.length)),
      name,
    ).toContain(pointer)
  expect(
    edge.events
      .slice(before)
      .filter(isOfRequest)
      .map(({ type }) => type),
    name,
  ).toEqual([])
}
