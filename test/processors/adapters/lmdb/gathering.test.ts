import { expect, test } from 'vitest'
import { createGathering } from '../../../../processors/adapters/lmdb/gathering.ts'
import { createRecent } from '../../../../processors/adapters/lmdb/recent.ts'
import type { Changes, Writer } from '../../../../processors/adapters/lmdb/writer.ts'
import { keyOf } from '../../../../projections/item.ts'
import { at, create, stored, update } from '../../../contracts/store-items.ts'

/** A writer that fails while it is told to; `during` runs in the middle of each write. */
const gathered = (during: () => void = () => {}) => {
  const disk = { fails: true, written: [] as [string, number | undefined][][] }
  const write = async ({ items }: Changes) => {
    during()
    await Promise.resolve()
    if (disk.fails) throw new Error('the disk is full')
    disk.written.push([...items].map(([id, item]) => [id, item !== null && '_pos' in item ? item._pos : undefined]))
  }
  return { disk, gathering: createGathering({ write } as Pick<Writer, 'write'> as Writer, createRecent(), () => {}) }
}
const one = at('P', 'ONE')
const two = at('P', 'TWO')

test('a gathering keeps the newest of each item when a write fails while more is accepted', async () => {
  let more = () => {}
  const { disk, gathering } = gathered(() => more())
  gathering.accept(create(stored(one, 1)))
  gathering.accept(create(stored(two, 1)))
  more = () => gathering.accept(update(stored(one, 2), 1))
  await expect(gathering.drain()).rejects.toMatchObject({ code: 'store-unavailable' })
  more = () => {}
  expect(gathering.overlay.find(keyOf(one))).toMatchObject({ _pos: 2 })
  disk.fails = false
  await gathering.drain()
  expect(disk.written).toEqual([[[keyOf(one), 2], [keyOf(two), 1]]])
})

test('a gathering accepts nothing more until the failed write is repeated', async () => {
  const { disk, gathering } = gathered()
  gathering.accept(create(stored(one, 1)))
  await expect(gathering.drain()).rejects.toMatchObject({ code: 'store-unavailable' })
  await expect(gathering.ready()).rejects.toMatchObject({ code: 'store-unavailable' })
  disk.fails = false
  await gathering.ready()
  expect(disk.written).toEqual([[[keyOf(one), 1]]])
})
