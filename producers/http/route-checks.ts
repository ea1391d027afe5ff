import { Fault } from '../../schemas/fault.ts'
import { isObject } from '../../schemas/object.ts'
import { ownerOf, requireDistinct } from '../distinct.ts'
import type { DomainEdge } from './domain.ts'
import type { Route } from './route.ts'

type CheckedEdge = Pick<DomainEdge, 'name' | 'routes'>

/**
 * Checks the routes of all domains before the server registers them. Throws the fault `bad-config` if two routes have the same method and path or
 * the same operationId, or if the type of a query parameter is not string.
 */
export const checkRoutes = (domains: readonly CheckedEdge[]): void => {
  const distinct = (noun: string, valueOf: (route: Route) => string): void =>
    requireDistinct(
      noun,
      domains.flatMap((domain) => domain.routes.map((route) => ({ value: valueOf(route), owner: ownerOf(domain) }))),
    )
  // Two paths that differ only in the names of their parameters are the same path.
  distinct('route', ({ method, url }) => `${method} ${url.replaceAll(/:\w+/g, ':id')}`)
  distinct('operationId', ({ operationId }) => operationId)
  for (const { routes } of domains) for (const route of routes) requireTexts(route)
}

/** Throws if the type of a query parameter is not string. The edge does not convert text to numbers, so it would refuse every request with it. */
const requireTexts = ({ operationId, query }: Route): void => {
  const { properties } = query ?? {}
  for (const [name, schema] of Object.entries(isObject(properties) ? properties : {}))
    if (isObject(schema) && schema['type'] !== undefined && schema['type'] !== 'string')
      throw new Fault(
        'bad-config',
        `The query parameter ${name} of ${operationId} has the type ${JSON.stringify(schema['type'])}, but a query contains only strings. Declare { type: 'string' } with a pattern, and convert the value in the route.`,
      )
}
