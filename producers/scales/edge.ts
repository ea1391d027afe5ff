import { accessRefusals } from '../../projections/access/refusals.ts'
import { scalesRefusals } from '../../projections/scales/refusals.ts'
import type { DomainEdge } from '../http/domain.ts'
import { alertRoutes } from './alert-routes.ts'
import { beerRoutes } from './beer-routes.ts'
import { deviceAccess } from './device-tokens.ts'
import { deviceChannels } from './device-channels.ts'
import { scaleDevices } from './device-messages.ts'
import { deviceRecordRoutes } from './device-record-routes.ts'
import { deviceRoutes } from './device-routes.ts'
import { barLive } from './live.ts'
import { kegRoutes } from './keg-routes.ts'
import { placeRoutes } from './location-routes.ts'
import { pourRoutes } from './pour-routes.ts'
import { readingRoutes } from './reading-routes.ts'
import { seriesRoutes } from './series-routes.ts'
import { tapRoutes } from './tap-routes.ts'

/** The edge of keg scales. The host adds the access to the log and to the serving generation. */
export const scalesEdge: Pick<
  DomainEdge,
  'name' | 'routes' | 'access' | 'refusals' | 'live' | 'devices' | 'channels' | 'derives'
> = {
  name: 'scales',
  derives: true,
  routes: [
    ...tapRoutes,
    ...kegRoutes,
    ...pourRoutes,
    ...alertRoutes,
    ...placeRoutes,
    ...deviceRoutes,
    ...deviceRecordRoutes,
    ...readingRoutes,
    ...beerRoutes,
    ...seriesRoutes,
  ],
  access: deviceAccess,
  refusals: [accessRefusals, scalesRefusals],
  live: barLive,
  devices: scaleDevices,
  channels: deviceChannels,
}
