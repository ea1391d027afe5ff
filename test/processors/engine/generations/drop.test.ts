import { expect, test } from 'vitest'
import { createControl } from '../../../../processors/engine/generations/control.ts'
import { dropGeneration, type DropParts } from '../../../../processors/engine/generations/drop.ts'
import { keyOf } from '../../../../projections/item.ts'
import { ledger } from '../ledger.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'
import { virtualClock } from '../virtual-clock.ts'
import { outboxKey } from '../../../../processors/engine/outgoing/keys.ts'

const FLIPPED_AT = 10

/** Generation 1 served up to the position FLIPPED_AT, and generation 2 serves from this position on. */
const flipped = async () => {
  const clock = virtualClock()
  const control = createControl({ store: memoryStore(), now: clock.now })
  await control.ensure(ledger, { cluster: 'c', topic: ledger.topic, partitions: 1 }, async () => {})
  const { generation } = await control.begin(ledger, { holder: 'me', place: 'here' })
  await control.follow(ledger.name, generation, 'me')
  await control.flip(
    ledger.name,
    { generation, from: new Map([[0, FLIPPED_AT]]), parked: new Map() },
    (await control.serving(ledger.name)).version,
  )
  const store = memoryStore()
  const gone: string[] = []
  const parts: DropParts = {
    domain: ledger,
    generation: 1,
    control,
    clock,
    timeoutMs: 1_000,
    log: { watermarks: async () => [{ partition: 0, low: 0, high: 20 }] },
    admin: { removeGroup: async (group) => void gone.push(group) },
    stores: { drop: async (_, number) => void gone.push(`table ${number}`) },
    store: async () => store,
    storage: { place: 'here', lock: async () => undefined },
    closeGeneration: async () => void gone.push('let go'),
  }
  const owe = async (offset: number, kind = 'derived') => {
    const key = outboxKey({ partition: 0, offset }, 'accounts', 0)
    await store.commit([[[{ put: { ...key, kind, projection: 'accounts', cause: 'a', _pos: offset }, expect: null }]]])
    return key
  }
  const states = async () => (await control.generations(ledger.name)).map((each) => [each.generation, each.state])
  return { parts, store, gone, owe, states }
}

test('a generation with outbox rows to send is not dropped until they are sent', async () => {
  const { parts, store, gone, owe, states } = await flipped()
  const unsent = await owe(FLIPPED_AT - 1)
  await expect(dropGeneration(parts)).rejects.toMatchObject({
    code: 'outbox-not-empty',
    message: expect.stringContaining(unsent.SK) as string,
  })
  expect(gone).toEqual([])
  expect(await states()).toEqual([
    [1, 'following'],
    [2, 'following'],
  ])
  store.items.delete(keyOf(unsent))
  await dropGeneration(parts)
  expect(gone).toEqual(['let go', 'ledger.g1', 'table 1'])
  expect(await states()).toEqual([[2, 'following']])
})

test('outbox rows that another generation sends do not prevent a drop', async () => {
  const { parts, gone, owe } = await flipped()
  await owe(FLIPPED_AT)
  await dropGeneration(parts)
  expect(gone).toContain('table 1')
})

test('a row that an earlier release stored for an effect does not prevent a drop', async () => {
  const { parts, gone, owe } = await flipped()
  await owe(FLIPPED_AT - 1, 'effect')
  await dropGeneration(parts)
  expect(gone).toContain('table 1')
})
