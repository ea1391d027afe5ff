import { expect, test } from 'vitest'
import { readTogether, type Load } from '../../../../processors/adapters/dynamodb/together.ts'
import type { Key } from '../../../../projections/item.ts'
import { Fault, isFault } from '../../../../schemas/fault.ts'

const key = (name: string): Key => ({ PK: name, SK: 'A' })

/** A store that answers when it is told to. */
const slow = (refuses: (keys: readonly Key[]) => boolean = () => false) => {
  const asked: (readonly Key[])[] = []
  const answers: (() => void)[] = []
  const load: Load = (keys) => new Promise((resolve, reject) => {
    asked.push(keys)
    answers.push(() => (refuses(keys) ? reject(new Fault('item-rejected', 'No.')) : resolve(keys.map((one) => ({ ...one, _pos: 1 })))))
  })
  const answerAll = async (): Promise<void> => {
    while (answers.length > 0) {
      for (const answer of answers.splice(0)) answer()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { load, asked, answerAll }
}

const names = (found: readonly (Key | undefined)[]): readonly (string | undefined)[] => found.map((item) => item?.PK)

test('one that comes alone is asked for at once', () => {
  const { load, asked } = slow()
  void readTogether(load)([key('a')])
  expect(asked).toEqual([[key('a')]])
})

test('what comes while enough are under way shares the next request, and each is told its own', async () => {
  const { load, asked, answerAll } = slow()
  const read = readTogether(load)
  const found = Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => read([key(name), key(`${name}2`)])))
  expect(asked).toHaveLength(4)
  await answerAll()
  expect((await found).map(names)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => [name, `${name}2`]))
  expect(asked.slice(4)).toEqual([['e', 'e2', 'f', 'f2', 'g', 'g2'].map(key)])
})

test('a request is no larger than the store takes at once', async () => {
  const { load, asked, answerAll } = slow()
  const read = readTogether(load)
  const found = Promise.all(Array.from({ length: 8 }, (_, index) => read(Array.from({ length: 60 }, (_each, nth) => key(`${index}-${nth}`)))))
  await answerAll()
  expect(await found).toHaveLength(8)
  expect(asked.map(({ length }) => length)).toEqual(Array.from({ length: 8 }, () => 60))
})

test('what is refused for one of them is refused for that one alone', async () => {
  const { load, answerAll } = slow((keys) => keys.some(({ PK }) => PK === 'bad'))
  const read = readTogether(load)
  const told = Promise.allSettled(['a', 'b', 'c', 'd', 'bad', 'e'].map((name) => read([key(name)])))
  await answerAll()
  expect((await told).map((one) => (one.status === 'fulfilled' ? names(one.value)[0] : isFault(one.reason, 'item-rejected')))).toEqual(['a', 'b', 'c', 'd', true, 'e'])
})
