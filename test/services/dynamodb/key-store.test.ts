import { expect, test } from 'vitest'
import { openKeyTable, type KeyTableOptions } from '../../../processors/adapters/dynamodb/key-store.ts'
import { dynamoStores } from '../../../processors/adapters/dynamodb/store.ts'
import { localWrapping, NO_WRAPPING } from '../../../processors/adapters/dynamodb/wrap.ts'
import { replacing } from '../../../processors/engine/ports/store.ts'
import { isFault } from '../../../schemas/fault.ts'
import { keyStoreContract } from '../../contracts/key-store.ts'
import { describeWith } from '../available.ts'
import { dynamodbAvailable, sharedDynamoDb } from '../dynamodb.ts'
import { freshSpec } from './table.ts'

const wrapping = localWrapping(Buffer.alloc(32, 7).toString('base64'))
const found = () => Promise.resolve({ id: 'one', plainBefore: {} })

const tableOf = async () => {
  const { endpoint } = await sharedDynamoDb()
  const stores = dynamoStores({ endpoint })
  const spec = freshSpec()
  return {
    stores,
    table: () => stores.create(spec, 1),
    open: async (options: Omit<KeyTableOptions, 'store'>) =>
      openKeyTable({ store: await stores.create(spec, 1), ...options }),
    rows: async () => {
      const text: string[] = []
      for await (const page of (await stores.create(spec, 1)).scan()) text.push(JSON.stringify(page))
      return text.join('\n')
    },
  }
}

describeWith('DynamoDB Local as a plain process', dynamodbAvailable(), () => {
  keyStoreContract('DynamoDB', async () => {
    const { stores, open } = await tableOf()
    return { open: (begin) => open({ wrapping, ...(begin && { found: begin }) }), cleanup: () => stores.close() }
  })

  test('the table contains wrapped keys only, and nothing of a destroyed key', async () => {
    const { stores, open, rows } = await tableOf()
    const store = await open({ wrapping, found })
    await store.ensureKeys(new Map([['ann', []]]))
    const [ann] = await store.load(['ann'])
    const bytes = Buffer.from(ann?.key?.bytes ?? [])
    expect(await rows()).not.toContain(bytes.toString('base64'))
    expect(await rows()).toContain('wrapped')
    await store.step('ann', 'destroyed')
    expect(await rows()).not.toContain('"wrapped"')
    await stores.close()
  })

  test('the table contains wrapped secrets only, and nothing of a dropped or destroyed one', async () => {
    const { stores, open, rows } = await tableOf()
    const store = await open({ wrapping, found })
    await store.secrets.write('ann', 'token', { expect: 0, value: 'the first token' })
    await store.secrets.write('ann', 'other', { expect: 0, value: 'the other token' })
    for (const text of ['the first token', Buffer.from('the first token').toString('base64')])
      expect(await rows()).not.toContain(text)
    expect(await rows()).toContain('SECRET#token')
    await store.secrets.drop('ann', 'token')
    expect(await rows()).not.toContain('SECRET#token')
    await store.step('ann', 'destroyed')
    expect(await rows()).not.toContain('SECRET#')
    await stores.close()
  })

  test('a secret that a writer stores while the person is forgotten is refused', async () => {
    const { stores, open } = await tableOf()
    const [one, other] = [await open({ wrapping, found }), await open({ wrapping })]
    await one.ensureKeys(new Map([['ann', []]]))
    const results = await Promise.allSettled([
      one.step('ann', 'forgetting').then(() => one.step('ann', 'destroyed')),
      ...[1, 2, 3].map((name) => other.secrets.write('ann', String(name), { expect: 0, value: 'x' })),
    ])
    await one.step('ann', 'destroyed')
    for (const name of [1, 2, 3]) expect(await one.secrets.read('ann', String(name))).toBeUndefined()
    for (const result of results.slice(1))
      if (result.status === 'rejected') expect(isFault(result.reason, 'person-being-forgotten')).toBe(true)
    await stores.close()
  })

  test('the log keys in a row of an earlier release are listed, not stored again, and forgotten with the person', async () => {
    const { stores, table, open, rows } = await tableOf()
    const store = await open({ wrapping, found })
    await store.ensureKeys(new Map([['ann', []]]))
    const before = await store.load(['ann'])
    const [row] = await (await table()).load([{ PK: 'PERSON#ann', SK: 'KEY' }])
    const places = Array.from({ length: 300 }, (_, index) => ['meals', `group#${index}`])
    await (await table()).commit([[[replacing(row, { ...row, PK: 'PERSON#ann', SK: 'KEY', places })]]])
    const listed = async () => {
      const found: string[] = []
      for await (const page of store.places('ann')) found.push(...page.map(({ domain, key }) => `${domain} ${key}`))
      return found
    }
    expect(await listed()).toEqual(places.map(([domain, key]) => `${domain} ${key}`))
    await store.ensureKeys(
      new Map([
        [
          'ann',
          [
            { domain: 'meals', key: 'group#7' },
            { domain: 'meals', key: 'new' },
          ],
        ],
      ]),
    )
    expect(await listed()).toEqual([...places.map(([domain, key]) => `${domain} ${key}`), 'meals new'])
    expect(await store.load(['ann'])).toEqual(before)
    expect((await rows()).match(/PLACE#/g)).toHaveLength(1)
    for (const step of ['forgetting', 'destroyed', 'forgotten'] as const) await store.step('ann', step)
    expect(await listed()).toEqual([])
    expect(await rows()).not.toContain('group#')
    await stores.close()
  })

  test('another key-encryption key is rejected before anything is read with it', async () => {
    const { stores, open } = await tableOf()
    await (await open({ wrapping, found })).ensureKeys(new Map([['ann', []]]))
    const wrong = localWrapping('ff'.repeat(32))
    await expect(open({ wrapping: wrong })).rejects.toSatisfy((error) => isFault(error, 'key-encryption-key-wrong'))
    await expect(open({ wrapping: NO_WRAPPING })).rejects.toSatisfy((error) =>
      isFault(error, 'key-encryption-key-wrong'),
    )
    await stores.close()
  })

  test('unwrapped keys stay readable after a key-encryption key is configured, and new ones are wrapped', async () => {
    const { stores, open, rows } = await tableOf()
    const plain = await open({ wrapping: NO_WRAPPING, found })
    await plain.ensureKeys(new Map([['ann', []]]))
    const before = await plain.load(['ann'])
    const wrapped = await open({ wrapping })
    expect(await wrapped.load(['ann'])).toEqual(before)
    await wrapped.ensureKeys(new Map([['bob', []]]))
    const [bob] = await wrapped.load(['bob'])
    expect(await rows()).not.toContain(Buffer.from(bob?.key?.bytes ?? []).toString('base64'))
    await stores.close()
  })
})
