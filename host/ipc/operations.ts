import type { Control } from '../../processors/engine/generations/control.ts'
import type { Forgot } from '../../processors/engine/people/forgetting.ts'
import type { Verdict } from '../../processors/engine/poison/verdicts.ts'
import type { ExportRow } from '../../producers/exporting.ts'
import type { Key, Stored } from '../../projections/item.ts'
import type { Point } from '../../projections/series.ts'
import type { Page, Query } from '../../projections/table.ts'
import type { ReportedStatusRow } from '../serving/domain-status.ts'
import type { Runtime } from '../wiring/runtime.ts'
import type { CommandEnd, CommandRecord } from './command-record.ts'
import type { AskChoice, ReleasedAsks, WaitingAskRow } from './operations/asks.ts'
import type { AppendArgs, Appended } from './operations/append.ts'
import type { BackupPaths } from './operations/backup.ts'
import type { EventRow, EventsArgs } from './operations/events.ts'
import type { ExportArgs } from './operations/export.ts'
import type { DroppedGeneration, GenerationRow } from './operations/generations.ts'
import type { ImportArgs, ImportEnd, Imported } from './operations/import.ts'
import type { DiscardArgs, DiscardedRow, ParkedArgs, ParkedRow, RetryArgs, RetryResult } from './operations/parked.ts'
import type { NewToken, RevokedToken, TokenArgs, TokenRow } from './operations/token.ts'

interface Empty {
  readonly [member: string]: never
}

interface DomainArgs {
  readonly domain: string
}

interface GenerationArgs extends DomainArgs {
  readonly generation: number
}

/** The addresses on which a server listens. Null: the server does not listen on this address. */
interface ServerAddresses {
  readonly http: string | null
  readonly admin: string | null
  readonly mqtt: string | null
}

/** The methods of the control table that a command can call through the server. */
export const CONTROL_METHODS = [
  'serving',
  'generations',
  'begin',
  'resume',
  'renew',
  'release',
  'follow',
  'flip',
  'verified',
] as const satisfies readonly (keyof Control)[]
export type ControlMethod = (typeof CONTROL_METHODS)[number]

export type ControlArgs = { readonly [M in ControlMethod]: Parameters<Control[M]> }
export type ControlResults = { readonly [M in ControlMethod]: Awaited<ReturnType<Control[M]>> }

/** One call of a method of the control table. All releases use the names `verb` and `args` in requests. */
export interface ControlCall<M extends ControlMethod = ControlMethod> extends DomainArgs {
  readonly verb: M
  readonly args: ControlArgs[M]
}

/**
 * Every operation that a command can request from a server, or perform in its own process: the arguments, the type of its rows, and the
 * result. `row: never`: the operation has no rows.
 */
export interface Operations {
  readonly status: { args: Empty; row: never; result: readonly ReportedStatusRow[] }
  readonly 'token-create': { args: TokenArgs; row: never; result: NewToken }
  readonly 'token-list': { args: { readonly user?: string }; row: TokenRow; result: void }
  readonly 'token-revoke': { args: { readonly id: string }; row: never; result: RevokedToken }
  readonly append: { args: AppendArgs; row: never; result: Appended }
  readonly events: { args: EventsArgs; row: EventRow; result: void }
  readonly export: { args: ExportArgs; row: ExportRow; result: void }
  readonly import: { args: ImportArgs; row: never; result: Imported }
  readonly 'import-end': { args: ImportEnd; row: never; result: { readonly events: number } }
  readonly 'parked-list': { args: ParkedArgs; row: ParkedRow; result: void }
  readonly 'parked-show': { args: { readonly id: string }; row: never; result: ParkedRow }
  readonly 'parked-retry': { args: RetryArgs; row: never; result: RetryResult }
  readonly 'parked-discard': { args: DiscardArgs; row: never; result: RetryResult }
  readonly 'parked-discarded': { args: Partial<DomainArgs>; row: DiscardedRow; result: void }
  readonly 'asks-list': { args: Partial<DomainArgs>; row: WaitingAskRow; result: void }
  readonly 'asks-release': { args: AskChoice; row: never; result: ReleasedAsks }
  readonly generations: { args: Partial<DomainArgs>; row: GenerationRow; result: void }
  readonly 'generations-drop': { args: GenerationArgs; row: never; result: DroppedGeneration }
  readonly forget: { args: { readonly subject: string }; row: never; result: Forgot }
  readonly backup: { args: BackupPaths; row: never; result: void }
  readonly where: { args: Empty; row: never; result: ServerAddresses }
  /** Pauses appends to the log, and then reports one row. The appends continue when the caller closes the connection. */
  readonly 'log-quiet': { args: Empty; row: null; result: void }
  readonly marks: { args: DomainArgs; row: never; result: readonly Verdict[] }
  readonly control: { args: ControlCall; row: never; result: ControlResults[ControlMethod] }
  /** The fold version of the server. */
  readonly folds: { args: DomainArgs; row: never; result: number }
  readonly followed: { args: DomainArgs & { readonly group: string }; row: never; result: boolean }
  readonly 'store-scan': { args: GenerationArgs; row: readonly Stored[]; result: void }
  readonly 'series-list': { args: GenerationArgs; row: readonly Point[]; result: void }
  readonly 'store-load': {
    args: GenerationArgs & { readonly keys: readonly Key[] }
    row: never
    result: readonly (Stored | null)[]
  }
  readonly 'store-query': { args: GenerationArgs & { readonly query: Query }; row: never; result: Page }
  readonly 'store-checkpoints': { args: GenerationArgs; row: never; result: ReadonlyMap<number, number> }
  /** Announces a command of an operator. Reports one row, then waits until the caller closes the connection. */
  readonly command: { args: CommandRecord; row: null; result: void }
  readonly 'command-ended': { args: CommandEnd; row: never; result: void }
}

export type OperationName = keyof Operations
export type ArgsOf<N extends OperationName> = Operations[N]['args']
export type RowOf<N extends OperationName> = Operations[N]['row']
export type ResultOf<N extends OperationName> = Operations[N]['result']

/** Receives the output of an operation while the operation runs. Rows are the data of the operation, progress is text for people. */
export interface OperationOutput<Row> {
  /** Resolves when the receiver accepts more rows. */
  row(row: Row): Promise<void> | void
  progress(text: string): void
  /** Aborted when the caller closes the connection. */
  readonly signal: AbortSignal
}

/** An output for operations without rows. */
export const noOutput = (): OperationOutput<unknown> => ({
  row: () => undefined,
  progress: () => undefined,
  signal: new AbortController().signal,
})

/** Performs one operation on an open runtime. */
export type Handler<N extends OperationName> = (
  runtime: Runtime,
  args: Operations[N]['args'],
  output: OperationOutput<Operations[N]['row']>,
) => Promise<Operations[N]['result']>

/** Performs any operation, in this process or through a server. */
export type Perform = <N extends OperationName>(
  name: N,
  args: Operations[N]['args'],
  output: OperationOutput<Operations[N]['row']>,
) => Promise<Operations[N]['result']>
