import { expect, test } from 'vitest'
import { claim, isBeingBuilt, type BuildPlace } from '../../../../processors/engine/generations/claim.ts'
import type { Generation } from '../../../../processors/engine/generations/generation.ts'
import { createControl, type Control } from '../../../../processors/engine/generations/control.ts'
import { ledger } from '../ledger.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'

/** One folder: a lock is held by one at a time, and let go when its process ends. */
const folder = () => {
  const held = new Set<number>()
  const here: BuildPlace = {
    place: 'here',
    lock: async (generation) => {
      if (held.has(generation)) return undefined
      held.add(generation)
      return { release: async () => void held.delete(generation) }
    },
  }
  return { here, held }
}

const controlled = async () => {
  const store = memoryStore()
  const control = createControl({ store, now: () => 1_000 })
  await control.ensure(ledger, { cluster: 'c', topic: 't', partitions: 1 }, async () => {})
  /** The control of a process that dies before its generation is listed. */
  const dying = createControl({
    store: {
      ...store,
      commit: async (spans) =>
        JSON.stringify(spans).includes('GEN#') ? Promise.reject(new Error('killed')) : store.commit(spans),
    },
    now: () => 1_000,
  })
  return { control, dying }
}

const begin = (control: Control, holder: string, storage: BuildPlace) =>
  claim({ domain: ledger, control, holder, storage })

test('a build begins at once after another died before its generation was listed, and has only the lock of its generation', async () => {
  const { control, dying } = await controlled()
  const { here, held } = folder()
  await expect(begin(dying, 'one', here)).rejects.toThrow('killed')
  held.clear()
  const { generation, lock } = await begin(control, 'two', here)
  expect(generation).toMatchObject({ generation: 2, state: 'building' })
  expect([...held]).toEqual([2])
  await expect(begin(control, 'three', here)).rejects.toMatchObject({ code: 'rebuild-running' })
  expect([...held]).toEqual([2])
  await lock.release()
  expect([...held]).toEqual([])
})

test('a half-built generation is resumed at once after another process completed another generation and died', async () => {
  const { control } = await controlled()
  const { here, held } = folder()
  await begin(control, 'one', here)
  held.clear()
  const { generation } = (await begin(control, 'two', here)).generation
  await control.follow(ledger.name, generation, 'two')
  await control.begin(ledger, { holder: 'two', place: 'here' })
  await control.drop(ledger.name, 4, 'two')
  held.clear()
  expect(
    (await claim({ domain: ledger, control, holder: 'three', storage: here, resume: 2 })).generation,
  ).toMatchObject({ generation: 2 })
  expect([...held]).toEqual([2])
  await expect(claim({ domain: ledger, control, holder: 'four', storage: here, resume: 2 })).rejects.toMatchObject({
    code: 'rebuild-running',
  })
  expect([...held]).toEqual([2])
})

test('a build takes the next number if another one died before its end, and has only the lock of its generation', async () => {
  const { control } = await controlled()
  const { here, held } = folder()
  await begin(control, 'one', here)
  held.clear()
  expect((await begin(control, 'two', here)).generation).toMatchObject({ generation: 3 })
  expect([...held]).toEqual([3])
})

test('a generation counts as being built while its builder lives, which the lock shows on this machine and the lease elsewhere', async () => {
  const { control } = await controlled()
  const { here, held } = folder()
  const {
    generation: { generation },
  } = await begin(control, 'one', here)
  const there = { ...here, place: 'there' }
  const is = async (storage: BuildPlace, number = generation) =>
    isBeingBuilt(
      (await control.generations(ledger.name)).find((each) => each.generation === number) as Generation,
      storage,
    )
  expect([await is(here), await is(there), await is(here, 1)]).toEqual([true, true, false])
  held.clear()
  expect([await is(here), await is(there)]).toEqual([false, true])
  await control.release(ledger.name, 'one')
  expect([await is(here), await is(there), held.size]).toEqual([false, false, 0])
})
