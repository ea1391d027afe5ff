import type { Item, Stored } from '../../../projections/item.ts'
import { everyItem } from '../../../projections/table.ts'
import { Fault } from '../../../schemas/fault.ts'
import { changeRow } from '../rows/change-row.ts'
import { replacing, type Store } from '../ports/store.ts'

/** The rows of one domain in the control table. */
export interface Rows {
  read(domain: string, SK: string): Promise<Stored | undefined>
  /** All rows whose sort key begins with the prefix, in order. */
  list(domain: string, prefix: string): Promise<readonly Stored[]>
  /** Changes one row with the semantics of `changeRow`. */
  change(domain: string, SK: string, next: (was: Stored | undefined) => Item | undefined): Promise<Stored | undefined>
  /** Writes all rows or none. Resolves to false if another process changed one of them since it was read. */
  write(...changes: readonly RowChange[]): Promise<boolean>
}

export interface RowChange {
  readonly was: Stored | undefined
  readonly item: Item
}

/** The prefix of the partition key of a domain's rows. Their sort keys are `TOPIC`, `SERVING`, `VERIFIED`, `IMPORT` and `GEN#…`. */
const DOMAIN = 'DOMAIN#'
export const pk = (domain: string): string => `${DOMAIN}${domain}`
const PAGE = 200

export const createRows = ({ store, now }: { readonly store: Store; readonly now: () => number }): Rows => ({
  read: async (domain, SK) => (await store.load([{ PK: pk(domain), SK }]))[0],
  list: async (domain, prefix) =>
    (await everyItem(store.reader(now), { pk: pk(domain), prefix, limit: PAGE })) as readonly Stored[],
  change: (domain, SK, next) => changeRow(store, { PK: pk(domain), SK }, next),
  write: async (...changes) => {
    const [outcome] = await store.commit([[changes.map(({ was, item }) => replacing(was, item))]])
    return outcome?.applied === 'all'
  },
})

export const conflict = (domain: string): Fault =>
  new Fault(
    'control-conflict',
    `Another process changed the generations of ${domain} at the same time. Look at tributary generations ${domain} and try again.`,
    { retriable: true },
  )

export const unknownGeneration = (domain: string, generation: number): Fault =>
  new Fault('generation-unknown', `${domain} has no generation ${generation}. See: tributary generations ${domain}.`)

export const toOffsets = (from: Item[string]): ReadonlyMap<number, number> =>
  new Map(
    Object.entries((from ?? {}) as { [partition: string]: number }).map(([partition, offset]) => [
      Number(partition),
      offset,
    ]),
  )
