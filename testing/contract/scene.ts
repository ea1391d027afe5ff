import { edgeOf, openMemoryEdge } from '../edge/edge.ts'
import type { Edge } from '../../domains/record.ts'
import type { ContractCase, HttpCase, Scene } from './case.ts'

/** The edge of a domain, and the function with which the suite opens the edge and creates data. */
export interface EdgeCase extends Pick<HttpCase, 'unavailable' | 'check'> {
  readonly domainEdge: Edge
  open(): Promise<Scene>
}

/** The edge of the case's record. Undefined if the domain has no edge. */
export const edgeCaseOf = ({ record, pools, schemas, http = {} }: ContractCase): EdgeCase | undefined => {
  const domainEdge = edgeOf(record)
  if (domainEdge === undefined) return undefined
  const { keys, people = keys, fields } = pools
  const {
    prepare = async ({ token }) => ({
      token: await token(people[0] ?? '', ['read', 'write', 'admin']),
      values: fields?.(keys[0] ?? '') ?? {},
    }),
  } = http
  return {
    ...http,
    domainEdge,
    open: async () => {
      const edge = await openMemoryEdge({ domain: record.domain, edge: domainEdge, also: record.also, schemas })
      const { token, values } = await prepare(edge)
      // The routes of tokens have the path parameter `id`, so every scene needs a value for `id`.
      return { edge, token, values: { id: ['none'], ...values } }
    },
  }
}
