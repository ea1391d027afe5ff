import type { Item, Stored } from '../../../projections/item.ts'
import { Fault } from '../../../schemas/fault.ts'
import { conflict, pk, unknownGeneration, type RowChange, type Rows } from './control-rows.ts'
import {
  generationOf,
  generationSk,
  toGeneration,
  workItem,
  type BuildState,
  type Generation,
  type Versioned,
} from './generation.ts'
import { leaseIn, leaseUntil, running, withoutLease, type Builder, type Lease } from './lease.ts'

/** The builds of a domain. At most one process builds a generation of the domain at a time. */
export interface Builds {
  /**
   * Adds the next generation in state `building`, with the builder's lease. Fault `rebuild-running` if another process builds a generation
   * of the domain.
   */
  begin(domain: Versioned, builder: Builder): Promise<Generation>
  /** Takes the lease of a half-built generation. Faults: `rebuild-running`, `generation-unknown`, `build-cancelled`, `build-outdated`. */
  resume(domain: string, generation: number, builder: Builder): Promise<Generation>
  /** Extends the lease and stores the progress of the build, in one write. Faults `lease-lost`, `build-cancelled`, `build-outdated`. */
  renew(domain: string, generation: number, work: BuildState & { readonly holder: string }): Promise<void>
  /** Ends the holder's lease. The half-built generation stays and can be resumed. */
  release(domain: string, holder: string): Promise<void>
  /** Ends a complete build: the generation follows the log from now on and has no lease. Faults `lease-lost`, `build-cancelled`, `build-outdated`. */
  follow(domain: string, generation: number, holder: string): Promise<void>
}

export const createBuilds = ({ list, write, change }: Rows, now: () => number): Builds => {
  const refuseOthers = (domain: string, rows: readonly Stored[], { holder, over }: Builder): void => {
    const found = rows
      .map((row) => toGeneration(row, now()))
      .find(({ lease }) => lease !== undefined && lease.holder !== holder && lease.holder !== over)
    if (found !== undefined) throw running(domain, found)
  }
  /**
   * Writes the lease. The write includes the rows of the domain's other builds: if two processes take a lease at the same time, one of the
   * writes fails.
   */
  const take = async (
    domain: string,
    builder: Builder,
    { was, item, rows }: RowChange & { readonly rows: readonly Stored[] },
  ): Promise<Generation> => {
    refuseOthers(domain, rows, builder)
    const { holder, place } = builder
    const leased = { ...item, lease: { holder, place, since: now(), until: leaseUntil(now()) } }
    const others = rows
      .filter((row) => row['state'] === 'building' && row.SK !== item.SK)
      .map((row) => ({ was: row, item: withoutLease(row) }))
    if (await write({ was, item: leased }, ...others)) return toGeneration(leased, now())
    refuseOthers(domain, await list(domain, 'GEN#'), builder)
    throw conflict(domain)
  }
  const changeLeased = async (
    domain: string,
    { generation, holder }: { readonly generation: number; readonly holder: string },
    next: (row: Stored, lease: Lease) => Item,
  ): Promise<void> => {
    await change(domain, generationSk(generation), (was) => {
      const row = building(was, domain, generation)
      const lease = leaseIn(row)
      if (lease?.holder === holder) return next(row, lease)
      throw new Fault(
        'lease-lost',
        `The build of ${domain} lost its lease to ${lease?.holder ?? 'another process'}; generation ${generation} stays half-built. See: tributary generations ${domain}.`,
      )
    })
  }
  return {
    begin: async (domain, builder) => {
      const rows = await list(domain.name, 'GEN#')
      const made = generationOf(domain, Number(rows.at(-1)?.['generation'] ?? 0) + 1, now())
      return take(domain.name, builder, {
        rows,
        was: undefined,
        item: { PK: pk(domain.name), SK: generationSk(made.generation), ...made },
      })
    },
    resume: async (domain, generation, builder) => {
      const rows = await list(domain, 'GEN#')
      const was = building(
        rows.find(({ SK }) => SK === generationSk(generation)),
        domain,
        generation,
      )
      return take(domain, builder, { rows, was, item: was })
    },
    renew: (domain, generation, { holder, ...work }) =>
      changeLeased(domain, { generation, holder }, (row, lease) => ({
        ...row,
        work: workItem(work),
        lease: { ...lease, until: leaseUntil(now()) },
      })),
    release: async (domain, holder) => {
      for (const { SK } of await list(domain, 'GEN#'))
        await change(domain, SK, (was) =>
          was !== undefined && leaseIn(was)?.holder === holder ? withoutLease(was) : undefined,
        )
    },
    follow: (domain, generation, holder) =>
      changeLeased(domain, { generation, holder }, (row) => ({ ...withoutLease(row), state: 'following' })),
  }
}

const building = (row: Stored | undefined, domain: string, generation: number): Stored => {
  if (row === undefined) throw unknownGeneration(domain, generation)
  if (row['state'] === 'building') return row
  if (row['outdated'] === true)
    throw new Fault(
      'build-outdated',
      `A person was forgotten while generation ${generation} of ${domain} was built: it is dropped and built again under another number.`,
    )
  throw new Fault(
    'build-cancelled',
    `Generation ${generation} of ${domain} is ${String(row['state'])}: there is nothing to build. See: tributary generations ${domain}.`,
  )
}
