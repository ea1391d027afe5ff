import { Fault } from '../../../schemas/fault.ts'
import type { TableSpec } from '../../../projections/table.ts'
import { CONTROL_TABLE, LEDGER_TABLE } from './control.ts'
import { pk } from './control-rows.ts'
import type { Store, Stores } from '../ports/store.ts'

export interface DurableTablesParts {
  readonly domains: readonly { readonly name: string; readonly table: TableSpec }[]
  /** True: creates the control table and the ledger if no pipeline was started here yet. False: throws `domain-unknown` in this case. */
  readonly canCreate: boolean
}

export interface DurableTables {
  readonly control: Store
  readonly ledger: Store
}

/**
 * Opens the control table and the ledger, which cannot be rebuilt from the log. The control table is created before all other tables, and
 * the ledger before a domain is listed. So if other tables exist without the control table, or a listed domain without the ledger, the
 * missing table was lost: throws `control-gone` or `ledger-gone`.
 */
export const openDurableTables = async (
  stores: Pick<Stores, 'open' | 'create' | 'measure' | 'enableTtl'>,
  { domains, canCreate }: DurableTablesParts,
): Promise<DurableTables> => {
  const doesExist = async (spec: TableSpec): Promise<boolean> => (await stores.measure(spec, 1)) !== undefined
  const later = await Promise.all([LEDGER_TABLE, ...domains.map(({ table }) => table)].map(doesExist))
  const hasControl = await doesExist(CONTROL_TABLE)
  if (later.includes(true) && !hasControl)
    throw gone(
      'control-gone',
      CONTROL_TABLE,
      'the serving generation, the discarded events and the identity of the log',
    )
  if (!canCreate && !hasControl) throw notStarted()
  const open = canCreate ? stores.create : stores.open
  const control = await open(CONTROL_TABLE, 1)
  const listed = await control.load(domains.map(({ name }) => ({ PK: pk(name), SK: 'SERVING' })))
  if (listed.some((row) => row !== undefined) && !(await doesExist(LEDGER_TABLE)))
    throw gone('ledger-gone', LEDGER_TABLE, 'the record of the sent events')
  const ledger = await open(LEDGER_TABLE, 1)
  if (canCreate) await stores.enableTtl?.(LEDGER_TABLE, 1)
  return { control, ledger }
}

/** Returns the fault of a command that only reads, if no pipeline was ever started. */
export const notStarted = (domain?: string): Fault =>
  new Fault(
    'domain-unknown',
    `The control table lists ${domain === undefined ? 'no domain' : `no domain ${domain}`}. Start the pipeline once: it creates the tables, the topics and the first generation.`,
  )

const gone = (code: string, { name }: TableSpec, content: string): Fault =>
  new Fault(
    code,
    `The table ${name} does not exist, and only it contains ${content}. Restore it from its backup, then start again. Without one, see docs/operating.md. Nothing was changed.`,
  )
