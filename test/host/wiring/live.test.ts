import { expect, test } from 'vitest'
import { liveParts } from '../../../host/wiring/live.ts'
import { lmdbStores } from '../../../processors/adapters/lmdb/store.ts'
import { systemClock } from '../../../processors/adapters/system-clock.ts'
import { connectionsQueries, connectionsTable } from '../../../producers/scales/connections.ts'
import { scalesEdge } from '../../../producers/scales/edge.ts'
import { later, scratch } from '../../processors/adapters/lmdb/scratch.ts'

const NOW = Date.parse('2026-11-16T20:00:00.000Z')
const HOURS = 3_600_000

const opened = async () => {
  const stores = lmdbStores({ folder: await scratch() })
  later(() => stores.close())
  const { connections: byDomain } = await liveParts(
    { adapters: { stores }, clock: systemClock, config: { origins: [] } },
    [scalesEdge],
  )
  const connections = byDomain.get('scales')
  if (connections === undefined) throw new Error('the domain has no connections')
  const store = await stores.create(connectionsTable, 1)
  const connect = (id: string, topic: string) =>
    connections.opened({ id, topic, user: 'ann', at: NOW, until: NOW + 2 * HOURS })
  return { connect, connections, queries: (now = NOW) => connectionsQueries(store.reader(() => now)) }
}

test('S15 S34 S52: a connection is stored with its location, its user and its latest end, two hours later', async () => {
  const { connect, queries } = await opened()
  await connect('c1', 'loc-001')
  expect(await queries().connection('c1')).toMatchObject({
    PK: 'WS_CONN#c1',
    SK: 'META',
    loc_id: 'loc-001',
    user_id: 'ann',
    connected_at: '2026-11-16T20:00:00.000Z',
    expires_at: NOW / 1000 + 7_200,
  })
  expect(await queries(NOW + 2 * HOURS).connection('c1')).toBeUndefined()
})

test('S35 S-d: the index returns the connections of a location and no others', async () => {
  const { connect, queries } = await opened()
  for (const [id, loc] of [
    ['c1', 'loc-001'],
    ['c2', 'loc-002'],
    ['c3', 'loc-001'],
  ] as const)
    await connect(id, loc)
  expect((await queries().connectionsOf('loc-001')).map(({ PK }) => PK)).toEqual(['WS_CONN#c1', 'WS_CONN#c3'])
  expect(await queries(NOW + 2 * HOURS).connectionsOf('loc-001')).toEqual([])
})

test('S53 S54: closing a connection removes it, also if it is closed twice', async () => {
  const { connect, connections, queries } = await opened()
  await connect('c1', 'loc-001')
  await connections.closed('c1')
  await connections.closed('c1')
  expect(await queries().connectionsOf('loc-001')).toEqual([])
})
