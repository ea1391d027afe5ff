import { createSessions } from '../../../host/wiring/sessions.ts'
import { action } from '../../../producers/http/route.ts'
import { mealsEdge } from '../../../producers/meals/edge.ts'
import { targetRoutes } from '../../../producers/meals/target-routes.ts'
import type { Scheme } from '../../../producers/http/scheme.ts'
import type { MemoryEdgeOptions } from '../../../testing/edge/edge.ts'
import { NOON } from '../../../testing/event.ts'
import { send, type EdgeRequest } from '../../../testing/edge/request.ts'
import { memoryStore } from '../../../testing/memory-store.ts'
import { openMealsEdge } from '../meals/edge.ts'

const whoAmI = {
  url: '/who',
  summary: 'Return the caller.',
  status: 200,
  result: { type: 'object', additionalProperties: true },
  perform: async ({
    caller: { user, patId, email = null },
  }: Parameters<Parameters<typeof action>[0]['perform']>[0]) => ({
    status: 200,
    json: { user, hasToken: patId !== null, email },
  }),
} as const

/** The origin of the edge in these tests. */
export const ORIGIN = 'http://localhost:8080'

/** An edge to which people can sign in. */
export const openSignIn = async (options: Partial<MemoryEdgeOptions> = {}, schemes: readonly Scheme[] = []) => {
  const clock = { at: NOON, now: () => clock.at }
  const store = memoryStore()
  const sessions = createSessions({ stores: { create: async () => store }, clock })
  const routes = [
    ...targetRoutes,
    action({ ...whoAmI, method: 'GET', operationId: 'getWho' }),
    action({ ...whoAmI, method: 'POST', operationId: 'postWho' }),
  ]
  const edge = await openMealsEdge({
    signIn: { sessions, origins: ['https://app.example'], schemes },
    ...options,
    edge: { ...mealsEdge, routes },
  })
  const advance = (ms: number) => {
    clock.at += ms
    edge.clock.at = clock.at
  }
  const call = (request: EdgeRequest) =>
    send(edge.app, { ...request, headers: { host: 'localhost:8080', ...request.headers } })
  const signIn = async (token: string, cookie?: string) => {
    const answer = await call({
      method: 'POST',
      url: '/auth/session',
      token,
      ...(cookie !== undefined && { headers: { cookie } }),
    })
    const set = String(answer.headers['set-cookie'])
    return { answer, set, cookie: set.slice(0, set.indexOf(';')), csrf: String(answer.body['csrfToken']) }
  }
  /** A request with the cookie of a session that changes something. */
  const post = (cookie: string, headers: Readonly<Record<string, string>>, url = '/who') =>
    call({ method: 'POST', url, headers: { cookie, ...headers } })
  return { ...edge, sessions, store, advance, call, signIn, post }
}
