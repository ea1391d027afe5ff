import type { Domain } from '../../../projections/projection.ts'
import { tableName } from '../../../projections/table.ts'
import { Fault, isFault } from '../../../schemas/fault.ts'
import type { Control } from './control.ts'
import type { Generation } from './generation.ts'
import type { Store } from '../ports/store.ts'
import { missingTo, type Positions } from './positions.ts'

/** A generation with an open store. */
interface Opened {
  readonly generation: number
  readonly store: Pick<Store, 'checkpoints'>
}

/** The serving generation, as this process last read it from the control table. */
export interface ServingGeneration<G extends Opened> {
  /** The generation. Throws `table-missing` while its table does not exist. */
  current(): G
  /**
   * Returns the generation, to answer a request. Throws `table-missing` as `current` does. Throws `table-rewound` while the table contains
   * less than it contained before, for example after a restore from a backup.
   */
  answering(): G
  /** Returns the serving generation if this release is too old to read its items correctly. Otherwise undefined. */
  unreadable(): Generation | undefined
  /** Reads the pointer to the serving generation. Opens the generation if it is not open yet. */
  refresh(): Promise<void>
  /**
   * Compares the checkpoints of the generation's table with those that this process read or wrote before. If they are lower, `answering`
   * throws `table-rewound` from now on.
   */
  checkRewound(): Promise<void>
}

export interface ServingParts<G extends Opened> {
  readonly domain: Domain
  readonly control: Pick<Control, 'serving' | 'generations'>
  readonly generation: (generation: number) => Promise<G>
  readonly failed: (error: unknown) => void
  /** The positions up to which this process wrote to a generation; empty if it does not process that generation. */
  readonly written: (generation: number) => Positions
}

export const openServing = async <G extends Opened>({
  domain,
  control,
  generation,
  failed,
  written,
}: ServingParts<G>): Promise<ServingGeneration<G>> => {
  let serving: G | Fault | undefined
  /** The highest checkpoints that this process has read from the table of the serving generation. */
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
    // No await between these assignments, so that a request sees all of them or none.
    serving = opened
    row = listed
    seen = new Map()
    rewound = undefined
  }
  const refresh = async (): Promise<void> => {
    const pointer = await control.serving(domain.name)
    if (serving === undefined || serving instanceof Fault || pointer.generation !== serving.generation)
      await open(pointer.generation)
  }
  const current = (): G => {
    if (serving === undefined || serving instanceof Fault)
      throw (
        serving ??
        new Fault('table-missing', `The serving generation of ${domain.name} is not open.`, { retriable: true })
      )
    return serving
  }
  const checkRewound = async (): Promise<void> => {
    const checked = serving
    if (checked === undefined || checked instanceof Fault) return
    const { store, generation: number } = checked
    // These positions are computed before the checkpoints are read. During the read they can grow, and would then exceed the result
    // although the table lost nothing.
    const before = furthest(seen, written(number))
    const stored = await store.checkpoints()
    if (serving !== checked) return
    if (missingTo(before, stored) > 0) {
      if (rewound === undefined) failed((rewound = tableRewound(tableName(domain.table, number))))
    } else {
      seen = furthest(seen, stored)
      rewound = undefined
    }
  }
  await refresh()
  await checkRewound().catch(failed)
  return {
    current,
    unreadable: () => (row !== undefined && row.readableFrom > domain.foldVersion ? row : undefined),
    refresh,
    checkRewound,
    answering: () => {
      if (rewound !== undefined) throw rewound
      return current()
    },
  }
}

const furthest = (one: Positions, other: Positions): Positions =>
  new Map(
    [...one, ...other].map(([partition]) => [partition, Math.max(one.get(partition) ?? 0, other.get(partition) ?? 0)]),
  )

const tableRewound = (table: string): Fault =>
  new Fault(
    'table-rewound',
    `The table ${table} contains less than before: it was restored from a backup or created anew. Requests get 503 until its processors have folded the missing events again.`,
    { retriable: true },
  )
