import { describe, expect, test, vi } from 'vitest'
import { createHub } from '../../../producers/live/hub.ts'
import { cursorOf, type LiveMessage, type LiveSpec } from '../../../producers/live/spec.ts'
import { createViewer, TOO_SLOW, type Viewer } from '../../../producers/live/viewer.ts'
import { lmdbStores } from '../../../processors/adapters/lmdb/store.ts'
import { systemClock } from '../../../processors/adapters/system-clock.ts'
import type { Store } from '../../../processors/engine/ports/store.ts'
import type { TableSpec } from '../../../projections/table.ts'
import { scratch, later } from '../../processors/adapters/lmdb/scratch.ts'

const table: TableSpec = { name: 'bars', ttl: 'ttl', indexes: [], watched: true }
const connectionKey = (id: string) => ({ PK: id, SK: 'META' })
const spec: LiveSpec = {
  url: '/v1/live',
  operationId: 'watchTest',
  summary: '',
  query: {},
  admit: async () => 'loc',
  partitions: (loc) => [{ pk: `BAR#${loc}`, prefix: 'TAP#', limit: 10 }],
  topicOf: ({ PK, SK }) => (SK.startsWith('TAP#') ? PK.slice(4) : undefined),
  nameOf: ({ SK }) => SK,
  show: ({ level }) => ({ level }),
  connections: { table, keyOf: connectionKey, itemOf: ({ id }) => connectionKey(id) },
}

const bar = async () => {
  const stores = lmdbStores({ folder: await scratch() })
  later(() => stores.close())
  const state = { generation: 1, store: await stores.create(table, 1) }
  const failures: unknown[] = []
  const hub = createHub({
    spec,
    serving: async () => ({
      generation: state.generation,
      reader: state.store.reader(() => 0),
      changes: state.store.changes,
    }),
    sleep: (_ms, signal) => systemClock.sleep(5, signal),
    failed: (error) => failures.push(error),
  })
  later(() => hub.stop())
  const put = async (
    tap: string,
    pos: number,
    level: number | null,
    { loc = 'loc', store = state.store }: { loc?: string; store?: Store } = {},
  ) => {
    const key = { PK: `BAR#${loc}`, SK: `TAP#${tap}` }
    const [was] = await store.load([key])
    const expectPos = was?._pos ?? null
    await store.commit([
      [
        [
          {
            put: level === null ? { ...key, _removed: true, ttl: 1, _pos: pos } : { ...key, level, _pos: pos },
            expect: expectPos,
          },
        ],
      ],
    ])
  }
  const flip = async () => {
    const store = await stores.create(table, 2)
    await put('01', 50, 99, { store })
    Object.assign(state, { generation: 2, store })
  }
  return { hub, put, flip, failures }
}

const client = (topic = 'loc') => {
  const heard: LiveMessage[] = []
  const state = { waiting: 0, closed: undefined as number | undefined }
  const viewer: Viewer = createViewer(spec, topic, {
    send: (text) => heard.push(JSON.parse(text) as LiveMessage),
    waiting: () => state.waiting,
    close: (code) => void (state.closed = code),
  })
  const levels = () =>
    heard.flatMap((message) =>
      message.type === 'changes'
        ? message.changes.map(({ key, version, item }) => [key, version, item?.['level'] ?? null])
        : [],
    )
  return { heard, viewer, levels, state }
}

describe('a viewer', () => {
  test('receives a snapshot, then every change of its topic in order, each once', async () => {
    const { hub, put } = await bar()
    await put('01', 1, 80)
    await put('09', 2, 10, { loc: 'elsewhere' })
    const one = client()
    await hub.join(one.viewer, undefined)
    expect(one.heard).toEqual([
      { type: 'snapshot', epoch: 1, cursor: '1.1', items: [{ key: 'TAP#01', version: 1, item: { level: 80 } }] },
    ])
    await put('01', 3, 79)
    await put('09', 4, 9, { loc: 'elsewhere' })
    await put('02', 5, 50)
    await put('01', 6, null)
    await vi.waitFor(() =>
      expect(one.levels()).toEqual([
        ['TAP#01', 3, 79],
        ['TAP#02', 5, 50],
        ['TAP#01', 6, null],
      ]),
    )
    expect(one.heard.at(-1)).toMatchObject({ cursor: '1.6' })
  })

  test('that returns with a cursor receives the changes since, and the keys that still exist', async () => {
    const { hub, put } = await bar()
    await put('01', 1, 80)
    await put('02', 2, 70)
    await put('03', 3, 60)
    const one = client()
    await hub.join(one.viewer, undefined)
    hub.leave(one.viewer)
    await put('01', 4, 79)
    await put('02', 5, null)
    const again = client()
    await hub.join(again.viewer, cursorOf('1.3'))
    expect(again.heard).toEqual([
      {
        type: 'resumed',
        epoch: 1,
        cursor: '1.4',
        keys: ['TAP#01', 'TAP#03'],
        changes: [{ key: 'TAP#01', version: 4, item: { level: 79 } }],
      },
    ])
  })

  test.each(['7.3', 'nonsense', '1', '', '1.x'])(
    'after a cursor of another generation (%j) a snapshot follows',
    async (cursor) => {
      const { hub, put } = await bar()
      await put('01', 1, 80)
      const one = client()
      await hub.join(one.viewer, cursorOf(cursor))
      expect(one.heard).toMatchObject([{ type: 'snapshot', epoch: 1 }])
    },
  )

  test.each(['1.3', '1.999999'])('after a cursor ahead of every item (%j) a snapshot follows', async (cursor) => {
    const { hub, put } = await bar()
    await put('01', 1, 80)
    await put('02', 2, 70)
    const [ahead, abreast] = [client(), client()]
    await hub.join(ahead.viewer, cursorOf(cursor))
    expect(ahead.heard).toMatchObject([
      { type: 'snapshot', epoch: 1, cursor: '1.2', items: [{ key: 'TAP#01' }, { key: 'TAP#02' }] },
    ])
    await hub.join(abreast.viewer, cursorOf('1.2'))
    expect(abreast.heard).toMatchObject([{ type: 'resumed', cursor: '1.2', changes: [] }])
  })

  test('receives a new snapshot with a new epoch when another generation serves', async () => {
    const { hub, put, flip, failures } = await bar()
    await put('01', 1, 80)
    const one = client()
    await hub.join(one.viewer, undefined)
    await flip()
    await vi.waitFor(() =>
      expect(one.heard.at(-1)).toMatchObject({
        type: 'snapshot',
        epoch: 2,
        items: [{ key: 'TAP#01', version: 50, item: { level: 99 } }],
      }),
    )
    await put('01', 51, 98)
    await vi.waitFor(() => expect(one.heard.at(-1)).toMatchObject({ type: 'changes', epoch: 2, cursor: '2.51' }))
    expect(failures).toEqual([])
  })

  test('that does not receive its messages is disconnected, and others are not affected', async () => {
    const { hub, put } = await bar()
    await put('01', 1, 80)
    const [slow, quick] = [client(), client()]
    await hub.join(slow.viewer, undefined)
    await hub.join(quick.viewer, undefined)
    slow.state.waiting = 2 * 1024 * 1024
    await put('01', 2, 79)
    await vi.waitFor(() => expect(slow.state.closed).toBe(TOO_SLOW))
    expect(quick.levels()).toEqual([['TAP#01', 2, 79]])
  })

  test('a large snapshot is divided into messages of a bounded size', async () => {
    const { hub, put } = await bar()
    for (let tap = 0; tap < 40; tap += 1) await put(String(tap).padStart(2, '0'), tap + 1, tap)
    const wide: LiveSpec = { ...spec, show: () => ({ text: 'x'.repeat(10_000) }) }
    const heard: string[] = []
    const viewer = createViewer(wide, 'loc', {
      send: (text) => heard.push(text),
      waiting: () => 0,
      close: () => undefined,
    })
    await hub.join(viewer, undefined)
    expect(Math.max(...heard.map((text) => text.length))).toBeLessThan(128 * 1024)
    const messages = heard.map((text) => JSON.parse(text) as { items: unknown[]; more?: true })
    expect(messages.flatMap(({ items }) => items)).toHaveLength(40)
    expect(messages.map(({ more }) => more === true)).toEqual([...messages.slice(1).map(() => true), false])
  })
})
