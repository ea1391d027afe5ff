import type { Item, Stored } from '../../projections/item.ts'
import { Fault } from '../../schemas/fault.ts'
import { pk, type Rows } from './control-rows.ts'

/** Names the process that builds a generation, and until when. It is part of the generation's row. A domain has at most one lease at a time. */
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
  /** A holder that is known to be dead. Its lease can be taken before it expires. */
  readonly over?: string
}

const LEASE_MS = 60_000

export const leaseUntil = (now: number): number => now + LEASE_MS

/** The lease in a generation's row, expired or not. */
export const leaseIn = ({ state, lease }: Item): Lease | undefined => (state === 'building' ? (lease as Lease | undefined) : undefined)

/** The lease in a generation's row. Undefined if it has expired. */
export const heldLease = (row: Item, now: number): Lease | undefined => {
  const lease = leaseIn(row)
  return lease !== undefined && lease.until > now ? lease : undefined
}

export const withoutLease = ({ lease, ...row }: Stored): Item => row as Item

/** Lets one process at a time import into a domain. */
export interface ImportTurns {
  /** Takes the turn, or keeps it for another minute. False while another process has it. */
  takeImportTurn(domain: string, holder: string): Promise<boolean>
  endImportTurn(domain: string, holder: string): Promise<void>
}

/** A turn ends a minute after its holder last took it, so a process that died blocks the others no longer. */
export const createImportTurns = ({ change }: Rows, now: () => number): ImportTurns => {
  const turnOf = (domain: string, holder: string, until: number) => ({ PK: pk(domain), SK: 'IMPORT', holder, until })
  return {
    takeImportTurn: async (domain, holder) => {
      const isFree = (was: Stored | undefined) => was === undefined || was['holder'] === holder || Number(was['until']) <= now()
      const turn = await change(domain, 'IMPORT', (was) => (isFree(was) ? turnOf(domain, holder, leaseUntil(now())) : undefined))
      return turn?.['holder'] === holder
    },
    endImportTurn: async (domain, holder) => {
      await change(domain, 'IMPORT', (was) => (was?.['holder'] === holder ? turnOf(domain, holder, 0) : undefined))
    },
  }
}

export const running = (domain: string, { generation, lease }: { readonly generation: number; readonly lease?: Lease | undefined }): Fault => {
  const builds = lease === undefined ? `another process builds generation ${generation}` : `${lease.holder} builds generation ${generation} since ${iso(lease.since)}`
  const expires = lease === undefined ? '' : ` If its process died, the lease ends at ${iso(lease.until)}.`
  return new Fault('rebuild-running', `A rebuild of ${domain} is running: ${builds}. Wait for it, or stop it.${expires}`)
}

const iso = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
