import { expect, test } from 'vitest'
import { claim, isBeingBuilt, type BuildPlace } from '../../../../processors/engine/generations/claim.ts'
import type { Generation } from '../../../../processors/engine/generations/generation.ts'
import { createControl, type Control } from '../../../../processors/engine/generations/control.ts'
import { ledger } from '../ledger.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'

/** A folder of generations. Each generation has a lock with one owner at a time. `locked.clear()` releases all locks, like the end of a process. */
const folder = () => {
  const locked = new Set<number>()
  const here: BuildPlace = {
    place: 'here',
    lock: async (generation) => {
      if (locked.has(generation)) return undefined
      locked.add(generation)
      return { release: async () => void locked.delete(generation) }
    },
  }
  return { here, locked }
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
  const { here, locked } = folder()
  await expect(begin(dying, 'one', here)).rejects.toThrow('killed')
  locked.clear()
  const { generation, lock } = await begin(control, 'two', here)
  expect(generation).toMatchObject({ generation: 2, state: 'building' })
  expect([...locked]).toEqual([2])
  await expect(begin(control, 'three', here)).rejects.toMatchObject({ code: 'rebuild-running' })
  expect([...locked]).toEqual([2])
  await lock.release()
  expect([...locked]).toEqual([])
})

test('a half-built generation is resumed at once after another process completed another generation and died', async () => {
  const { control } = await controlled()
  const { here, locked } = folder()
  await begin(control, 'one', here)
  locked.clear()
  const { generation } = (await begin(control, 'two', here)).generation
  await control.follow(ledger.name, generation, 'two')
  await control.begin(ledger, { holder: 'two', place: 'here' })
  await control.drop(ledger.name, 4, 'two')
  locked.clear()
  expect(
    (await claim({ domain: ledger, control, holder: 'three', storage: here, resume: 2 })).generation,
  ).toMatchObject({ generation: 2 })
  expect([...locked]).toEqual([2])
  await expect(claim({ domain: ledger, control, holder: 'four', storage: here, resume: 2 })).rejects.toMatchObject({
    code: 'rebuild-running',
  })
  expect([...locked]).toEqual([2])
})

test('a build takes the next number if another one died before its end, and has only the lock of its generation', async () => {
  const { control } = await controlled()
  const { here, locked } = folder()
  await begin(control, 'one', here)
  locked.clear()
  expect((await begin(control, 'two', here)).generation).toMatchObject({ generation: 3 })
  expect([...locked]).toEqual([3])
})

test('a generation counts as being built while its builder lives, which the lock shows on this machine and the lease elsewhere', async () => {
  const { control } = await controlled()
  const { here, locked } = folder()
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
  locked.clear()
  expect([await is(here), await is(there)]).toEqual([false, true])
  await control.release(ledger.name, 'one')
  expect([await is(here), await is(there), locked.size]).toEqual([false, false, 0])
})
