import type { Item, Stored } from '../../projections/item.ts'
import type { Domain } from '../../projections/projection.ts'
import { tableName, type TableSpec } from '../../projections/table.ts'
import { Fault } from '../../schemas/fault.ts'
import { conflict, createRows, pk, toOffsets, unknownGeneration, type RowChange, type Rows } from './control-rows.ts'
import type { Owed } from './build.ts'
import { createImportTurns, heldLease, leaseIn, leaseUntil, running, withoutLease, type Builder, type ImportTurns, type Lease } from './lease.ts'
import type { TopicIdentity } from './log.ts'
import { groupOf } from './processor.ts'
import type { Store } from './store.ts'
import type { Turn } from './turns.ts'

/** Durable beside the log, in tables of their own: who serves what, and what was sent. */
export const CONTROL_TABLE: TableSpec = { name: 'tributary-control', ttl: 'ttl', indexes: [] }
export const LEDGER_TABLE: TableSpec = { name: 'tributary-ledger', ttl: 'ttl', indexes: [] }

type GenerationState = 'building' | 'following' | 'dropping' | 'dropped'

/** One complete build of a domain's projections, or one on its way there. */
export interface Generation {
  readonly generation: number
  readonly table: string
  readonly group: string
  readonly foldVersion: number
  /** The oldest fold version whose edge reads its items correctly. */
  readonly readableFrom: number
  readonly state: GenerationState
  readonly createdAt: number
  /** What its build was told and how far it is; absent before it began to fold. */
  readonly work?: BuildState
  /** The process that builds it now. Absent if no process does. */
  readonly lease?: Lease
}

/** Kept with a generation while it is built, so that going on gives what going through would have given. */
export interface BuildState {
  readonly ends: ReadonlyMap<number, number>
  /** Among how many workers the keys are shared: the checkpoints of another number of them mean nothing. */
  readonly workers: number
  /** Where its local store lies. */
  readonly place: string
  /** Events for which the serving generation sends nothing: those of its parked keys, and all events of its turn if its table is missing. */
  readonly owed: readonly Owed[]
  /** Events folded, and how many of its items are in the generation's own table. */
  readonly events: number
  readonly perSecond: number
  readonly copied?: number
}

/** The pointer: which generation answers, from which positions on it is the one that sends, and who did before. */
interface Serving extends Turn {
  /** Newest first. */
  readonly before: readonly Turn[]
  /** The version of the pointer's row. A flip names the version that it read. */
  readonly version: number
  /** Epoch milliseconds. */
  readonly since: number
}

/** How a comparison of stored items with the fold of their log came out. */
export interface Proof {
  /** Epoch milliseconds. */
  readonly at: number
  readonly items: number
  /** After a sample, this includes the differences found before: only a full verification shows that they are gone. */
  readonly differences: number
  readonly generation: number
  /** The log keys that were drawn; null when all were compared. */
  readonly keys: number | null
}

/** The part of a domain that its generations record. */
type Versioned = Pick<Domain, 'name' | 'table' | 'foldVersion' | 'readableFrom'>

export interface Control extends ImportTurns {
  /** Lists a domain that is not listed yet: its topic's identity, and its first generation, whose table `create` creates before. */
  ensure(domain: Domain, identity: TopicIdentity, create: () => Promise<void>): Promise<void>
  isListed(domain: string): Promise<boolean>
  identity(domain: string): Promise<TopicIdentity | undefined>
  serving(domain: string): Promise<Serving>
  /** Without those that were dropped. */
  generations(domain: string): Promise<readonly Generation[]>
  /** Lists the next generation as building, with the builder's lease. Refused with `rebuild-running` while another process builds one of the domain. */
  begin(domain: Versioned, builder: Builder): Promise<Generation>
  /** Takes the lease of a generation that was left half-built. Refused like `begin`. */
  resume(domain: string, generation: number, builder: Builder): Promise<Generation>
  /** Extends the lease and stores how far the build is, in one write. Faults `lease-lost`, `build-cancelled`, `build-outdated`. */
  renew(domain: string, generation: number, work: BuildState & { readonly holder: string }): Promise<void>
  /** Ends the holder's lease. The half-built generation stays, and can be resumed. */
  release(domain: string, holder: string): Promise<void>
  /** The build is complete up to its ends: from now on the generation follows the log, and has no lease. Faults like `renew`. */
  follow(domain: string, generation: number, holder: string): Promise<void>
  /** Remembers how the last proof came out, for whoever watches. */
  verified(domain: string, proof: Proof): Promise<void>
  lastVerified(domain: string): Promise<Proof | undefined>
  /** One write, refused with `control-conflict` when the pointer is no longer the one that was `seen`. */
  flip(domain: string, to: Turn, seen: number): Promise<void>
  /** Nobody follows it any more, and its table may go. Refused for the serving one, and for one that is being built (`over`: by a dead process). */
  drop(domain: string, generation: number, over?: string): Promise<Generation>
  /** Whatever is being built holds what may not be kept: it may go, and its builder begins again (`build-outdated`). */
  endBuilds(domain: string): Promise<void>
  /** Its table and its group are gone. Its number is not used again. */
  dropped(domain: string, generation: number): Promise<void>
}

export interface ControlParts {
  readonly store: Store
  readonly now: () => number
}

const generationSk = (generation: number) => `GEN#${String(generation).padStart(4, '0')}`
/** How many turns are remembered. */
const TURNS = 100

export const createControl = (parts: ControlParts): Control => {
  const rows = createRows(parts)
  return { ...pointer(parts, rows), ...builds(parts, rows), ...dropping(parts, rows), ...proofs(rows), ...createImportTurns(rows, parts.now) }
}

const pointer = ({ now }: ControlParts, { read, list, write }: Rows): Pick<Control, 'ensure' | 'isListed' | 'identity' | 'serving' | 'generations' | 'flip'> => ({
  isListed: async (domain) => (await read(domain, 'SERVING')) !== undefined,
  ensure: async (domain, identity, create) => {
    const { name } = domain
    if ((await read(name, 'TOPIC')) === undefined) await write({ was: undefined, item: { PK: pk(name), SK: 'TOPIC', ...identity } })
    if ((await read(name, 'SERVING')) !== undefined) return
    // Before it is listed: a listed generation without its table is an error.
    await create()
    await write({ was: undefined, item: { PK: pk(name), SK: generationSk(1), ...generationOf(domain, 1, now()), state: 'following' } })
    await write({ was: undefined, item: { PK: pk(name), SK: 'SERVING', generation: 1, from: {}, since: now() } })
  },
  identity: async (domain) => {
    const item = await read(domain, 'TOPIC')
    return item && { cluster: String(item['cluster']), topic: String(item['topic']), partitions: item['partitions'] as number }
  },
  serving: async (domain) => {
    const item = await read(domain, 'SERVING')
    if (item === undefined) throw new Fault('domain-unknown', `The control table knows no domain ${domain}. Start the pipeline once: it makes the first generation.`)
    return toServing(item)
  },
  generations: async (domain) => (await list(domain, 'GEN#')).map((row) => toGeneration(row, now())).filter(({ state }) => state !== 'dropped'),
  flip: async (domain, to, seen) => {
    const [was, listed] = [await read(domain, 'SERVING'), await read(domain, generationSk(to.generation))]
    if (was === undefined || was._pos !== seen || listed?.['state'] !== 'following') throw conflict(domain)
    const before = [fromTurn(toTurn(was)), ...((was['before'] ?? []) as readonly Item[])].slice(0, TURNS)
    const item = { PK: pk(domain), SK: 'SERVING', ...fromTurn(to), since: now(), before }
    // The generation's own row goes along, so that it cannot be dropped in the same moment.
    if (!(await write({ was, item }, { was: listed, item: listed }))) throw conflict(domain)
  },
})

const builds = ({ now }: ControlParts, { list, write, change }: Rows): Pick<Control, 'begin' | 'resume' | 'renew' | 'release' | 'follow'> => {
  const refuseOthers = (domain: string, rows: readonly Stored[], { holder, over }: Builder): void => {
    const found = rows.map((row) => toGeneration(row, now())).find(({ lease }) => lease !== undefined && lease.holder !== holder && lease.holder !== over)
    if (found !== undefined) throw running(domain, found)
  }
  /** The rows of the domain's other builds are part of the write: of two processes that take a lease at the same moment, one fails. */
  const take = async (domain: string, builder: Builder, { was, item, rows }: RowChange & { readonly rows: readonly Stored[] }): Promise<Generation> => {
    refuseOthers(domain, rows, builder)
    const { holder, place } = builder
    const leased = { ...item, lease: { holder, place, since: now(), until: leaseUntil(now()) } }
    const others = rows.filter((row) => row['state'] === 'building' && row.SK !== item.SK).map((row) => ({ was: row, item: withoutLease(row) }))
    if (await write({ was, item: leased }, ...others)) return toGeneration(leased, now())
    refuseOthers(domain, await list(domain, 'GEN#'), builder)
    throw conflict(domain)
  }
  const changeHeld = async (domain: string, { generation, holder }: { readonly generation: number; readonly holder: string }, next: (row: Stored, lease: Lease) => Item): Promise<void> => {
    await change(domain, generationSk(generation), (was) => {
      const row = building(was, domain, generation)
      const lease = leaseIn(row)
      if (lease?.holder === holder) return next(row, lease)
      throw new Fault('lease-lost', `The build of ${domain} lost its lease to ${lease?.holder ?? 'another process'}; generation ${generation} stays half-built. See: tributary generations ${domain}.`)
    })
  }
  return {
    begin: async (domain, builder) => {
      const rows = await list(domain.name, 'GEN#')
      const made = generationOf(domain, Number(rows.at(-1)?.['generation'] ?? 0) + 1, now())
      return take(domain.name, builder, { rows, was: undefined, item: { PK: pk(domain.name), SK: generationSk(made.generation), ...made } })
    },
    resume: async (domain, generation, builder) => {
      const rows = await list(domain, 'GEN#')
      const was = building(rows.find(({ SK }) => SK === generationSk(generation)), domain, generation)
      return take(domain, builder, { rows, was, item: was })
    },
    renew: (domain, generation, { holder, ...work }) =>
      changeHeld(domain, { generation, holder }, (row, lease) => ({ ...row, work: workItem(work), lease: { ...lease, until: leaseUntil(now()) } })),
    release: async (domain, holder) => {
      for (const { SK } of await list(domain, 'GEN#')) await change(domain, SK, (was) => (was !== undefined && leaseIn(was)?.holder === holder ? withoutLease(was) : undefined))
    },
    follow: (domain, generation, holder) => changeHeld(domain, { generation, holder }, (row) => ({ ...withoutLease(row), state: 'following' })),
  }
}

const building = (row: Stored | undefined, domain: string, generation: number): Stored => {
  if (row === undefined) throw unknownGeneration(domain, generation)
  if (row['state'] === 'building') return row
  if (row['outdated'] === true) throw new Fault('build-outdated', `Somebody was forgotten while generation ${generation} of ${domain} was built: it is dropped, and built again under another number.`)
  throw new Fault('build-cancelled', `Generation ${generation} of ${domain} is ${String(row['state'])}: there is nothing to build. See: tributary generations ${domain}.`)
}

const dropping = ({ now }: ControlParts, { read, list, write, change }: Rows): Pick<Control, 'drop' | 'endBuilds' | 'dropped'> => ({
  endBuilds: async (domain) => {
    for (const { SK } of await list(domain, 'GEN#')) await change(domain, SK, (was) => (was?.['state'] === 'building' ? { ...withoutLease(was), state: 'dropping', outdated: true } : undefined))
  },
  drop: async (domain, generation, over) => {
    const [serving, was] = [await read(domain, 'SERVING'), await read(domain, generationSk(generation))]
    if (was === undefined || serving === undefined) throw unknownGeneration(domain, generation)
    if (serving['generation'] === generation) throw new Fault('generation-serving', `Generation ${generation} of ${domain} serves; flip to another one first.`)
    const lease = heldLease(was, now())
    if (lease !== undefined && lease.holder !== over) throw running(domain, { generation, lease })
    if (was['state'] === 'dropping' || was['state'] === 'dropped') return toGeneration(was, now())
    const item = { ...withoutLease(was), state: 'dropping' }
    // The pointer goes along, so that nobody flips to it in the same moment.
    if (!(await write({ was, item }, { was: serving, item: serving }))) throw conflict(domain)
    return toGeneration(item, now())
  },
  dropped: async (domain, generation) => {
    await change(domain, generationSk(generation), (was) => (was === undefined || was['state'] === 'dropped' ? undefined : { ...was, state: 'dropped' }))
  },
})

const proofs = ({ read, change }: Rows): Pick<Control, 'verified' | 'lastVerified'> => ({
  verified: async (domain, proof) => {
    // Of two proofs at the same time the later write stays; both are true.
    await change(domain, 'VERIFIED', (was) => {
      const before = proof.keys !== null && was?.['generation'] === proof.generation ? (was['differences'] as number) : 0
      return { PK: pk(domain), SK: 'VERIFIED', ...proof, differences: Math.max(before, proof.differences) }
    })
  },
  lastVerified: async (domain) => {
    const item = await read(domain, 'VERIFIED')
    return item && { at: item['at'] as number, items: item['items'] as number, differences: item['differences'] as number, generation: Number(item['generation'] ?? 0), keys: item['keys'] as number | null }
  },
})

const generationOf = ({ name, table, foldVersion, readableFrom = 1 }: Versioned, generation: number, createdAt: number) => ({
  generation,
  table: tableName(table, generation),
  group: groupOf(name, generation),
  foldVersion,
  readableFrom,
  state: 'building' as const,
  createdAt,
})

const toGeneration = (item: Item, now: number): Generation => {
  const lease = heldLease(item, now)
  return {
    generation: item['generation'] as number,
    table: String(item['table']),
    group: String(item['group']),
    foldVersion: item['foldVersion'] as number,
    readableFrom: Number(item['readableFrom'] ?? 1),
    state: item['state'] as GenerationState,
    createdAt: item['createdAt'] as number,
    ...(item['work'] === undefined ? {} : { work: toWork(item['work'] as Item) }),
    ...(lease && { lease }),
  }
}

const workItem = ({ ends, owed, ...work }: BuildState) => ({ ...work, ends: Object.fromEntries(ends), owed: owed.map((each) => ({ ...each })) })
const toWork = (item: Item): BuildState => ({ ...(item as Item & BuildState), ends: toOffsets(item['ends']) })

const fromTurn = ({ generation, from, parked }: Turn) => ({ generation, from: Object.fromEntries(from), parked: Object.fromEntries(parked) })
const toTurn = (item: Item): Turn => ({
  generation: item['generation'] as number,
  from: toOffsets(item['from']),
  parked: new Map(Object.entries((item['parked'] ?? {}) as { [key: string]: number })),
})
const toServing = (item: Stored): Serving => ({
  ...toTurn(item),
  before: ((item['before'] ?? []) as readonly Item[]).map(toTurn),
  version: item._pos,
  since: Number(item['since'] ?? 0),
})
