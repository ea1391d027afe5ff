import { join } from 'node:path'
import type { SeriesStores } from '../../processors/engine/ports/series.ts'
import type { BuildStorage } from '../../processors/engine/rebuild/rebuild.ts'
import type { Domain } from '../../projections/projection.ts'
import type { Config } from '../config/config.ts'

/** Opens the embedded series in a folder. Only one process at a time may have the same file open. */
export const openEmbeddedSeries = async (folder: string): Promise<SeriesStores> =>
  (await import('../../processors/adapters/duckdb/series.ts')).duckdbSeries({ folder })

/** The store of the points that the configuration selects. Loads only the module of that store. */
export const openSeriesStores = async ({ data, series, dynamodb }: Config): Promise<SeriesStores> => {
  if (series.kind === 'embedded') return openEmbeddedSeries(join(data, 'series'))
  if (series.kind === 'timestream')
    return (await import('../../processors/adapters/timestream/series.ts')).timestreamSeries(series)
  return (await import('../../processors/adapters/dynamodb/readings.ts')).dynamoReadings(dynamodb ?? {})
}

/** Returns the part of a build's storage that opens the points of a generation. Empty if the domain has no series. */
export const buildStorageSeries = ({ series: spec }: Domain, stores: SeriesStores): Pick<BuildStorage, 'series'> =>
  spec === undefined ? {} : { series: (generation) => stores.open(spec, generation) }

export const dropSeries = async ({ series: spec }: Domain, stores: SeriesStores, generation: number): Promise<void> => {
  if (spec !== undefined) await stores.drop(spec, generation)
}
