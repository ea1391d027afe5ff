import { expect, test } from 'vitest'
import { createControl, type Control } from '../../../../processors/engine/generations/control.ts'
import { keyOf } from '../../../../projections/item.ts'
import { ledger } from '../ledger.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'

const NOWHERE = { from: new Map<number, number>(), parked: new Map<string, number>() }
const HERE = { place: 'here' }
const WORK = {
  ends: new Map([[0, 10]]),
  workers: 2,
  place: 'here',
  unsent: [{ projection: 'p', key: 'k', offset: 3 }],
  events: 4,
  perSecond: 3,
}

const controlled = async () => {
  let time = 1_000
  const store = memoryStore()
  const control = createControl({ store, now: () => time })
  await control.ensure(ledger, { cluster: 'c', topic: 't', partitions: 1 }, async () => {})
  return { store, control, pass: (ms: number) => void (time += ms) }
}

const leaseOf = async (control: Control) =>
  (await control.generations('ledger')).find(({ lease }) => lease !== undefined)

const complete = async ({ control }: Awaited<ReturnType<typeof controlled>>): Promise<number> => {
  const { generation } = await control.begin(ledger, { holder: 'one', ...HERE })
  await control.follow('ledger', generation, 'one')
  return generation
}

test('while a build of a domain runs, a second build is refused with the process and the start time of the first', async () => {
  const { control, pass } = await controlled()
  await control.begin(ledger, { holder: 'one', ...HERE })
  pass(5_000)
  await expect(control.begin(ledger, { holder: 'two', ...HERE })).rejects.toMatchObject({
    code: 'rebuild-running',
    message: expect.stringMatching(/one builds generation 2 since 1970-01-01T00:00:01Z/),
  })
})

test('a build that does not extend its lease loses it, and the next build takes a new number', async () => {
  const { control, pass } = await controlled()
  await control.begin(ledger, { holder: 'one', ...HERE })
  pass(60_001)
  expect(await control.begin(ledger, { holder: 'two', ...HERE })).toMatchObject({ generation: 3, state: 'building' })
  await expect(control.renew('ledger', 2, { ...WORK, holder: 'one' })).rejects.toMatchObject({ code: 'lease-lost' })
  await expect(control.follow('ledger', 2, 'one')).rejects.toMatchObject({ code: 'lease-lost' })
  expect(await control.generations('ledger')).toMatchObject([
    { generation: 1 },
    { generation: 2, state: 'building' },
    { generation: 3 },
  ])
})

test('the lease of a process that is known to be dead is taken over at once', async () => {
  const { control } = await controlled()
  await control.begin(ledger, { holder: 'one', ...HERE })
  await expect(control.resume('ledger', 2, { holder: 'two', ...HERE })).rejects.toMatchObject({
    code: 'rebuild-running',
  })
  expect(await control.resume('ledger', 2, { holder: 'two', ...HERE, over: 'one' })).toMatchObject({ generation: 2 })
  expect(await leaseOf(control)).toMatchObject({ generation: 2, lease: { holder: 'two' } })
})

test('if a build begins at the same moment as another resumes, one of them is refused', async () => {
  const { control } = await controlled()
  await control.begin(ledger, { holder: 'one', ...HERE })
  await control.release('ledger', 'one')
  const taken = await Promise.allSettled([
    control.begin(ledger, { holder: 'two', ...HERE }),
    control.resume('ledger', 2, { holder: 'three', ...HERE }),
  ])
  expect(taken.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(taken).toContainEqual({
    status: 'rejected',
    reason: expect.objectContaining({ code: 'rebuild-running' }) as Error,
  })
  expect((await control.generations('ledger')).filter(({ lease }) => lease !== undefined)).toHaveLength(1)
})

test('one write completes a build and removes its lease, so its process can die afterwards', async () => {
  const { store, control } = await controlled()
  await control.begin(ledger, { holder: 'one', ...HERE })
  let writes = 0
  const dying = createControl({
    store: {
      ...store,
      commit: async (spans) => ((writes += 1) > 1 ? Promise.reject(new Error('killed')) : store.commit(spans)),
    },
    now: () => 1_000,
  })
  await dying.follow('ledger', 2, 'one').catch(() => undefined)
  expect(await control.generations('ledger')).toMatchObject([{ generation: 1 }, { generation: 2, state: 'following' }])
  expect(await control.begin(ledger, { holder: 'two', ...HERE })).toMatchObject({ generation: 3 })
})

test('rows of an earlier release, which stored the lease in a row of its own, are read: a generation without a lease has no builder', async () => {
  const { store, control } = await controlled()
  await control.begin(ledger, { holder: 'one', ...HERE })
  await control.release('ledger', 'one')
  const old = {
    PK: 'DOMAIN#ledger',
    SK: 'LEASE',
    holder: 'one',
    place: 'here',
    generation: 2,
    since: 0,
    until: 90_000,
    _pos: 1,
  }
  store.items.set(keyOf(old), old)
  expect(await leaseOf(control)).toBeUndefined()
  expect(await control.resume('ledger', 2, { holder: 'two', ...HERE })).toMatchObject({
    generation: 2,
    lease: { holder: 'two' },
  })
})

test('the parameters and the progress of a build are stored for the process that resumes it', async () => {
  const { control } = await controlled()
  await control.begin(ledger, { holder: 'one', ...HERE })
  await control.renew('ledger', 2, { ...WORK, holder: 'one' })
  await control.release('ledger', 'one')
  expect(await leaseOf(control)).toBeUndefined()
  expect((await control.resume('ledger', 2, { holder: 'two', ...HERE })).work).toEqual(WORK)
})

test('a complete generation cannot be resumed', async () => {
  const controls = await controlled()
  const generation = await complete(controls)
  await expect(controls.control.resume('ledger', generation, { holder: 'two', ...HERE })).rejects.toMatchObject({
    code: 'build-cancelled',
  })
  await expect(controls.control.resume('ledger', 9, { holder: 'two', ...HERE })).rejects.toMatchObject({
    code: 'generation-unknown',
  })
})

test('the pointer moves only for a caller that read its current version, and contains the earlier serving periods', async () => {
  const controls = await controlled()
  const { control, pass } = controls
  const generation = await complete(controls)
  const { version } = await control.serving('ledger')
  pass(1_000)
  await control.flip('ledger', { generation, from: new Map([[0, 7]]), parked: new Map([['p#k', 3]]) }, version)
  await expect(control.flip('ledger', { generation: 1, ...NOWHERE }, version)).rejects.toMatchObject({
    code: 'control-conflict',
  })
  const serving = await control.serving('ledger')
  expect(serving).toMatchObject({ generation: 2, since: 2_000, before: [{ generation: 1 }] })
  expect(serving).toMatchObject({ from: new Map([[0, 7]]), parked: new Map([['p#k', 3]]) })
})

test('the serving generation, one that is being built and one that does not exist are not dropped', async () => {
  const { control } = await controlled()
  await control.begin(ledger, { holder: 'one', ...HERE })
  await expect(control.drop('ledger', 1)).rejects.toMatchObject({ code: 'generation-serving' })
  await expect(control.drop('ledger', 2)).rejects.toMatchObject({ code: 'rebuild-running' })
  await expect(control.drop('ledger', 3)).rejects.toMatchObject({ code: 'generation-unknown' })
})

test('a dropped generation is not listed any more, no flip to it succeeds, and its number is not used again', async () => {
  const controls = await controlled()
  const { control } = controls
  const generation = await complete(controls)
  const { version } = await control.serving('ledger')
  await control.drop('ledger', generation)
  expect(await control.generations('ledger')).toMatchObject([{ generation: 1 }, { generation, state: 'dropping' }])
  await expect(control.flip('ledger', { generation, ...NOWHERE }, version)).rejects.toMatchObject({
    code: 'control-conflict',
  })
  await control.dropped('ledger', generation)
  await control.dropped('ledger', generation)
  expect(await control.generations('ledger')).toMatchObject([{ generation: 1 }])
  expect(await control.begin(ledger, { holder: 'one', ...HERE })).toMatchObject({ generation: generation + 1 })
})

test('a build whose generation was dropped gets a fault', async () => {
  const { control, pass } = await controlled()
  await control.begin(ledger, { holder: 'one', ...HERE })
  pass(60_001)
  await control.drop('ledger', 2)
  await expect(control.renew('ledger', 2, { ...WORK, holder: 'one' })).rejects.toMatchObject({
    code: 'build-cancelled',
  })
})

test('a clean sample does not clear earlier differences of the same generation; a full verification, or another generation, does', async () => {
  const { control } = await controlled()
  const after = async (proof: { differences: number; keys: number | null; generation?: number }) => {
    await control.verified('ledger', { at: 1, items: 5, generation: 1, ...proof })
    return (await control.lastVerified('ledger'))?.differences
  }
  expect(await after({ differences: 3, keys: null })).toBe(3)
  expect(await after({ differences: 0, keys: 2 })).toBe(3)
  expect(await after({ differences: 4, keys: 2 })).toBe(4)
  expect(await after({ differences: 0, keys: null })).toBe(0)
  expect(await after({ differences: 2, keys: 2 })).toBe(2)
  expect(await after({ differences: 0, keys: 2, generation: 2 })).toBe(0)
})
