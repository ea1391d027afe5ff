import type { Item, Stored } from '../../../projections/item.ts'
import { Fault } from '../../../schemas/fault.ts'
import { pk, type Rows } from './control-rows.ts'

/** The right of one process to build a generation, until a time. It is part of the generation's row. A domain has at most one lease at a time. */
export type Lease = {
  readonly holder: string
  /** The machine and folder where the holder works. Its lock there shows whether the holder's process is alive. */
  readonly place: string
  /** Epoch milliseconds. */
  readonly since: number
  readonly until: number
}

export interface Builder {
  readonly holder: string
  readonly place: string
  /** The holder of a lease that is known to be dead. Its lease can be taken before it expires. */
  readonly over?: string
}

const LEASE_MS = 60_000

export const leaseUntil = (now: number): number => now + LEASE_MS

/** The lease in a generation's row, expired or not. */
export const leaseIn = ({ state, lease }: Item): Lease | undefined =>
  state === 'building' ? (lease as Lease | undefined) : undefined

/** The lease in a generation's row; undefined if it has expired. */
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

/** The lease ends a minute after its holder acquired or extended it, so that a dead process does not block the others. */
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
