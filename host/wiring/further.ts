import type { DomainRecord } from '../../domains/record.ts'
import type { OpenGeneration } from '../../processors/engine/run/open-generations.ts'
import type { Pipeline } from '../../processors/engine/run/pipeline.ts'
import type { DomainEdge } from '../../producers/http/domain.ts'
import type { TrackedSeries } from '../../producers/http/route.ts'

interface FurtherParts {
  readonly pipelines: ReadonlyMap<string, Pipeline>
  readonly now: () => number
  readonly patienceMs: number
}

/**
 * Returns the edge with access to the further domains of its record: the points of `series`, and the readers of `also`. Each request determines
 * once which generation of each domain serves.
 */
export const withFurther = (
  edge: DomainEdge,
  { series, also = [] }: Pick<DomainRecord, 'series' | 'also'>,
  { pipelines, now, patienceMs }: FurtherParts,
): DomainEdge => {
  const points = pipelines.get(series?.name ?? '')
  if (points === undefined && also.length === 0) return edge
  const tracked =
    points &&
    oncePerGeneration(
      points,
      ({ store, series: stored, outcomes }): TrackedSeries | undefined =>
        stored && { reader: store.reader(now, patienceMs), points: stored.reader, untilFolded: outcomes.untilFolded },
    )
  const readers = also.flatMap(({ name }) => {
    const pipeline = pipelines.get(name)
    return pipeline === undefined
      ? []
      : [[name, oncePerGeneration(pipeline, ({ store }) => store.reader(now, patienceMs))] as const]
  })
  return {
    ...edge,
    serving: async () => ({
      ...(await edge.serving()),
      series: tracked?.(),
      further: Object.fromEntries(readers.map(([name, reader]) => [name, reader()])),
    }),
  }
}

/** Returns a function that returns the value of the serving generation. It calls `valueOf` once per generation. */
const oncePerGeneration = <T>({ answering }: Pipeline, valueOf: (serving: OpenGeneration) => T): (() => T) => {
  let latest: { readonly serving: OpenGeneration; readonly value: T } | undefined
  return () => {
    const serving = answering()
    if (latest?.serving !== serving) latest = { serving, value: valueOf(serving) }
    return latest.value
  }
}
