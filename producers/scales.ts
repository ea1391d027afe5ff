import { accessRefusals } from '../projections/access/refusals.ts'
import { scalesRefusals } from '../projections/scales/refusals.ts'
import type { DomainEdge } from './http/domain.ts'
import { alertRoutes } from './scales/alert-routes.ts'
import { beerRoutes } from './scales/beer-routes.ts'
import { deviceAccess } from './scales/device-tokens.ts'
import { deviceChannels } from './scales/channels.ts'
import { deviceRecordRoutes } from './scales/device-record-routes.ts'
import { deviceRoutes } from './scales/device-routes.ts'
import { barLive } from './scales/live.ts'
import { kegRoutes } from './scales/keg-routes.ts'
import { placeRoutes } from './scales/place-routes.ts'
import { pourRoutes } from './scales/pour-routes.ts'
import { readingRoutes } from './scales/reading-routes.ts'
import { seriesRoutes } from './scales/series-routes.ts'
import { tapRoutes } from './scales/tap-routes.ts'

/** Keg scales at the edge: what the composition root adds is how to reach the log and the serving generation. */
export const scalesEdge: Pick<DomainEdge, 'name' | 'routes' | 'access' | 'refusals' | 'live' | 'channels' | 'derives'> = {
  name: 'scales',
  derives: true,
  routes: [...tapRoutes, ...kegRoutes, ...pourRoutes, ...alertRoutes, ...placeRoutes, ...deviceRoutes, ...deviceRecordRoutes, ...readingRoutes, ...beerRoutes, ...seriesRoutes],
  access: deviceAccess,
  refusals: [accessRefusals, scalesRefusals],
  live: barLive,
  channels: deviceChannels,
}
