import type { Item, Key } from '../../projections/item.ts'
import { activeAlerts, alertPartition, locationPartition, taps } from '../../projections/scales/keys.ts'
import type { Call } from '../http/route.ts'
import type { LiveSpec } from '../live/spec.ts'
import { barConnections } from './connections.ts'
import { checkedLoc, requireMember } from './rights.ts'

const [LOCATION, ALERT] = [locationPartition(''), alertPartition('')]

/** The live feed of a location: its taps with their kegs, and its active alerts. */
export const barLive: LiveSpec = {
  url: '/v1/live',
  operationId: 'watchLocation',
  summary: 'Watch a location over a WebSocket: a snapshot of its taps and active alerts, then every change in order.',
  query: {
    type: 'object',
    additionalProperties: false,
    required: ['loc'],
    properties: { loc: { type: 'string', maxLength: 64 }, cursor: { type: 'string', maxLength: 64 } },
  },
  admit: async (call: Call) => {
    const loc = checkedLoc((call.query as { readonly loc: string }).loc)
    await requireMember(call, loc)
    return loc
  },
  partitions: (loc) => [
    { pk: locationPartition(loc), prefix: taps.prefix, limit: 100 },
    { pk: alertPartition(loc), prefix: activeAlerts.prefix, limit: 100 },
  ],
  topicOf: ({ PK, SK }: Key) => {
    if (PK.startsWith(LOCATION) && SK.startsWith(taps.prefix)) return PK.slice(LOCATION.length)
    return PK.startsWith(ALERT) && SK.startsWith(activeAlerts.prefix) ? PK.slice(ALERT.length) : undefined
  },
  nameOf: ({ SK }: Key) => SK,
  show: (item: Item) =>
    Object.fromEntries(
      Object.entries(item).filter(([name]) => name !== 'PK' && name !== 'SK' && !name.startsWith('_')),
    ),
  connections: barConnections,
}
