import { inUser, KEY, type Key, type PersonalByKind, type PersonalOf } from 'tributary/domain'

/** One entry of a person. */
export type EntryItem = Key & {
  readonly id: string
  readonly amount: number
  readonly note: string | null
  readonly addedAt: string
}

/** The item that replaces a removed entry. If EntryAdded is folded again, its fold finds this item and changes nothing. */
export type GoneEntryItem = Key & { readonly removedAt: string }

/** One item per person. */
export type SummaryItem = Key & { readonly entries: number; readonly total: number }

export const entries = inUser<EntryItem, [id: string]>('entry', 'ENTRY#')
export const goneEntries = inUser<GoneEntryItem, [id: string]>('removed entry', 'GONE#ENTRY#')
export const summaries = inUser<SummaryItem>('summary', 'SUMMARY')

/** The attributes with personal data of the person. They become null when the person is forgotten. */
export const personal: PersonalByKind = { [entries.prefix]: { note: KEY } satisfies PersonalOf<EntryItem> }

export const isEntryId = (id: string): boolean => /^[A-Za-z0-9-]{1,64}$/.test(id)
