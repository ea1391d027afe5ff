import type { FastifyInstance, HTTPMethods } from 'fastify'
import { sendProblem } from './errors.ts'
import { Problem } from './problem.ts'

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

type Methods = Map<string, Set<string>>

/** Which methods each path has, as routes are added. */
export const rememberMethods = (app: FastifyInstance): Methods => {
  const methods: Methods = new Map()
  app.addHook('onRoute', ({ url, method }) => {
    const known = methods.get(url) ?? new Set()
    methods.set(url, known)
    for (const each of [method].flat()) known.add(each)
  })
  return methods
}

/** 405 where the path is right and the method is not. To be registered last. */
export const refuseOtherMethods = async (scope: FastifyInstance, methods: Methods): Promise<void> => {
  for (const [url, known] of [...methods]) {
    const allow = METHODS.filter((method) => known.has(method)).join(', ')
    const others = METHODS.filter((method) => !known.has(method))
    scope.route({
      method: others,
      url,
      schema: { hide: true },
      onRequest: async (_request, reply) => sendProblem(reply, new Problem(405, 'method-not-allowed', `This path has ${allow}.`, { headers: { allow } })),
      handler: (_request, reply) => reply,
    })
  }
}
