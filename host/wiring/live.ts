import type { DomainEdge } from '../../producers/http/domain.ts'
import type { Connections, LiveParts } from '../../producers/http/live.ts'
import type { ConnectionStorage } from '../../producers/live/spec.ts'
import type { Runtime } from './runtime.ts'

/** The parts of the runtime that live routes need. */
type LiveRuntime = Pick<Runtime, 'clock'> & {
  readonly adapters: Pick<Runtime['adapters'], 'stores'>
  readonly config: Pick<Runtime['config'], 'origins'>
}

/** Opens the table of WebSocket connections of each domain that has a live route. Requirements S15, S52 and S53. */
export const liveParts = async (
  { adapters, clock, config }: LiveRuntime,
  domains: readonly Pick<DomainEdge, 'name' | 'live'>[],
): Promise<LiveParts> => {
  const connections = new Map<string, Connections>()
  for (const { name, live } of domains)
    if (live !== undefined) connections.set(name, await openConnections(adapters, live.connections))
  return { origins: config.origins, sleep: clock.sleep, connections }
}

const openConnections = async (
  { stores }: LiveRuntime['adapters'],
  { table, keyOf, itemOf }: ConnectionStorage,
): Promise<Connections> => {
  const store = await stores.create(table, 1)
  await stores.enableTtl?.(table, 1)
  return {
    async opened(connection) {
      await store.commit([[[{ put: { ...itemOf(connection), _pos: 0 }, expect: null }]]])
    },
    async closed(id) {
      await store.commit([[[{ remove: keyOf(id), expect: 0 }]]])
    },
  }
}
