/** `tributary/domain`: everything that a domain in a package of its own needs. docs/api.md lists every export. */

export { configurableEdge, defineDomain } from '../domains/record.ts'
export type {
  ConfigurableEdge,
  ConfiguredEdge,
  DomainRecord,
  Edge,
  Partitions,
  ServiceCheck,
} from '../domains/record.ts'

// Events
export { FORGOTTEN } from '../schemas/event.ts'
export type { Event, EventMeta, Forgotten } from '../schemas/event.ts'
export type { CommonEvent, PersonForgotten } from '../schemas/generated/common.ts'

// Items, keys and queries
export { getAll, oncePerReader, pageOf, partition } from '../projections/entity.ts'
export type { Entity, KeyOf, Paging } from '../projections/entity.ts'
export type { Item, Key } from '../projections/item.ts'
export type { IndexSpec, KindSpec, Page, Query, Reader, TableSpec } from '../projections/table.ts'
export { inUser, isUser, userIn, userPartition } from '../projections/access/keys.ts'
export { ACCESS_KINDS, TOKEN_INDEX, TTL } from '../projections/access/table.ts'
export { dayNumberOf, isoOf, msOf, startOf, utcDateOf } from '../projections/instant.ts'
export { KEY } from '../projections/personal.ts'
export type { PersonalByKind, PersonalOf } from '../projections/personal.ts'

// Folds
export { DUPLICATE, MAX_CHANGES, NOTHING, projection, removed } from '../projections/projection.ts'
export type {
  Change,
  Derived,
  Domain,
  Folds,
  Get,
  PersonalItems,
  Projection,
  Result,
  Timer,
} from '../projections/projection.ts'
export { refusing } from '../projections/refusal.ts'
export type { RefusalKind, Refusals } from '../projections/refusal.ts'
export { forgetting } from '../processors/folding/forgotten.ts'
export { accessFolds } from '../processors/folding/tokens.ts'
export { startWork } from '../processors/folding/work.ts'
export type { Work } from '../processors/folding/work.ts'

// Series
export type { Point, SeriesSpec } from '../projections/series.ts'

// The edge
export { access } from '../producers/access/access.ts'
export { accessRefusals } from '../projections/access/refusals.ts'
export { drafts } from '../producers/http/drafts.ts'
export { listing } from '../producers/http/lists.ts'
export { pathId } from '../producers/http/path-id.ts'
export { mistake, Problem, refusedEarly } from '../producers/http/problem.ts'
export { command, question } from '../producers/http/route.ts'
export type { Batch, Call, Command, Decision, JsonSchema, Question, Route } from '../producers/http/route.ts'
export { optional, shape } from '../producers/http/shape.ts'
export type { Scheme } from '../producers/http/scheme.ts'
export type { Webhook } from '../producers/http/webhook.ts'
export type { LiveSpec } from '../producers/live/spec.ts'

// Commands of operators
export { COMMON_INTERNAL, words, within } from '../producers/append-rules.ts'
export type { AppendRules, FieldRule } from '../producers/append-rules.ts'
export { createSender } from '../producers/demo/demo.ts'
export type { Demo } from '../producers/demo/demo.ts'
export type { Exporter } from '../producers/exporting.ts'
export type { Importer } from '../projections/importing.ts'
export type { ItemFormatter } from '../projections/item-formatter.ts'
export { formed, secret, url, variable } from '../producers/variables.ts'

// The simulation
export { workloadOf } from '../simulation/workload-of.ts'
export type { DrawState, FinalState, WorkloadOptions } from '../simulation/workload-of.ts'
export type { DomainSimulation } from '../simulation/domain.ts'
export type { EventDraft } from '../simulation/workload.ts'
export type { Random } from '../simulation/random.ts'
