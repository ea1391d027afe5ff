/** `tributary/domain`: everything that a domain in a package of its own needs. docs/api.md lists every export. */

export { configurableEdge, defineDomain } from '../domains/record.ts'
export type {
  ConfigurableEdge,
  ConfiguredEdge,
  DomainRecord,
  Edge,
  Outside,
  LocalService,
  RunningService,
  ServiceCheck,
  WriteWorkload,
} from '../domains/record.ts'

// Events
export { FORGOTTEN } from '../schemas/event.ts'
export type { Event, EventMeta, Forgotten } from '../schemas/event.ts'
export type { CommonEvent, PersonForgotten } from '../schemas/generated/common.ts'

// Items, keys and queries
export { getAll, oncePerReader, pageOf, partition } from '../projections/entity.ts'
export type { Entity, KeyOf, Paging, Range } from '../projections/entity.ts'
export type { Item, Key } from '../projections/item.ts'
export type { IndexSpec, KindSpec, Page, Query, Reader, TableSpec } from '../projections/table.ts'
export { inUser, isUser, USER_PARTITIONS, userIn, userPartition } from '../projections/access/keys.ts'
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
  Partitions,
  PersonalItems,
  Projection,
  Result,
  Timer,
} from '../projections/projection.ts'
export { MAX_LISTED } from '../projections/ask.ts'
export type {
  Ask,
  AskAnswer,
  AskCall,
  AskHandler,
  AskHandlers,
  AskKind,
  AskKinds,
  AskResult,
  CallBudget,
  ForgetBody,
  ListBody,
  RateWindow,
  ReportedUse,
} from '../projections/ask.ts'
export { refusing } from '../projections/refusal.ts'
export type { Refused, RefusalKind, Refusals } from '../projections/refusal.ts'
export { forgetting } from '../processors/folding/forgotten.ts'
export { accessFolds } from '../processors/folding/tokens.ts'
export { startWork } from '../processors/folding/work.ts'
export type { Work } from '../processors/folding/work.ts'

// Series
export { meanOf, united } from '../projections/bins.ts'
export { PARTS } from '../projections/series.ts'
export type {
  Aggregate,
  Bin,
  Binning,
  Point,
  PointValue,
  SeriesGeneration,
  SeriesReader,
  SeriesSpec,
  Stretch,
  ValueType,
} from '../projections/series.ts'

// The edge
export { access } from '../producers/access/access.ts'
export { accessRefusals } from '../projections/access/refusals.ts'
export type { Access } from '../producers/http/auth.ts'
export type { DomainEdge } from '../producers/http/domain.ts'
export { drafts } from '../producers/http/drafts.ts'
export { eventMeta } from '../producers/http/event-meta.ts'
export type { EventMetaParts } from '../producers/http/event-meta.ts'
export { listing } from '../producers/http/lists.ts'
export { pathId } from '../producers/http/path-id.ts'
export type { AnsweredRequest, Note, NotedAnswer } from '../producers/http/notes.ts'
export { mistake, Problem, refusedEarly } from '../producers/http/problem.ts'
export { action, command, question } from '../producers/http/route.ts'
export type {
  Action,
  ActionCall,
  ActionDecision,
  Appended,
  Batch,
  Call,
  Caller,
  Collected,
  Command,
  Cookie,
  Decision,
  Document,
  Draft,
  FurtherReaders,
  JsonSchema,
  Question,
  Reply,
  Route,
  TrackedSeries,
} from '../producers/http/route.ts'
export { optional, shape } from '../producers/http/shape.ts'
export type { Shape } from '../producers/http/shape.ts'
export type { OpenSession, PresentedRequest, Profile, Recognised, Scheme } from '../producers/http/scheme.ts'
export type { UserSessions } from '../producers/access/sessions.ts'
export type { Secret, Secrets } from '../processors/engine/ports/secrets.ts'
export type { Webhook, WebhookCall } from '../producers/http/webhook.ts'
export { derivedId } from '../producers/ids.ts'
export type { Connection, ConnectionStorage, LiveSpec } from '../producers/live/spec.ts'
export type {
  DeviceEvents,
  DeviceMessage,
  DeviceOwner,
  DeviceSpec,
  DeviceTopic,
  MessageSender,
} from '../producers/mqtt/spec.ts'
export { formed, Mistake, secret, url, variable } from '../producers/variables.ts'
export type { Parse, Values, Variable, Variables } from '../producers/variables.ts'

// Commands of operators
export { COMMON_INTERNAL, DAY, HASH, matching, words, within } from '../producers/append-rules.ts'
export type { AppendRules, FieldRule } from '../producers/append-rules.ts'
export { createSender } from '../producers/demo/demo.ts'
export type { Demo, DemoAnswer, DemoOptions, DemoRequest, DemoTarget, Tally } from '../producers/demo/demo.ts'
export type { Exporter, ExportPaging, ExportRow } from '../producers/exporting.ts'
export type {
  ImportedEvent,
  Importer,
  ImportLine,
  ImportOption,
  ImportOptions,
  Origin,
  ReadRow,
} from '../projections/importing.ts'
export type { ItemFormatter } from '../projections/item-formatter.ts'

// The simulation
export { workloadOf } from '../simulation/workload-of.ts'
export type { DrawState, FinalState, WorkloadOptions } from '../simulation/workload-of.ts'
export type { DomainSimulation } from '../simulation/domain.ts'
export type { CheckInput, EventDraft, Send, Workload } from '../simulation/workload.ts'
export type { Bug, BugContext } from '../simulation/bug.ts'
export type { Violation } from '../simulation/checkers.ts'
export type { Random } from '../simulation/random.ts'
