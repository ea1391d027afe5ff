import type { DomainEdge } from '../producers/http/domain.ts'
import type { AppendRules } from '../producers/append-rules.ts'
import type { UserSessions } from '../producers/access/sessions.ts'
import type { Demo } from '../producers/demo/demo.ts'
import type { Exporter } from '../producers/exporting.ts'
import type { Values, Variables } from '../producers/variables.ts'
import type { Clock } from '../processors/engine/ports/clock.ts'
import type { Secrets } from '../processors/engine/ports/secrets.ts'
import type { AskHandlers, CallBudget, RateWindow } from '../projections/ask.ts'
import type { Importer } from '../projections/importing.ts'
import type { Item } from '../projections/item.ts'
import type { ItemFormatter } from '../projections/item-formatter.ts'
import type { Domain } from '../projections/projection.ts'
import type { Event } from '../schemas/event.ts'
import type { DomainSimulation } from '../simulation/domain.ts'

/** The complete description of one domain. */
export interface DomainRecord {
  /** The topic, table, schemas and folds of the domain. */
  readonly domain: Domain
  /** The domain that folds the same log into points. Its generations are rebuilt and flipped independently of the main domain. */
  readonly series?: Domain
  /**
   * Further domains that fold the same log into tables of their own, with consumer groups of their own. Their generations are rebuilt and
   * flipped independently, and the main domain works without them.
   */
  readonly also?: readonly Domain[]
  /** Stand-ins for the outside services of the domain. */
  readonly localServices?: readonly LocalService[]
  /** Routes, tokens, authentication schemes, webhooks, device messages and live feeds. Absent if the domain accepts nothing over the network. */
  readonly edge?: Edge | ConfigurableEdge
  /** Reads the rows of other tables. Absent if the domain imports nothing. */
  readonly importer?: Importer
  /** Returns the function by which an import replaces ids of another program, if the log must not contain these ids in clear. */
  readonly pseudonyms?: (secrets: Secrets) => Promise<(id: string) => string>
  /** Exports the data of one log key. Absent if the domain exports nothing. */
  readonly exporter?: Exporter
  /** The rules by which an operator appends an event. Absent if `tributary append` refuses the domain. */
  readonly appendRules?: AppendRules
  /** Formatters by which `explain` prints some kinds of items. Default: `explain` prints each changed attribute. */
  readonly formatters?: readonly ItemFormatter[]
  /** Realistic traffic for `tributary demo`. */
  readonly demo?: () => Promise<Demo>
  /** For `tributary simulate`: the workload, the invariants, and the deliberate bugs that the simulation must find. */
  readonly simulation?: () => Promise<DomainSimulation>
  /** Workloads whose write units `npm run bench writes` counts. */
  readonly benchmarks?: () => Promise<readonly WriteWorkload[]>
}

/** The domains that fold the log of the record's main domain into tables of their own. */
export const furtherDomains = ({ series, also = [] }: Pick<DomainRecord, 'series' | 'also'>): readonly Domain[] =>
  series === undefined ? also : [series, ...also]

/** Events of one domain whose write units are counted. */
export interface WriteWorkload {
  readonly name: string
  /** Events that are appended first. Their units are not counted. */
  readonly opening: readonly Event[]
  readonly events: readonly Event[]
  /** Events within this time form one batch of at most 500 events. Absent: only single events are measured. */
  readonly batch?: { readonly name: string; readonly ms: number }
  /**
   * The items that the original design of the domain writes for an event, with one write per item. The benchmark compares their write units
   * with the units of this program. Default: the items of this program, in one transaction per event.
   */
  readonly sourceItems?: (event: Event) => readonly Item[]
}

/** The part of an edge that the domain declares. The host adds the topic, the schemas, and access to the log and the serving generation. */
export type Edge = Omit<DomainEdge, 'topic' | 'schemas' | 'commands' | 'serving' | 'end'>

/** An edge that uses outside services, which environment variables name. */
export interface ConfigurableEdge {
  readonly variables: Variables
  /** Receives the value of each variable. Adds a sentence to `mistakes` for values that do not fit together. */
  configure(values: Readonly<Record<string, unknown>>, mistakes: string[]): ConfiguredEdge
}

/** The result of `configure` of a ConfigurableEdge. */
export interface ConfiguredEdge {
  /** Returns the edge. If an outside service does not answer, the edge calls `outside.failed` with the error. */
  edge(outside: Outside): Edge
  /** Returns the handlers of the asks that the domain's folds return. Absent: the asks of the domain wait until a configured process calls them. */
  asks?(outside: Outside): AskHandlers
  /** The checks of `tributary doctor` for the outside services that are configured. */
  readonly checks: readonly ServiceCheck[]
}

/** The functions that the program gives to an edge and to handlers of asks. */
export interface Outside {
  /** Reports that an outside service did not answer. */
  readonly failed: (error: unknown) => void
  readonly secrets: Secrets
  /** Ends sessions of people, and stores values that can be used once, such as the state of an OAuth request. */
  readonly sessions: UserSessions
  /** The origin under which people reach the edge, for addresses to which outside services redirect. Undefined: not configured. */
  readonly publicUrl: string | undefined
  /** The rate budget of one outside service. `name` is unique in the program. */
  budget(name: string, windows: readonly RateWindow[]): CallBudget
  readonly clock: Clock
}

/** A stand-in for an outside service on loopback, for tests and demonstrations. The command `tributary <name> [--port P]` runs it. */
export interface LocalService {
  readonly name: string
  readonly about: string
  /** The default port. */
  readonly port: number
  /** Starts the service on 127.0.0.1. Port 0: a free port. */
  start(options: { readonly port: number }): Promise<RunningService>
}

/** A local service that runs. `variables`: the configuration of a server that uses the service. */
export interface RunningService {
  readonly url: string
  readonly variables: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** One check of `tributary doctor`. */
export interface ServiceCheck {
  readonly name: string
  /** Returns the result as a sentence if the check succeeds. Otherwise throws. */
  check(): Promise<string> | string
}

/** Declares an edge that uses outside services. `configure` receives values of the declared types. */
export const configurableEdge = <V extends Variables>(
  variables: V,
  configure: (values: Values<V>, mistakes: string[]) => ConfiguredEdge,
): ConfigurableEdge => ({ variables, configure: (values, mistakes) => configure(values as Values<V>, mistakes) })

/** Every copy of this package uses the same symbol, so that one copy recognizes a domain record that another copy declared. */
const DECLARED_BY = Symbol.for('tributary.declared-by')

/** Declares the record of a domain. A package exports it as its default export, and `TRIBUTARY_DOMAINS` names the package. */
export const defineDomain = (record: DomainRecord): DomainRecord =>
  Object.assign({}, record, { [DECLARED_BY]: import.meta.url })

/** The copy of this module whose `defineDomain` declared a record, as a URL. Undefined if none did. */
export const declaredBy = (record: object): string | undefined => {
  const url: unknown = Reflect.get(record, DECLARED_BY)
  return typeof url === 'string' ? url : undefined
}
