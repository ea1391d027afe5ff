import { Fault } from '../../schemas/fault.ts'
import type { TableSpec } from '../../projections/table.ts'
import { CONTROL_TABLE, LEDGER_TABLE } from './control.ts'
import { pk } from './control-rows.ts'
import type { Store, Stores } from './store.ts'

export interface KeptParts {
  readonly domains: readonly { readonly name: string; readonly table: TableSpec }[]
  /** Creates the two tables if nothing was started here yet; otherwise nothing is created. */
  readonly founds: boolean
}

export interface KeptTables {
  readonly control: Store
  readonly ledger: Store
}

/**
 * The tables that no log brings back. Control is made before every other one, and the ledger before a domain is listed in it: where what came
 * later is there and they are not, they were lost, and are not begun anew.
 */
export const openKept = async (stores: Pick<Stores, 'open' | 'create' | 'measure'>, { domains, founds }: KeptParts): Promise<KeptTables> => {
  const isThere = async (spec: TableSpec): Promise<boolean> => (await stores.measure(spec, 1)) !== undefined
  const later = await Promise.all([LEDGER_TABLE, ...domains.map(({ table }) => table)].map(isThere))
  const hasControl = await isThere(CONTROL_TABLE)
  if (later.includes(true) && !hasControl) throw gone('control-gone', CONTROL_TABLE, 'which generation serves, what was discarded and which log this is')
  if (!founds && !hasControl) throw notStarted()
  const open = founds ? stores.create : stores.open
  const control = await open(CONTROL_TABLE, 1)
  const listed = await control.load(domains.map(({ name }) => ({ PK: pk(name), SK: 'SERVING' })))
  if (listed.some((row) => row !== undefined) && !(await isThere(LEDGER_TABLE))) throw gone('ledger-gone', LEDGER_TABLE, 'what was sent')
  return { control, ledger: await open(LEDGER_TABLE, 1) }
}

/** A command that only reads came before the first start. */
export const notStarted = (domain?: string): Fault =>
  new Fault('domain-unknown', `The control table lists ${domain === undefined ? 'no domain' : `no domain ${domain}`}. Start the pipeline once: it creates the tables, the topics and the first generation.`)

const gone = (code: string, { name }: TableSpec, tells: string): Fault =>
  new Fault(code, `The table ${name} is gone, and it alone tells ${tells}. Restore it from its backup, then start again. Without one, see docs/operating.md. Nothing was changed.`)
