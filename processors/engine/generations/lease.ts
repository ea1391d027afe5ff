import type { Item, Stored } from '../../../projections/item.ts'
import { Fault } from '../../../schemas/fault.ts'
import { pk, type Rows } from './control-rows.ts'

/** The right of one process to build a generation, until a time. The generation's row contains the lease. A domain has at most one valid lease. */
export type Lease = {
  readonly holder: string
  /** The machine and folder where the holder works. A lock in this folder shows whether the holder's process is alive. */
  readonly place: string
  /** The start of the lease, in epoch milliseconds. `until` is its end. */
  readonly since: number
  readonly until: number
}

export interface Builder {
  readonly holder: string
  readonly place: string
  /** A holder that is known to be dead. The builder can take the lease of this holder before the lease expires. */
  readonly over?: string
}

const LEASE_MS = 60_000

export const leaseUntil = (now: number): number => now + LEASE_MS

/** The lease in a generation's row, expired or not. Undefined if the generation is not being built, or its lease was released. */
export const leaseIn = ({ state, lease }: Item): Lease | undefined =>
  state === 'building' ? (lease as Lease | undefined) : undefined

/** The lease in a generation's row. Undefined if there is none or it has expired. */
export const currentLease = (row: Item, now: number): Lease | undefined => {
  const lease = leaseIn(row)
  return lease !== undefined && lease.until > now ? lease : undefined
}

export const withoutLease = ({ lease, ...row }: Stored): Item => row as Item

/** The right of one process to import into a domain. */
export interface ImportLease {
  /** Acquires the lease, or extends it by a minute. Resolves to false if another process has it. */
  acquireImportLease(domain: string, holder: string): Promise<boolean>
  releaseImportLease(domain: string, holder: string): Promise<void>
}

/** The lease ends a minute after its holder acquired or extended it. So a process that died does not block other processes for longer. */
export const createImportLease = ({ change }: Rows, now: () => number): ImportLease => {
  const leaseOf = (domain: string, holder: string, until: number) => ({ PK: pk(domain), SK: 'IMPORT', holder, until })
  return {
    acquireImportLease: async (domain, holder) => {
      const isFree = (was: Stored | undefined) =>
        was === undefined || was['holder'] === holder || Number(was['until']) <= now()
      const lease = await change(domain, 'IMPORT', (was) =>
        isFree(was) ? leaseOf(domain, holder, leaseUntil(now())) : undefined,
      )
      return lease?.['holder'] === holder
    },
    releaseImportLease: async (domain, holder) => {
      await change(domain, 'IMPORT', (was) => (was?.['holder'] === holder ? leaseOf(domain, holder, 0) : undefined))
    },
  }
}

export const running = (
  domain: string,
  { generation, lease }: { readonly generation: number; readonly lease?: Lease | undefined },
): Fault => {
  const builds =
    lease === undefined
      ? `another process builds generation ${generation}`
      : `${lease.holder} builds generation ${generation} since ${iso(lease.since)}`
  const expires = lease === undefined ? '' : ` If its process died, the lease ends at ${iso(lease.until)}.`
  return new Fault(
    'rebuild-running',
    `A rebuild of ${domain} is running: ${builds}. Wait for it, or stop it.${expires}`,
  )
}

const iso = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
