import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lmdbStores } from '../../../../processors/adapters/lmdb/store.ts'
import type { Stored } from '../../../../projections/item.ts'
import type { TableSpec } from '../../../../projections/table.ts'
import { later, scratch } from './scratch.ts'

const SPEC: TableSpec = {
  name: 'scrubbed',
  ttl: 'ttl',
  indexes: [{ name: 'GSI1', pk: 'GSI1PK', sk: 'GSI1SK', project: 'all' }],
}

const item = (index: number, text: string, _pos: number): Stored =>
  ({
    PK: `USER#${index % 7}`,
    SK: `ITEM#${String(index).padStart(5, '0')}`,
    text,
    GSI1PK: `G#${index}`,
    GSI1SK: 'X',
    _pos,
  }) as Stored

const opened = async () => {
  const folder = await scratch()
  const stores = lmdbStores({ folder })
  later(() => stores.close())
  const path = join(folder, SPEC.name, 'g1')
  return {
    store: await stores.create(SPEC, 1),
    path,
    contains: (text: string) => readFileSync(join(path, 'data.mdb')).includes(text),
    reopen: async () => {
      await stores.close()
      return lmdbStores({ folder }).create(SPEC, 1)
    },
  }
}

test('after a scrub the file contains no overwritten or removed item, and all others are unchanged', async () => {
  const { store, contains, reopen } = await opened()
  const items = Array.from({ length: 3_000 }, (_, index) => item(index, `secret ${index} ${'x'.repeat(index % 90)}`, 1))
  await store.commit([items.map((put) => ({ put, expect: null }))].map((chunk) => [chunk]))
  await store.sync()
  const after = items.map((before, index) => (index % 3 === 0 ? before : item(index, `public ${index}`, 2)))
  await store.commit([[after.flatMap((put, index) => (index % 3 === 0 ? [] : [{ put, expect: 1 }]))]])
  const removed = after.filter((_, index) => index % 3 === 0)
  await store.commit([[removed.map(({ PK, SK }) => ({ remove: { PK, SK }, expect: 1 }))]], {
    partition: 0,
    from: 0,
    offset: 9,
  })
  await store.sync()
  expect(contains('secret')).toBe(true)
  await store.scrub?.()
  expect(contains('secret')).toBe(false)
  expect(contains('public')).toBe(true)
  for (const open of [() => store, reopen]) {
    const scrubbed = await open()
    const found: Stored[] = []
    for await (const page of scrubbed.scan()) found.push(...page)
    expect(found).toHaveLength(2_000)
    expect((await scrubbed.load([after[1] as Stored]))[0]).toEqual(after[1])
    expect((await scrubbed.reader(() => 0).query({ index: 'GSI1', pk: 'G#1', limit: 5 })).items).toHaveLength(1)
    expect((await scrubbed.reader(() => 0).query({ index: 'GSI1', pk: 'G#0', limit: 5 })).items).toHaveLength(0)
    expect(await scrubbed.checkpoints()).toEqual(new Map([[0, 9]]))
  }
})

test('commits and reads continue during a scrub, and no commit is lost', async () => {
  const { store, contains, reopen } = await opened()
  await store.write(
    Array.from({ length: 20_000 }, (_, index) => item(index, `old ${index}`, 1)),
    [],
    new Map(),
  )
  const scrubbing = store.scrub?.()
  let isDone = false
  void scrubbing?.then(() => (isDone = true))
  let committed = 0
  while (!isDone) {
    const put = item(committed % 20_000, `new ${committed}`, 2 + committed)
    const [outcome] = await store.commit([[[{ put, expect: store.peek(put)?._pos ?? null }]]])
    expect(outcome).toEqual({ applied: 'all' })
    expect((await store.load([put]))[0]).toEqual(put)
    committed += 1
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(committed).toBeGreaterThan(0)
  await store.sync()
  const again = await reopen()
  expect((await again.load([item(committed - 1, '', 0)]))[0]?.['text']).toBe(`new ${committed - 1}`)
  await again.scrub?.()
  expect(contains('old 0 ')).toBe(false)
  let found = 0
  for await (const page of again.scan()) found += page.length
  expect(found).toBe(20_000)
})

test('after an interrupted scrub the table is unchanged, and the next start removes the unfinished copy', async () => {
  const { store, path, reopen } = await opened()
  await store.write([item(1, 'kept', 1)], [], new Map())
  mkdirSync(join(path, 'scrub-x'))
  writeFileSync(join(path, 'scrub-x', 'data.mdb'), 'half of it')
  const again = await reopen()
  expect((await again.load([item(1, '', 0)]))[0]?.['text']).toBe('kept')
  expect(readdirSync(path).sort()).toEqual(['data.mdb', 'lock.mdb'])
  await again.scrub?.()
  await again.scrub?.()
  await again.write([item(2, 'later', 1)], [], new Map())
  await again.close()
  const last = await reopen()
  expect(readdirSync(path).sort()).toEqual(['data.mdb', 'lock.mdb'])
  expect((await last.load([item(1, '', 0), item(2, '', 0)])).map((found) => found?.['text'])).toEqual(['kept', 'later'])
})
