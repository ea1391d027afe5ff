import type { LiveParts } from '../producers/http/live.ts'
import { connectionKey, connectionsTable, type ConnectionItem } from '../producers/live/connections.ts'
import type { Runtime } from './runtime.ts'

/** What of a process it takes to be watched. */
type LiveRuntime = Pick<Runtime, 'clock'> & { readonly adapters: Pick<Runtime['adapters'], 'stores'>; readonly config: Pick<Runtime['config'], 'origins'> }

/** Who watches through this process, written down where other processes see it (S15, S52, S53). */
export const liveParts = async ({ adapters, clock, config }: LiveRuntime): Promise<LiveParts> => {
  const store = await adapters.stores.create(connectionsTable, 1)
  await adapters.stores.enableTtl?.(connectionsTable, 1)
  return {
    origins: config.origins,
    sleep: clock.sleep,
    connections: {
      async opened({ id, topic, user, at, until }) {
        const item: ConnectionItem = { ...connectionKey(id), loc_id: topic, user_id: user, connected_at: new Date(at).toISOString(), expires_at: Math.ceil(until / 1000) }
        await store.commit([[[{ put: { ...item, _pos: 0 }, expect: null }]]])
      },
      async closed(id) {
        await store.commit([[[{ remove: connectionKey(id), expect: 0 }]]])
      },
    },
  }
}
