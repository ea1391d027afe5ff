import type { Item, Stored } from '../../projections/item.ts'
import { everyItem } from '../../projections/table.ts'
import { Fault } from '../../schemas/fault.ts'
import { changeRow } from './change-row.ts'
import { replacing, type Store } from './store.ts'

/** The control table's rows of one domain. */
export interface Rows {
  read(domain: string, SK: string): Promise<Stored | undefined>
  /** Every row whose sort key begins so, in order. */
  list(domain: string, prefix: string): Promise<readonly Stored[]>
  /** Changes one row with the semantics of `changeRow`. */
  change(domain: string, SK: string, next: (was: Stored | undefined) => Item | undefined): Promise<Stored | undefined>
  /** All or none: false when somebody else wrote one of them since it was read. */
  write(...changes: readonly RowChange[]): Promise<boolean>
}

export interface RowChange {
  readonly was: Stored | undefined
  readonly item: Item
}

export const pk = (domain: string): string => `DOMAIN#${domain}`
const PAGE = 200

export const createRows = ({ store, now }: { readonly store: Store; readonly now: () => number }): Rows => ({
  read: async (domain, SK) => (await store.load([{ PK: pk(domain), SK }]))[0],
  list: async (domain, prefix) => (await everyItem(store.reader(now), { pk: pk(domain), prefix, limit: PAGE })) as readonly Stored[],
  change: (domain, SK, next) => changeRow(store, { PK: pk(domain), SK }, next),
  write: async (...changes) => {
    const [outcome] = await store.commit([[changes.map(({ was, item }) => replacing(was, item))]])
    return outcome?.applied === 'all'
  },
})

export const conflict = (domain: string): Fault =>
  new Fault('control-conflict', `Another changed the generations of ${domain} meanwhile. Look at tributary generations ${domain} and try again.`, { retriable: true })

export const unknownGeneration = (domain: string, generation: number): Fault =>
  new Fault('generation-unknown', `${domain} has no generation ${generation}. See: tributary generations ${domain}.`)

export const toOffsets = (from: Item[string]): ReadonlyMap<number, number> =>
  new Map(Object.entries((from ?? {}) as { [partition: string]: number }).map(([partition, offset]) => [Number(partition), offset]))
