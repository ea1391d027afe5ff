/** `tributary/testing`: helpers for the tests of a domain in a package of its own, with vitest and fast-check. docs/api.md lists every export. */

// Folds
export { contents, foldsOf } from '../testing/folds.ts'
export type { FoldedExample, Folds, Given, Table } from '../testing/folds.ts'
export { eventOf, metaOf, NOON } from '../testing/event.ts'
export type { EventParts } from '../testing/event.ts'

// The contract of a domain
export { domainContract } from '../testing/contract/contract.ts'
export type {
  ContractCase,
  ContractRecord,
  EventCase,
  HttpCase,
  Pools,
  Scene,
  Values,
} from '../testing/contract/case.ts'
export { PROPERTY_SEED, propertyRuns, inputCount } from '../testing/property-runs.ts'

// The edge
export { edgeOf, openMemoryEdge, OPEN_LIMITS } from '../testing/edge/edge.ts'
export type { MemoryEdge, MemoryEdgeOptions } from '../testing/edge/edge.ts'
export { memoryOutside } from '../testing/edge/outside.ts'
export type { MemoryOutside } from '../testing/edge/outside.ts'
export { send } from '../testing/edge/request.ts'
export type { AnswerBody, EdgeAnswer, EdgeRequest } from '../testing/edge/request.ts'

// The simulation
export { simulateDomain } from '../testing/simulation.ts'
export type { SimulateDomainOptions } from '../testing/simulation.ts'
