import type { Item, Stored, Value } from '../../projections/item.ts'
import type { Domain } from '../../projections/projection.ts'
import { tableName, type TableSpec } from '../../projections/table.ts'
import { Fault } from '../../schemas/fault.ts'
import type { TopicIdentity } from './log.ts'
import { groupOf } from './processor.ts'
import type { Store } from './store.ts'
import type { Turn } from './turns.ts'

/** Durable beside the log, in tables of their own: who serves what, and what was sent. */
export const CONTROL_TABLE: TableSpec = { name: 'tributary-control', ttl: 'ttl', indexes: [] }
export const LEDGER_TABLE: TableSpec = { name: 'tributary-ledger', ttl: 'ttl', indexes: [] }

export type GenerationState = 'building' | 'following' | 'dropped'

/** One complete build of a domain's projections. */
export interface Generation {
  readonly generation: number
  readonly table: string
  readonly group: string
  readonly foldVersion: number
  readonly state: GenerationState
  readonly createdAt: number
}

/** The pointer: which generation answers, from which positions on it is the one that sends, and who did before. */
export interface Serving extends Turn {
  /** Of the pointer: whoever moves it says which one they saw. */
  readonly version: number
  /** Newest first. */
  readonly before: readonly Turn[]
}

/** How a comparison of stored items with the fold of their log came out. */
export interface Proof {
  /** Epoch milliseconds. */
  readonly at: number
  readonly items: number
  readonly differences: number
  /** The log keys that were drawn; null when all were compared. */
  readonly keys: number | null
}

export interface Control {
  /** The domain's first generation and its topic's identity, made once; afterwards what was kept. */
  ensure(domain: Domain, identity: TopicIdentity): Promise<void>
  identity(domain: string): Promise<TopicIdentity | undefined>
  serving(domain: string): Promise<Serving>
  generations(domain: string): Promise<readonly Generation[]>
  /** Lists the next generation as building. Refused with `rebuild-running` while another build holds the lease. */
  begin(domain: Domain, holder: string): Promise<Generation>
  renew(domain: string, holder: string): Promise<void>
  /** The build is complete up to its ends: from now on it follows the log. Only the lease's holder may say so. */
  follow(domain: string, generation: number, holder: string): Promise<void>
  abandon(domain: string, generation: number, holder: string): Promise<void>
  /** Remembers how the last proof came out, for whoever watches. */
  verified(domain: string, proof: Proof): Promise<void>
  lastVerified(domain: string): Promise<Proof | undefined>
  /** Moves the pointer, if it is still the one that was `seen`. */
  flip(domain: string, to: Turn, seen: number): Promise<void>
}

export interface ControlParts {
  readonly store: Store
  readonly now: () => number
}

const LEASE_MS = 60_000
const pk = (domain: string) => `DOMAIN#${domain}`
const generationSk = (generation: number) => `GEN#${String(generation).padStart(4, '0')}`

type Rows = ReturnType<typeof createRows>

const createRows = ({ store }: ControlParts) => ({
  read: async (domain: string, SK: string): Promise<Stored | undefined> => (await store.load([{ PK: pk(domain), SK }]))[0],
  /** One conditional write: false when somebody else wrote since `was` was read. */
  write: async (was: Stored | undefined, item: Item): Promise<boolean> => {
    const [outcome] = await store.commit([[[{ put: { ...item, _pos: (was?._pos ?? 0) + 1 }, expect: was?._pos ?? null }]]])
    return outcome?.applied === 'all'
  },
})

export const createControl = (parts: ControlParts): Control => {
  const { store, now } = parts
  const rows = createRows(parts)
  const { read, write } = rows
  const { lease, release } = createLease(rows, now)
  const generations: Control['generations'] = async (domain) => {
    const { items } = await store.reader(now).query({ pk: pk(domain), prefix: 'GEN#', limit: 200 })
    return items.map(toGeneration).filter(({ state }) => state !== 'dropped')
  }
  const serving: Control['serving'] = async (domain) => {
    const item = await read(domain, 'SERVING')
    if (item === undefined) throw new Fault('domain-unknown', `The control table knows no domain ${domain}. Start the pipeline once: it makes the first generation.`)
    const before = (item['before'] ?? []) as readonly { readonly [name: string]: Value }[]
    return { ...toTurn(item), version: item._pos, before: before.map(toTurn) }
  }
  const ensure: Control['ensure'] = async (domain, identity) => {
    const { name } = domain
    if ((await read(name, 'TOPIC')) === undefined) await write(undefined, { PK: pk(name), SK: 'TOPIC', ...identity })
    if ((await read(name, 'SERVING')) !== undefined) return
    await write(undefined, { PK: pk(name), SK: generationSk(1), ...generationOf(domain, 1, now()), state: 'following' })
    await write(undefined, { PK: pk(name), SK: 'SERVING', generation: 1, from: {} })
  }
  const begin: Control['begin'] = async (domain, holder) => {
    await lease(domain.name, holder)
    const { items } = await store.reader(now).query({ pk: pk(domain.name), prefix: 'GEN#', reverse: true, limit: 1 })
    const made = generationOf(domain, (items[0] === undefined ? 0 : toGeneration(items[0]).generation) + 1, now())
    await write(undefined, { PK: pk(domain.name), SK: generationSk(made.generation), ...made })
    return made
  }
  const mark = async (domain: string, generation: number, state: GenerationState) => {
    const was = await read(domain, generationSk(generation))
    if (was === undefined) throw new Fault('generation-unknown', `${domain} has no generation ${generation}. See: tributary status.`)
    if (!(await write(was, { ...was, state }))) throw new Fault('control-conflict', `Generation ${generation} of ${domain} was changed by another meanwhile. Try again.`, { retriable: true })
  }
  const ended = (state: GenerationState) => async (domain: string, generation: number, holder: string) => {
    await lease(domain, holder)
    await mark(domain, generation, state)
    await release(domain, holder)
  }
  const flip: Control['flip'] = async (domain, to, seen) => {
    const was = await serving(domain)
    const item = { PK: pk(domain), SK: 'SERVING', ...fromTurn(to), before: [was, ...was.before].map(fromTurn), _pos: seen + 1 }
    const [outcome] = await store.commit([[[{ put: item, expect: seen }]]])
    if (outcome?.applied !== 'all') throw new Fault('control-conflict', `Somebody else flipped ${domain} meanwhile. Look at tributary status and try again.`)
  }
  const identity: Control['identity'] = async (domain) => {
    const item = await read(domain, 'TOPIC')
    return item && { cluster: String(item['cluster']), topic: String(item['topic']), partitions: item['partitions'] as number }
  }
  const verified: Control['verified'] = async (domain, proof) => {
    // Two at once: the last word stands, and either is true.
    while (!(await write(await read(domain, 'VERIFIED'), { PK: pk(domain), SK: 'VERIFIED', ...proof })));
  }
  const lastVerified: Control['lastVerified'] = async (domain) => {
    const item = await read(domain, 'VERIFIED')
    return item && { at: item['at'] as number, items: item['items'] as number, differences: item['differences'] as number, keys: item['keys'] as number | null }
  }
  return { ensure, identity, verified, lastVerified, serving, generations, begin, renew: lease, follow: ended('following'), abandon: ended('dropped'), flip }
}

/** One rebuild of a domain at a time; a holder that died lets go by time. */
const createLease = ({ read, write }: Rows, now: () => number) => ({
  lease: async (domain: string, holder: string): Promise<void> => {
    const was = await read(domain, 'LEASE')
    const free = was === undefined || was['holder'] === holder || (was['until'] as number) <= now()
    if (free && (await write(was, { PK: pk(domain), SK: 'LEASE', holder, until: now() + LEASE_MS }))) return
    throw new Fault('rebuild-running', `Another rebuild of ${domain} is running (${String(was?.['holder'])}). Wait for it, or stop it; its lease ends within a minute.`)
  },
  release: async (domain: string, holder: string): Promise<void> => {
    const was = await read(domain, 'LEASE')
    if (was?.['holder'] === holder) await write(was, { PK: pk(domain), SK: 'LEASE', holder, until: 0 })
  },
})

const generationOf = ({ name, table, foldVersion }: Domain, generation: number, createdAt: number) => ({
  generation,
  table: tableName(table, generation),
  group: groupOf(name, generation),
  foldVersion,
  state: 'building' as const,
  createdAt,
})

const toGeneration = (item: Item): Generation => ({
  generation: item['generation'] as number,
  table: String(item['table']),
  group: String(item['group']),
  foldVersion: item['foldVersion'] as number,
  state: item['state'] as GenerationState,
  createdAt: item['createdAt'] as number,
})

const toTurn = ({ generation, from, parked }: { readonly [name: string]: Value | undefined }): Turn => ({
  generation: generation as number,
  from: new Map(Object.entries((from ?? {}) as { [partition: string]: number }).map(([partition, offset]) => [Number(partition), offset])),
  parked: new Map(Object.entries((parked ?? {}) as { [key: string]: number })),
})

const fromTurn = ({ generation, from, parked }: Turn) => ({ generation, from: Object.fromEntries(from), parked: Object.fromEntries(parked) })
