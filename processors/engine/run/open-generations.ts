import type { Domain } from '../../../projections/projection.ts'
import { isFault } from '../../../schemas/fault.ts'
import type { Control } from '../generations/control.ts'
import type { Series } from '../ports/series.ts'
import type { Store } from '../ports/store.ts'
import { createOutcomes, type Outcomes } from './outcomes.ts'
import type { PipelineParts } from './pipeline-parts.ts'

/** A generation with its open stores. */
export interface OpenGeneration {
  readonly generation: number
  readonly store: Store
  /** The points. Undefined if the domain has no points. */
  readonly series: Series | undefined
  readonly outcomes: Outcomes
}

/** Opens the stores of a generation at the first call, and returns the same open stores at later calls. */
export const createOpenGenerations = ({ domain, stores, series: seriesStores, clock, pollMs }: PipelineParts) => {
  const opened = new Map<number, Promise<OpenGeneration>>()
  const openStores = async (generation: number): Promise<OpenGeneration> => {
    const store = await stores.open(domain.table, generation)
    const series = domain.series && seriesStores?.open(domain.series, generation)
    return {
      generation,
      store,
      series,
      outcomes: createOutcomes({ domain, store: () => store, clock, ...(pollMs === undefined ? {} : { pollMs }) }),
    }
  }
  const open = (number: number): Promise<OpenGeneration> => {
    const opening = opened.get(number) ?? openStores(number)
    opened.set(number, opening)
    opening.catch(() => opened.delete(number))
    return opening
  }
  const close = async (number: number): Promise<void> => {
    const known = await opened.get(number)?.catch(() => undefined)
    opened.delete(number)
    await known?.series?.close()
    await known?.store.close()
  }
  return { open, close }
}

interface Listing {
  readonly domain: Pick<Domain, 'name'>
  readonly control: Pick<Control, 'generations'>
  readonly generation: (generation: number) => Promise<OpenGeneration>
}

/** Opens each generation that the control table lists as following, whichever process follows it. */
export const followingGenerations = async ({
  domain,
  control,
  generation,
}: Listing): Promise<readonly OpenGeneration[]> => {
  const listed = (await control.generations(domain.name)).filter(({ state }) => state === 'following')
  return Promise.all(listed.map((each) => generation(each.generation)))
}

export interface Opening<G = OpenGeneration> {
  readonly generation: (generation: number) => Promise<G>
  readonly serving: number
  /** Receives each generation that is left out, and the reason. */
  readonly damaged?: (generation: number, error: unknown) => void
}

/**
 * Opens the given generations. Leaves out a generation with a missing table. Leaves out a generation with a damaged table, so that an
 * operator can drop it; but throws if this generation serves.
 */
export const openUndamaged = async <G>(
  numbers: readonly number[],
  { generation, serving, damaged }: Opening<G>,
): Promise<readonly G[]> => {
  const opened = await Promise.all(
    numbers.map((number) =>
      generation(number).catch((error: unknown) => {
        if (!isFault(error, 'table-missing') && (number === serving || !isFault(error, 'data-damaged'))) throw error
        damaged?.(number, error)
        return undefined
      }),
    ),
  )
  return opened.filter((each) => each !== undefined)
}
