import type { Domain } from '../../projections/projection.ts'
import { tableName } from '../../projections/table.ts'
import { Fault, isFault } from '../../schemas/fault.ts'
import type { Control, Generation } from './control.ts'
import type { Followed } from './pipeline.ts'
import { missingTo, type Positions } from './positions.ts'

/** The generation that answers, as this process sees it. */
export interface ServingGeneration {
  /** Throws `table-missing` while its table does not exist. */
  current(): Followed
  /** The same for requests. Throws also `table-rewound` while its table contains less than it contained before. */
  answering(): Followed
  /** The serving generation, if an edge of this release would misread its items; undefined otherwise. */
  unreadable(): Generation | undefined
  /** Reads which generation serves, and opens it. */
  refresh(): Promise<void>
  /** Compares the checkpoints of its table with those that this process saw before. */
  look(): Promise<void>
}

export interface ServingParts {
  readonly domain: Domain
  readonly control: Pick<Control, 'serving' | 'generations'>
  readonly generation: (generation: number) => Promise<Followed>
  readonly failed: (error: unknown) => void
  /** The positions up to which this process wrote to a generation; empty if it does not process that generation. */
  readonly written: (generation: number) => Positions
}

export const openServing = async ({ domain, control, generation, failed, written }: ServingParts): Promise<ServingGeneration> => {
  let serving: Followed | Fault | undefined
  /** The furthest checkpoints that the table of the serving generation has had. */
  let seen: Positions = new Map()
  let rewound: Fault | undefined
  let row: Generation | undefined

  const open = async (number: number): Promise<void> => {
    const opened = await generation(number).catch((error: unknown) => {
      if (!isFault(error, 'table-missing')) throw error
      return error
    })
    const listed = (await control.generations(domain.name)).find((each) => each.generation === number)
    if (opened instanceof Fault && !(serving instanceof Fault)) failed(opened)
    // No await between these: a request sees both or neither.
    serving = opened
    row = listed
    seen = new Map()
    rewound = undefined
  }
  const refresh = async (): Promise<void> => {
    const pointer = await control.serving(domain.name)
    if (serving === undefined || serving instanceof Fault || pointer.generation !== serving.generation) await open(pointer.generation)
  }
  const current = (): Followed => {
    if (serving === undefined || serving instanceof Fault) throw serving ?? new Fault('table-missing', `The serving generation of ${domain.name} is not open.`, { retriable: true })
    return serving
  }
  const look = async (): Promise<void> => {
    const looked = serving
    if (looked === undefined || looked instanceof Fault) return
    const { store, generation: number } = looked
    // Noted before the read, because looks overlap and their answers may arrive in another order.
    const before = furthest(seen, written(number))
    const stored = await store.checkpoints()
    if (serving !== looked) return
    if (missingTo(before, stored) > 0) {
      if (rewound === undefined) failed((rewound = tableRewound(tableName(domain.table, number))))
    } else {
      seen = furthest(seen, stored)
      rewound = undefined
    }
  }
  await refresh()
  await look().catch(failed)
  return {
    current,
    unreadable: () => (row !== undefined && row.readableFrom > domain.foldVersion ? row : undefined),
    refresh,
    look,
    answering: () => {
      if (rewound !== undefined) throw rewound
      return current()
    },
  }
}

const furthest = (one: Positions, other: Positions): Positions =>
  new Map([...one, ...other].map(([partition]) => [partition, Math.max(one.get(partition) ?? 0, other.get(partition) ?? 0)]))

const tableRewound = (table: string): Fault =>
  new Fault('table-rewound', `The table ${table} contains less than before: it was restored from a backup or created anew. Requests get 503 until its processors have folded the missing events again.`, { retriable: true })
