import type { Item } from '../../../projections/item.ts'
import type { Domain } from '../../../projections/projection.ts'
import { tableName } from '../../../projections/table.ts'
import { toOffsets } from './control-rows.ts'
import { currentLease, type Lease } from './lease.ts'

type GenerationState = 'building' | 'following' | 'dropping' | 'dropped'

/** One complete build of a domain's projections, or a half-built one. */
export interface Generation {
  readonly generation: number
  readonly table: string
  readonly group: string
  readonly foldVersion: number
  /** The oldest fold version of a program that reads the items of this generation correctly. */
  readonly readableFrom: number
  readonly state: GenerationState
  readonly createdAt: number
  /** The parameters and the progress of the build. Absent before the build has folded an event. */
  readonly work?: BuildState
  /** The lease of the process that builds the generation. Absent if no process builds it. */
  readonly lease?: Lease
}

/** The events of a key from an offset on, whose derived events the serving generation does not send. */
export interface UnsentEvents {
  readonly projection: string
  /** Null: all keys of the partition. */
  readonly key: string | null
  readonly partition?: number
  readonly offset: number
  /** Only events that were recorded at or after this time. Absent: all events. */
  readonly since?: number
}

/**
 * The parameters and the progress of a build. They are stored with the generation, so that a resumed build has the same result as one that
 * was not interrupted.
 */
export interface BuildState {
  readonly ends: ReadonlyMap<number, number>
  /** The number of workers that share the keys. The checkpoints of a build are valid only for this number. */
  readonly workers: number
  /** The machine and folder of the build's local store. */
  readonly place: string
  /**
   * The events for which this generation writes outbox rows: the events of keys that are parked in the serving generation. If the table of
   * the serving generation is missing, also all events since that generation began to serve.
   */
  readonly unsent: readonly UnsentEvents[]
  /** The number of folded events. */
  readonly events: number
  readonly perSecond: number
  /** The number of items that were copied to the generation's table. Absent before the copy began. */
  readonly copied?: number
}

/** The fields of a domain that a new generation is created from. */
export type Versioned = Pick<Domain, 'name' | 'table' | 'foldVersion' | 'readableFrom'>

/** The consumer group of a generation. */
export const groupOf = (domain: string, generation: number): string => `${domain}.g${generation}`

export const generationSk = (generation: number): string => `GEN#${String(generation).padStart(4, '0')}`

/** A new generation, in state `building`. */
export const generationOf = (
  { name, table, foldVersion, readableFrom = 1 }: Versioned,
  generation: number,
  createdAt: number,
) => ({
  generation,
  table: tableName(table, generation),
  group: groupOf(name, generation),
  foldVersion,
  readableFrom,
  state: 'building' as const,
  createdAt,
})

/** Reads a generation from its row. The lease is absent if it has expired at `now`. */
export const toGeneration = (item: Item, now: number): Generation => {
  const lease = currentLease(item, now)
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

export const workItem = ({ ends, unsent, ...work }: BuildState) => ({
  ...work,
  ends: Object.fromEntries(ends),
  owed: unsent.map((each) => ({ ...each })),
})
const toWork = (item: Item): BuildState => {
  const { owed = [], ...work } = item as Item & BuildState & { readonly owed?: BuildState['unsent'] }
  return { ...work, ends: toOffsets(item['ends']), unsent: owed }
}
