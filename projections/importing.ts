import type { Reader } from './table.ts'

/** `meta.source` of imported events. */
export const IMPORT_SOURCE = 'import'

/** The origin of a row. */
export interface Origin {
  /** The same for the same file, so that importing it again changes nothing. */
  readonly importId: string
  readonly rowHash: string
  /** The time of the import, for rows without a time. */
  readonly at: number
}

/** An event that is read from a row, without its envelope. */
export interface ImportedEvent {
  readonly type: string
  readonly key: string
  /** The actor and subject of the event. Null if the row names no person. */
  readonly person: string | null
  readonly occurredAt: number
  readonly data: unknown
  readonly personal: unknown
  /** For a departure: appended only if the membership began at this time. */
  readonly since?: number
  /** The time of a change as the row states it. Absent if the row states none, or one in the future. */
  readonly changedAt?: number
}

/** The result of reading one row. */
export type ReadRow =
  /** `note`: the part of the row that no event can store. */
  | { readonly kind: 'events'; readonly events: readonly ImportedEvent[]; readonly note?: string }
  /** The row is derived from others. The folds produce it again from the events. */
  | { readonly kind: 'derived' }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** One row of a file, or a row that the importer added to one, as JSON. */
export interface ImportLine {
  readonly line: number
  /** The number of the row in the file. Rows that the importer added have the number of the row that they come from. Absent if each line is one row. */
  readonly nth?: number
  readonly text: string
}

/** Imports the rows of other tables into a domain. */
export interface Importer {
  read(row: unknown, origin: Origin): ReadRow
  /** Sorts all rows of a file, if the rows of the domain depend on each other. Default: the order of the file. */
  readonly sortLines?: (lines: readonly ImportLine[], options: ImportOptions) => readonly ImportLine[]
  /**
   * True if the items contain the event already, so that it is not appended again. Default: the fold detects
   * duplicates.
   */
  readonly isPresent?: (event: ImportedEvent, reader: Reader) => Promise<boolean>
  /** The event that records a complete import, one per log key. */
  readonly completion?: {
    /** The event types that it counts. */
    readonly counts: readonly string[]
    event(imported: {
      readonly importId: string
      readonly source: string
      readonly count: number
    }): Pick<ImportedEvent, 'type' | 'data'>
    /** True if the stored item of a counted event comes from this import, for example from a run that was interrupted. */
    isImportedBy(event: ImportedEvent, importId: string, reader: Reader): Promise<boolean>
  }
}

/** The options of `tributary import` that importers use. */
export interface ImportOptions {
  /** For rows that name no currency. */
  readonly currency?: string
}
