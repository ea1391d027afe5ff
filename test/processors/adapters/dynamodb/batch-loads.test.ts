import { expect, test } from 'vitest'
import { batchLoads, type Load } from '../../../../processors/adapters/dynamodb/batch-loads.ts'
import type { Key } from '../../../../projections/item.ts'
import { Fault, isFault } from '../../../../schemas/fault.ts'

const key = (name: string): Key => ({ PK: name, SK: 'A' })

/** A store that answers no request until `answerAll` is called. Then it rejects the requests for which `rejects` returns true. */
const slowStore = (rejects: (keys: readonly Key[]) => boolean = () => false) => {
  const requests: (readonly Key[])[] = []
  const answers: (() => void)[] = []
  const load: Load = (keys) =>
    new Promise((resolve, reject) => {
      requests.push(keys)
      answers.push(() =>
        rejects(keys) ? reject(new Fault('item-rejected', 'No.')) : resolve(keys.map((item) => ({ ...item, _pos: 1 }))),
      )
    })
  const answerAll = async (): Promise<void> => {
    while (answers.length > 0) {
      for (const answer of answers.splice(0)) answer()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { load, requests, answerAll }
}

const names = (found: readonly (Key | undefined)[]): readonly (string | undefined)[] => found.map((item) => item?.PK)

test('a single load is sent at once', () => {
  const { load, requests } = slowStore()
  void batchLoads(load)([key('a')])
  expect(requests).toEqual([[key('a')]])
})

test('loads that wait for open requests share the next request, and each gets its own items', async () => {
  const { load, requests, answerAll } = slowStore()
  const read = batchLoads(load)
  const found = Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => read([key(name), key(`${name}2`)])))
  expect(requests).toHaveLength(4)
  await answerAll()
  expect((await found).map(names)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => [name, `${name}2`]))
  expect(requests.slice(4)).toEqual([['e', 'e2', 'f', 'f2', 'g', 'g2'].map(key)])
})

test('a request has at most as many keys as the store accepts', async () => {
  const { load, requests, answerAll } = slowStore()
  const read = batchLoads(load)
  const found = Promise.all(
    Array.from({ length: 8 }, (_, index) => read(Array.from({ length: 60 }, (_each, nth) => key(`${index}-${nth}`)))),
  )
  await answerAll()
  expect(await found).toHaveLength(8)
  expect(requests.map(({ length }) => length)).toEqual(Array.from({ length: 8 }, () => 60))
})

test('an invalid key fails only the load that contains it', async () => {
  const { load, answerAll } = slowStore((keys) => keys.some(({ PK }) => PK === 'bad'))
  const read = batchLoads(load)
  const results = Promise.allSettled(['a', 'b', 'c', 'd', 'bad', 'e'].map((name) => read([key(name)])))
  await answerAll()
  expect(
    (await results).map((result) =>
      result.status === 'fulfilled' ? names(result.value)[0] : isFault(result.reason, 'item-rejected'),
    ),
  ).toEqual(['a', 'b', 'c', 'd', true, 'e'])
})
