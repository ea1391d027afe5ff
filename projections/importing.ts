import type { Reader } from './table.ts'

/** The source of events that an import says. */
export const IMPORT_SOURCE = 'import'

/** Where a row came from. */
export interface Origin {
  /** The same for the same file, so that importing it again changes nothing. */
  readonly importId: string
  readonly rowHash: string
  /** When the import runs, for rows that do not tell their time. */
  readonly at: number
}

/** An event that a row says, without its envelope. */
export interface Said {
  readonly type: string
  readonly key: string
  /** Who said it, and whose words they are; null where nobody can be named. */
  readonly person: string | null
  readonly occurredAt: number
  readonly data: unknown
  readonly personal: unknown
  /** Of something that may be there by others' word: said only where it began then. */
  readonly since?: number
  /** The time of a change as the row states it. Absent if the row states none, or one in the future. */
  readonly changedAt?: number
}

export type Read =
  /** `note` is what the row says and no event can. */
  | { readonly kind: 'events'; readonly events: readonly Said[]; readonly note?: string }
  /** What is derived comes from the events again. */
  | { readonly kind: 'derived' }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** One row of a file, or a row that the importer added to one, as JSON. */
export interface ImportLine {
  readonly line: number
  /** The number of the row in the file. Rows that the importer added have the number of the row that they come from. Absent if each line is one row. */
  readonly nth?: number
  readonly text: string
}

/** How a domain takes over what other tables hold. */
export interface Importer {
  read(row: unknown, origin: Origin): Read
  /** Where rows rest on each other: all of a file, in the order in which they are said. Without it they are said as they lie. */
  readonly arranged?: (lines: readonly ImportLine[], options: ImportOptions) => readonly ImportLine[]
  /** Whether what is said is there already, and is not said again. Without it the fold alone tells. */
  readonly known?: (said: Said, reader: Reader) => Promise<boolean>
  /** The record of a complete import, one per key. */
  readonly ended?: {
    /** The event types that it counts. */
    readonly counts: readonly string[]
    event(of: { readonly importId: string; readonly source: string; readonly count: number }): Pick<Said, 'type' | 'data'>
    /** True if the stored item of a counted event comes from this import, for example from a run that was interrupted. */
    isImportedBy(said: Said, importId: string, reader: Reader): Promise<boolean>
  }
}

export interface ImportOptions {
  /** For rows that name no currency. */
  readonly currency?: string
}
