import type { Item, Stored } from '../../../projections/item.ts'
import type { Domain } from '../../../projections/projection.ts'
import type { TableSpec } from '../../../projections/table.ts'
import { Fault } from '../../../schemas/fault.ts'
import { createBuilds, type Builds } from './builds.ts'
import { conflict, createRows, pk, toOffsets, unknownGeneration, type Rows } from './control-rows.ts'
import { generationOf, generationSk, toGeneration, type Generation } from './generation.ts'
import { createImportLease, currentLease, running, withoutLease, type ImportLease } from './lease.ts'
import type { Store } from '../ports/store.ts'
import type { ServingPeriod } from '../outgoing/serving-periods.ts'
import type { TopicIdentity } from '../ports/log-admin.ts'

/** The tables of the control rows and of the ledger of sent events. They must be as durable as the log, because they cannot be rebuilt from it. */
export const CONTROL_TABLE: TableSpec = { name: 'tributary-control', ttl: 'ttl', indexes: [] }
export const LEDGER_TABLE: TableSpec = { name: 'tributary-ledger', ttl: 'ttl', indexes: [] }

/** The pointer to the serving generation, with its serving period and the earlier serving periods. */
interface Serving extends ServingPeriod {
  /** The earlier serving periods, newest first. */
  readonly before: readonly ServingPeriod[]
  /** The version of the pointer's row. The caller of `flip` passes the version that it has read. */
  readonly version: number
  /** The instant from which the generation serves, in epoch milliseconds. */
  readonly since: number
}

/** The result of a comparison of stored items with the fold of their log. */
export interface Proof {
  /** The instant of the comparison, in epoch milliseconds. */
  readonly at: number
  readonly items: number
  /**
   * The number of differences. The result of a sample includes the differences of earlier results: only a full verification shows that they
   * are gone.
   */
  readonly differences: number
  readonly generation: number
  /** The number of log keys whose items were compared. Null: all log keys. */
  readonly keys: number | null
}

export interface Control extends Builds, ImportLease {
  /**
   * Adds a domain that is not listed yet: the identity of its topic, and its first generation. Before it lists the generation, calls
   * `create` to create the generation's table.
   */
  ensure(domain: Domain, identity: TopicIdentity, create: () => Promise<void>): Promise<void>
  isListed(domain: string): Promise<boolean>
  identity(domain: string): Promise<TopicIdentity | undefined>
  serving(domain: string): Promise<Serving>
  /** All generations except dropped ones. */
  generations(domain: string): Promise<readonly Generation[]>
  /** Stores the result of the last verification. */
  verified(domain: string, proof: Proof): Promise<void>
  lastVerified(domain: string): Promise<Proof | undefined>
  /**
   * Changes the serving generation in one write. Fault `control-conflict` if the version of the pointer to it is no longer `seen`, or if
   * the new generation does not follow the log.
   */
  flip(domain: string, to: ServingPeriod, seen: number): Promise<void>
  /**
   * Marks a generation as being dropped, so that no process follows it. Faults: `generation-serving`; `rebuild-running` if another process
   * builds the generation. `over` is a holder that is known to be dead: its lease does not prevent the drop.
   */
  drop(domain: string, generation: number, over?: string): Promise<Generation>
  /**
   * Marks each generation that is being built as being dropped, because it contains data that must be erased. The builder gets the fault
   * `build-outdated` and begins a new generation.
   */
  endBuilds(domain: string): Promise<void>
  /** Records that the table and the group of a generation are removed. Its number is not used again. */
  dropped(domain: string, generation: number): Promise<void>
}

export interface ControlParts {
  readonly store: Store
  readonly now: () => number
}

/** The maximum number of earlier serving periods that are stored. */
const MAX_PERIODS = 100

export const createControl = (parts: ControlParts): Control => {
  const rows = createRows(parts)
  return {
    ...pointer(parts, rows),
    ...createBuilds(rows, parts.now),
    ...dropping(parts, rows),
    ...proofs(rows),
    ...createImportLease(rows, parts.now),
  }
}

const pointer = (
  { now }: ControlParts,
  { read, list, write }: Rows,
): Pick<Control, 'ensure' | 'isListed' | 'identity' | 'serving' | 'generations' | 'flip'> => ({
  isListed: async (domain) => (await read(domain, 'SERVING')) !== undefined,
  ensure: async (domain, identity, create) => {
    const { name } = domain
    if ((await read(name, 'TOPIC')) === undefined)
      await write({ was: undefined, item: { PK: pk(name), SK: 'TOPIC', ...identity } })
    if ((await read(name, 'SERVING')) !== undefined) return
    // The table is created before the generation is listed, because a listed generation without a table is an error.
    await create()
    await write({
      was: undefined,
      item: { PK: pk(name), SK: generationSk(1), ...generationOf(domain, 1, now()), state: 'following' },
    })
    await write({ was: undefined, item: { PK: pk(name), SK: 'SERVING', generation: 1, from: {}, since: now() } })
  },
  identity: async (domain) => {
    const item = await read(domain, 'TOPIC')
    return (
      item && {
        cluster: String(item['cluster']),
        topic: String(item['topic']),
        partitions: item['partitions'] as number,
      }
    )
  },
  serving: async (domain) => {
    const item = await read(domain, 'SERVING')
    if (item === undefined)
      throw new Fault(
        'domain-unknown',
        `The control table does not list the domain ${domain}. Start the pipeline once: it creates the first generation.`,
      )
    return toServing(item)
  },
  generations: async (domain) =>
    (await list(domain, 'GEN#')).map((row) => toGeneration(row, now())).filter(({ state }) => state !== 'dropped'),
  flip: async (domain, to, seen) => {
    const [was, listed] = [await read(domain, 'SERVING'), await read(domain, generationSk(to.generation))]
    if (was === undefined || was._pos !== seen || listed?.['state'] !== 'following') throw conflict(domain)
    const before = [periodItem(toPeriod(was)), ...((was['before'] ?? []) as readonly Item[])].slice(0, MAX_PERIODS)
    const item = { PK: pk(domain), SK: 'SERVING', ...periodItem(to), since: now(), before }
    // The write includes the generation's row, so that the generation cannot be dropped at the same time.
    if (!(await write({ was, item }, { was: listed, item: listed }))) throw conflict(domain)
  },
})

const dropping = (
  { now }: ControlParts,
  { read, list, write, change }: Rows,
): Pick<Control, 'drop' | 'endBuilds' | 'dropped'> => ({
  endBuilds: async (domain) => {
    for (const { SK } of await list(domain, 'GEN#'))
      await change(domain, SK, (was) =>
        was?.['state'] === 'building' ? { ...withoutLease(was), state: 'dropping', outdated: true } : undefined,
      )
  },
  drop: async (domain, generation, over) => {
    const [serving, was] = [await read(domain, 'SERVING'), await read(domain, generationSk(generation))]
    if (was === undefined || serving === undefined) throw unknownGeneration(domain, generation)
    if (serving['generation'] === generation)
      throw new Fault('generation-serving', `Generation ${generation} of ${domain} serves; flip to another one first.`)
    const lease = currentLease(was, now())
    if (lease !== undefined && lease.holder !== over) throw running(domain, { generation, lease })
    if (was['state'] === 'dropping' || was['state'] === 'dropped') return toGeneration(was, now())
    const item = { ...withoutLease(was), state: 'dropping' }
    // The write includes the pointer, so that no process flips to the generation at the same time.
    if (!(await write({ was, item }, { was: serving, item: serving }))) throw conflict(domain)
    return toGeneration(item, now())
  },
  dropped: async (domain, generation) => {
    await change(domain, generationSk(generation), (was) =>
      was === undefined || was['state'] === 'dropped' ? undefined : { ...was, state: 'dropped' },
    )
  },
})

const proofs = ({ read, change }: Rows): Pick<Control, 'verified' | 'lastVerified'> => ({
  verified: async (domain, proof) => {
    // If two verifications end at the same time, the result that is written last stays. Both results are correct.
    await change(domain, 'VERIFIED', (was) => {
      const before =
        proof.keys !== null && was?.['generation'] === proof.generation ? (was['differences'] as number) : 0
      return { PK: pk(domain), SK: 'VERIFIED', ...proof, differences: Math.max(before, proof.differences) }
    })
  },
  lastVerified: async (domain) => {
    const item = await read(domain, 'VERIFIED')
    return (
      item && {
        at: item['at'] as number,
        items: item['items'] as number,
        differences: item['differences'] as number,
        generation: Number(item['generation'] ?? 0),
        keys: item['keys'] as number | null,
      }
    )
  },
})

const periodItem = ({ generation, from, parked }: ServingPeriod) => ({
  generation,
  from: Object.fromEntries(from),
  parked: Object.fromEntries(parked),
})
const toPeriod = (item: Item): ServingPeriod => ({
  generation: item['generation'] as number,
  from: toOffsets(item['from']),
  parked: new Map(Object.entries((item['parked'] ?? {}) as { [key: string]: number })),
})
const toServing = (item: Stored): Serving => ({
  ...toPeriod(item),
  before: ((item['before'] ?? []) as readonly Item[]).map(toPeriod),
  version: item._pos,
  since: Number(item['since'] ?? 0),
})
