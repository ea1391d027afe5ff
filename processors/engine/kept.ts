import { Fault } from '../../schemas/fault.ts'
import type { TableSpec } from '../../projections/table.ts'
import { CONTROL_TABLE, LEDGER_TABLE } from './control.ts'
import { pk } from './control-rows.ts'
import type { Store, Stores } from './store.ts'

export interface KeptTables {
  readonly control: Store
  readonly ledger: Store
}

/**
 * The tables that no log brings back. Control is made before every other one, and the ledger before a domain is listed in it: where what came
 * later is there and they are not, they were lost, and are not begun anew.
 */
export const openKept = async (stores: Pick<Stores, 'open' | 'measure'>, domains: readonly { readonly name: string; readonly table: TableSpec }[]): Promise<KeptTables> => {
  const isThere = async (spec: TableSpec): Promise<boolean> => (await stores.measure(spec, 1)) !== undefined
  const later = await Promise.all([LEDGER_TABLE, ...domains.map(({ table }) => table)].map(isThere))
  if (later.includes(true) && !(await isThere(CONTROL_TABLE))) throw gone('control-gone', CONTROL_TABLE, 'which generation serves, what was discarded and which log this is')
  const control = await stores.open(CONTROL_TABLE, 1)
  const listed = await control.load(domains.map(({ name }) => ({ PK: pk(name), SK: 'SERVING' })))
  if (listed.some((row) => row !== undefined) && !(await isThere(LEDGER_TABLE))) throw gone('ledger-gone', LEDGER_TABLE, 'what was sent')
  return { control, ledger: await stores.open(LEDGER_TABLE, 1) }
}

const gone = (code: string, { name }: TableSpec, tells: string): Fault =>
  new Fault(code, `The table ${name} is gone, and it alone tells ${tells}. Restore it from its backup, then start again. Without one, see docs/operating.md. Nothing was changed.`)
