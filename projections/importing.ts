import type { Reader } from './table.ts'

/** `meta.source` of imported events. */
export const IMPORT_SOURCE = 'import'

/** The origin of a row. */
export interface Origin {
  /** Two imports of the same file have the same id, so that the second import changes nothing. */
  readonly importId: string
  readonly rowHash: string
  /** The time of the import, for rows without a time. */
  readonly at: number
  /** Returns the pseudonym of an id of another program. Absent: the record has no `pseudonyms`. */
  readonly pseudonymOf?: (id: string) => string
}

/** An event that is read from a row. The caller adds its metadata (`meta`). */
export interface ImportedEvent {
  readonly type: string
  readonly key: string
  /** The actor and subject of the event. Null if the row names no person. */
  readonly person: string | null
  /** The subject whose key seals the personal field. Default: `person`. */
  readonly subject?: string
  readonly occurredAt: number
  readonly data: unknown
  readonly personal: unknown
  /** For a departure: the event is appended only if the membership began at this time, in epoch milliseconds. */
  readonly since?: number
  /** The time of the change in the row, in epoch milliseconds. Absent if the row contains no time, or a time in the future. */
  readonly changedAt?: number
}

/** The result of reading one row. */
export type ReadRow =
  /** `note`: a text for the report about the part of the row that no event can store. */
  | { readonly kind: 'events'; readonly events: readonly ImportedEvent[]; readonly note?: string }
  /** The row is derived from other rows. The folds produce it again from the events. */
  | { readonly kind: 'derived' }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** A row of a file, or a row that the importer added to the rows of the file. `text` is JSON. */
export interface ImportLine {
  readonly line: number
  /** The number of the row in the file, from 0. An added row has the number of the row from which it comes. Absent if each line is one row. */
  readonly nth?: number
  readonly text: string
}

/** Imports the rows of other tables into a domain. */
export interface Importer {
  /** Options of `tributary import` that only this importer has. */
  readonly options?: readonly ImportOption[]
  read(row: unknown, origin: Origin): ReadRow
  /**
   * Receives the header of a CSV file, and returns a function that returns the row of each record. Throws an error if the columns are not those
   * that it reads. Absent: the importer reads no CSV.
   */
  readonly readCsv?: (header: readonly string[], options: ImportOptions) => (cells: readonly string[]) => object
  /** Sorts all rows of a file, if the rows of the domain depend on each other. Default: the order of the file. */
  readonly sortLines?: (lines: readonly ImportLine[], options: ImportOptions) => readonly ImportLine[]
  /**
   * True if the items contain the event already, so that it is not appended again. Default: the fold detects
   * duplicates.
   */
  readonly isPresent?: (event: ImportedEvent, reader: Reader) => Promise<boolean>
  /** The event that records a complete import, one per log key. */
  readonly completion?: {
    /** The types of the events whose number the completion event contains. */
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

/** An option of a command: `--<name> <<value>>`. */
export interface ImportOption {
  readonly name: string
  /** The placeholder of the value in the help. */
  readonly value: string
  readonly about: string
}

/** The values of the importer's options, by name. An option that was not given is absent. */
export type ImportOptions = Readonly<Record<string, string | undefined>>
