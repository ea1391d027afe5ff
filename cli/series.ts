import { join } from 'node:path'
import type { Followed, Pipeline } from '../processors/engine/pipeline.ts'
import type { SeriesStores } from '../processors/engine/series.ts'
import type { Workshop } from '../processors/engine/rebuild.ts'
import type { DomainEdge } from '../producers/http/domain.ts'
import type { SeriesHeard } from '../producers/http/route.ts'
import type { Domain } from '../projections/projection.ts'
import type { Config } from './config.ts'

/** The embedded series in a folder. Each file belongs to one process at a time. */
export const openEmbeddedSeries = async (folder: string): Promise<SeriesStores> =>
  (await import('../processors/adapters/duckdb/series.ts')).duckdbSeries({ folder })

/** Where points go by this configuration. Only what is configured is loaded. */
export const openSeriesStores = async ({ data, series, dynamodb }: Config): Promise<SeriesStores> => {
  if (series.kind === 'embedded') return openEmbeddedSeries(join(data, 'series'))
  if (series.kind === 'timestream') return (await import('../processors/adapters/timestream/series.ts')).timestreamSeries(series)
  return (await import('../processors/adapters/dynamodb/readings.ts')).dynamoReadings(dynamodb ?? {})
}

/** What a workshop does with the points of a domain that has any. */
export const workshopSeries = ({ series: spec }: Domain, stores: SeriesStores): Pick<Workshop, 'series'> => (spec === undefined ? {} : { series: (generation) => stores.open(spec, generation) })

export const dropSeries = async ({ series: spec }: Domain, stores: SeriesStores, generation: number): Promise<void> => {
  if (spec !== undefined) await stores.drop(spec, generation)
}

/** The edge of a domain whose series are another domain: each request asks once which generation of them serves. */
export const withSeries = (edge: DomainEdge, pipeline: Pipeline | undefined, { now, patienceMs }: { readonly now: () => number; readonly patienceMs: number }): DomainEdge => {
  if (pipeline === undefined) return edge
  let answering: Followed | undefined
  let asked: SeriesHeard | undefined
  const series = (): SeriesHeard | undefined => {
    const serving = pipeline.answering()
    if (serving !== answering) asked = serving.series && { reader: serving.store.reader(now, patienceMs), points: serving.series.reader, reached: serving.outcomes.reached }
    answering = serving
    return asked
  }
  return { ...edge, questions: async () => ({ ...(await edge.questions()), series: series() }) }
}
