import type { Item, Stored } from '../../projections/item.ts'
import { Fault } from '../../schemas/fault.ts'
import { pk, type Rows } from './control-rows.ts'

/** Who builds a domain's next generation: one at a time. */
export interface Lease {
  readonly holder: string
  /** The machine and folder in which it works: there it can be told for sure whether its process is still alive. */
  readonly place: string
  readonly generation: number
  /** Epoch milliseconds. */
  readonly since: number
  readonly until: number
}

export interface Builder {
  readonly holder: string
  readonly place: string
  /** A holder that is known to be dead: its lease need not run out first. */
  readonly over?: string
}

const LEASE_MS = 60_000

export interface Leases {
  /** The lease that holds now. */
  held(domain: string): Promise<Lease | undefined>
  /** Fault `rebuild-running` while it is another's. */
  take(domain: string, generation: number, builder: Builder): Promise<void>
  /** Only for who holds it. Fault `lease-lost` when that is another now. */
  renew(domain: string, holder: string): Promise<void>
  release(domain: string, holder: string): Promise<void>
}

/** A holder that died lets go by time. */
export const createLeases = ({ read, write }: Rows, now: () => number): Leases => {
  const put = async (domain: string, lease: Lease, was: Stored | undefined) => write({ was, item: { PK: pk(domain), SK: 'LEASE', ...lease } })
  const held = async (domain: string) => {
    const row = await read(domain, 'LEASE')
    const lease = row && toLease(row)
    return lease !== undefined && lease.until > now() ? lease : undefined
  }
  return {
    held,
    take: async (domain, generation, { holder, place, over }) => {
      const was = await read(domain, 'LEASE')
      const lease = was && toLease(was)
      const free = lease === undefined || lease.holder === holder || lease.holder === over || lease.until <= now()
      if (free && (await put(domain, { holder, place, generation, since: now(), until: now() + LEASE_MS }, was))) return
      throw running(domain, (await held(domain)) ?? lease)
    },
    renew: async (domain, holder) => {
      const was = await read(domain, 'LEASE')
      const lease = was && toLease(was)
      if (lease?.holder !== holder) throw new Fault('lease-lost', `The build of ${domain} lost its lease to ${lease?.holder ?? 'nobody'}; what it built stays half-built. See: tributary generations ${domain}.`)
      await put(domain, { ...lease, until: now() + LEASE_MS }, was)
    },
    release: async (domain, holder) => {
      const was = await read(domain, 'LEASE')
      const lease = was && toLease(was)
      if (lease?.holder === holder) await put(domain, { ...lease, until: 0 }, was)
    },
  }
}

/** Lets one process at a time import into a domain. */
export interface ImportTurns {
  /** Takes the turn, or keeps it for another minute. False while another process has it. */
  takeImportTurn(domain: string, holder: string): Promise<boolean>
  endImportTurn(domain: string, holder: string): Promise<void>
}

/** A turn ends a minute after its holder last took it, so a process that died blocks the others no longer. */
export const createImportTurns = ({ read, write }: Rows, now: () => number): ImportTurns => {
  const put = (domain: string, holder: string, { until, was }: { readonly until: number; readonly was: Stored | undefined }) => write({ was, item: { PK: pk(domain), SK: 'IMPORT', holder, until } })
  return {
    takeImportTurn: async (domain, holder) => {
      const was = await read(domain, 'IMPORT')
      const isFree = was === undefined || was['holder'] === holder || Number(was['until']) <= now()
      return isFree && put(domain, holder, { until: now() + LEASE_MS, was })
    },
    endImportTurn: async (domain, holder) => {
      const was = await read(domain, 'IMPORT')
      if (was?.['holder'] === holder) await put(domain, holder, { until: 0, was })
    },
  }
}

export const running = (domain: string, lease: Lease | undefined): Fault => {
  if (lease === undefined) return new Fault('rebuild-running', `Another rebuild of ${domain} began at this moment. Wait for it, or stop it.`)
  const { holder, generation, since, until } = lease
  return new Fault('rebuild-running',
    `A rebuild of ${domain} is running: ${holder} builds generation ${generation} since ${iso(since)}. Wait for it, or stop it; a process that died lets go of it by ${iso(until)}.`)
}

const iso = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')

const toLease = (row: Item): Lease => ({
  holder: String(row['holder']),
  place: String(row['place'] ?? ''),
  generation: Number(row['generation'] ?? 0),
  since: Number(row['since'] ?? 0),
  until: Number(row['until']),
})
