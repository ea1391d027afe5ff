import type { FastifyInstance, HTTPMethods } from 'fastify'
import { sendProblem } from './errors.ts'
import { Problem } from './problem.ts'

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

type Methods = Map<string, Set<string>>

/** Returns a map with the methods of each path. The map is empty at first, and each added route extends it. */
export const collectMethods = (app: FastifyInstance): Methods => {
  const methods: Methods = new Map()
  app.addHook('onRoute', ({ url, method }) => {
    const known = methods.get(url) ?? new Set()
    methods.set(url, known)
    for (const each of [method].flat()) known.add(each)
  })
  return methods
}

/** Answers 405 if the path exists, but not for the method. Must be registered last, when `methods` contains all routes. */
export const refuseOtherMethods = async (scope: FastifyInstance, methods: Methods): Promise<void> => {
  for (const [url, known] of [...methods]) {
    const allow = METHODS.filter((method) => known.has(method)).join(', ')
    const others = METHODS.filter((method) => !known.has(method))
    scope.route({
      method: others,
      url,
      schema: { hide: true },
      onRequest: async (_request, reply) =>
        sendProblem(
          reply,
          new Problem(405, 'method-not-allowed', `This path has only ${allow}.`, { headers: { allow } }),
        ),
      handler: (_request, reply) => reply,
    })
  }
}
