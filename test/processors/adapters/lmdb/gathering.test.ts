import { expect, test } from 'vitest'
import { createGathering } from '../../../../processors/adapters/lmdb/gathering.ts'
import { createRecent } from '../../../../processors/adapters/lmdb/recent.ts'
import type { Changes, Writer } from '../../../../processors/adapters/lmdb/writer.ts'
import { keyOf } from '../../../../projections/item.ts'
import { at, create, stored, update } from '../../../contracts/store-items.ts'

/** Opens a gathering: commits wait in it until it writes them together. Its writer fails while `disk.fails` is true. Each write calls `during`. */
const setup = (during: () => void = () => {}) => {
  const disk = { fails: true, written: [] as [string, number | undefined][][] }
  const write = async ({ items }: Changes) => {
    during()
    await Promise.resolve()
    if (disk.fails) throw new Error('the disk is full')
    disk.written.push([...items].map(([id, item]) => [id, item !== null && '_pos' in item ? item._pos : undefined]))
  }
  return { disk, gathering: createGathering({ write } as Pick<Writer, 'write'> as Writer, createRecent(), () => {}) }
}
const first = at('P', 'ONE')
const second = at('P', 'TWO')

test('if a write fails while more is accepted, a gathering keeps the newest version of each item', async () => {
  let acceptMore = () => {}
  const { disk, gathering } = setup(() => acceptMore())
  gathering.accept(create(stored(first, 1)))
  gathering.accept(create(stored(second, 1)))
  acceptMore = () => gathering.accept(update(stored(first, 2), 1))
  await expect(gathering.drain()).rejects.toMatchObject({ code: 'store-unavailable' })
  acceptMore = () => {}
  expect(gathering.overlay.find(keyOf(first))).toMatchObject({ _pos: 2 })
  disk.fails = false
  await gathering.drain()
  expect(disk.written).toEqual([
    [
      [keyOf(first), 2],
      [keyOf(second), 1],
    ],
  ])
})

test('a gathering accepts no more commits until the failed write has succeeded', async () => {
  const { disk, gathering } = setup()
  gathering.accept(create(stored(first, 1)))
  await expect(gathering.drain()).rejects.toMatchObject({ code: 'store-unavailable' })
  await expect(gathering.ready()).rejects.toMatchObject({ code: 'store-unavailable' })
  disk.fails = false
  await gathering.ready()
  expect(disk.written).toEqual([[[keyOf(first), 1]]])
})
