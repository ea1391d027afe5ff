import { describe, expect, test } from 'vitest'
import { createKeyring } from '../../../../processors/engine/people/keyring.ts'
import { FORGOTTEN } from '../../../../schemas/event.ts'
import { isFault } from '../../../../schemas/fault.ts'
import { codeOf } from '../../../code-of.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'
import { openKnownKeys } from '../../../../processors/engine/people/known-keys.ts'
import {
  type DataKey,
  KEY_AGE_MS,
  type KeyStore,
  type Person,
  type PersonalLogKey,
} from '../../../../processors/engine/ports/key-store.ts'

const key = (digit: number): DataKey => ({ id: String(digit).repeat(16), bytes: Buffer.alloc(32, digit) })

/** A key store in memory that records its loads. */
const memoryKeys = (
  people: Map<string, Person>,
  plainBefore: KeyStore['founding']['plainBefore'] = {},
): KeyStore & { loads: string[][]; kept: PersonalLogKey[] } => {
  const loads: string[][] = []
  const kept: PersonalLogKey[] = []
  return {
    founding: { id: 'one', plainBefore },
    shared: true,
    loads,
    kept,
    secrets: { read: async () => undefined, write: async () => undefined, drop: async () => undefined },
    load: async (subjects) => {
      loads.push([...subjects])
      return subjects.map((subject) => people.get(subject))
    },
    ensureKeys: async (requested) => {
      for (const [subject, places] of requested) {
        people.set(subject, { key: key(1), destroyed: [], forgetting: false, ...people.get(subject) })
        kept.push(...places)
      }
      return new Map([...requested.keys()].map((subject) => [subject, people.get(subject) as Person]))
    },
    places: async function* () {
      yield kept
    },
    parts: async () => [],
    step: async () => undefined,
    close: async () => undefined,
  }
}
const person = (given: Partial<Person> = {}): Person => ({ key: key(1), destroyed: [], forgetting: false, ...given })

describe('the keyring', () => {
  test('reads a person from the store once, until the cached key is too old', async () => {
    let now = 0
    const store = memoryKeys(new Map([['ann', person()]]))
    const sealing = createKeyring(store, { now: () => now }).sealing('meals')
    expect(codeOf(() => sealing.opening('ann', key(1).id))).toBe('key-not-loaded')
    await sealing.load(['ann'])
    expect(sealing.opening('ann', key(1).id)).toMatchObject({ id: key(1).id })
    now = KEY_AGE_MS - 1
    expect(codeOf(() => sealing.opening('ann', key(1).id))).toBe('none')
    now = KEY_AGE_MS
    expect(codeOf(() => sealing.opening('ann', key(1).id))).toBe('key-not-loaded')
    expect(store.loads).toEqual([['ann']])
  })

  test('distinguishes forgotten from lost: a key that was not destroyed is missing, and only after a second read of the store', async () => {
    const sealing = createKeyring(memoryKeys(new Map([['ann', person({ destroyed: [key(2).id] })]])), {
      now: () => 0,
    }).sealing('meals')
    await sealing.load(['ann'])
    expect(sealing.opening('ann', key(2).id)).toBe(FORGOTTEN)
    for (const code of ['key-not-loaded', 'key-missing', 'key-not-loaded', 'key-missing']) {
      expect(codeOf(() => sealing.opening('ann', key(3).id))).toBe(code)
      await sealing.load(['ann'])
    }
  })

  test('creates a key before the first event, stores each log key once, and reads nothing more', async () => {
    const people = new Map<string, Person>()
    const store = memoryKeys(people)
    const sealing = createKeyring(store, { now: () => 0 }).sealing('meals')
    await sealing.createKeys([
      { subjectId: 'ann', key: 'ann' },
      { subjectId: null, key: 'x' },
    ])
    expect(sealing.current({ subjectId: 'ann', key: 'ann' }).id).toBe(key(1).id)
    expect(store.kept).toEqual([{ domain: 'meals', key: 'ann' }])
    expect(sealing.createKeys([{ subjectId: 'ann', key: 'ann' }])).toBeUndefined()
    await sealing.createKeys([{ subjectId: 'ann', key: 'group' }])
    expect(store.kept).toHaveLength(2)
  })

  test('remembers the log keys of a person for as long as the person has the same key', async () => {
    let now = 0
    const people = new Map<string, Person>()
    const store = memoryKeys(people)
    const sealing = createKeyring(store, { now: () => now }).sealing('meals')
    const event = { subjectId: 'ann', key: 'ann' }
    await sealing.createKeys([event])
    now = KEY_AGE_MS
    await sealing.load(['ann'])
    expect(sealing.createKeys([event])).toBeUndefined()
    people.set('ann', person({ key: key(2), destroyed: [key(1).id] }))
    now = 2 * KEY_AGE_MS
    await sealing.load(['ann'])
    await sealing.createKeys([event])
    expect(store.kept).toHaveLength(2)
  })

  test('a key that is missing during a fold is created for the next attempt', async () => {
    const sealing = createKeyring(memoryKeys(new Map()), { now: () => 0 }).sealing('meals')
    expect(codeOf(() => sealing.current({ subjectId: 'ann', key: 'ann' }))).toBe('key-not-loaded')
    await expect.poll(() => codeOf(() => sealing.current({ subjectId: 'ann', key: 'ann' }))).toBe('none')
  })

  test('seals data of a person who accepts none as forgotten, so that a fold does not wait for a key', async () => {
    const closed = 'ann~link~1'
    const people = new Map([
      [closed, person({ key: undefined, destroyed: [key(1).id] })],
      ['bob', person({ key: undefined, destroyed: [key(1).id, key(2).id], forgetting: true })],
      ['carl', person({ key: undefined, destroyed: [key(1).id] })],
    ])
    const store = { ...memoryKeys(people), ensureKeys: () => Promise.reject(new Error('refused')) }
    const sealing = createKeyring(store, { now: () => 0 }).sealing('meals')
    for (const [subjectId, id] of [
      [closed, key(1).id],
      ['bob', key(2).id],
    ] as const) {
      expect(codeOf(() => sealing.current({ subjectId, key: 'ann' }))).toBe('key-not-loaded')
      await expect.poll(() => codeOf(() => sealing.current({ subjectId, key: 'ann' }))).toBe('none')
      expect(sealing.current({ subjectId, key: 'ann' }).id).toBe(id)
      expect(sealing.current({ subjectId, key: 'ann' }).salt).not.toEqual(
        sealing.current({ subjectId, key: 'ann' }).salt,
      )
      expect(sealing.opening(subjectId, id)).toBe(FORGOTTEN)
    }
    await sealing.load(['carl'])
    expect(codeOf(() => sealing.current({ subjectId: 'carl', key: 'carl' }))).toBe('key-not-loaded')
  })

  test('contains at most its maximum of people, and none that were evicted', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `person ${index}`)
    const ring = createKeyring(memoryKeys(new Map(names.map((name) => [name, person()]))), { now: () => 0, limit: 10 })
    const sealing = ring.sealing('meals')
    await sealing.load(names)
    const cached = () => names.filter((name) => codeOf(() => sealing.opening(name, key(1).id)) === 'none')
    expect(cached()).toEqual(names.slice(10))
    ring.evict('person 15')
    expect(cached()).toHaveLength(9)
  })

  test('plain text is allowed only before the ends of the log at the creation of the store', () => {
    const sealing = createKeyring(memoryKeys(new Map(), { meals: [{ partition: 1, offset: 5 }] }), {
      now: () => 0,
    }).sealing('meals')
    expect(
      [
        [1, 4],
        [1, 5],
        [0, 0],
      ].map(([partition = 0, offset = 0]) => sealing.isPlain({ partition, offset })),
    ).toEqual([true, false, false])
  })
})

describe('the key store of sealed logs', () => {
  const open =
    (id: string, begun: string[]) =>
    async (found?: () => Promise<KeyStore['founding']>): Promise<KeyStore> => {
      if (found !== undefined) begun.push((await found()).id)
      return { ...memoryKeys(new Map()), founding: { id, plainBefore: {} } }
    }
  const found = () => Promise.resolve({ id: 'new', plainBefore: {} })

  test('is created once, and afterwards only opened', async () => {
    const control = memoryStore()
    const begun: string[] = []
    await openKnownKeys(control, { open: open('one', begun), found })
    await openKnownKeys(control, { open: open('one', begun), found })
    expect(begun).toEqual(['new'])
  })

  test('is not replaced by another one', async () => {
    const control = memoryStore()
    await openKnownKeys(control, { open: open('one', []), found })
    await expect(openKnownKeys(control, { open: open('other', []), found })).rejects.toSatisfy((error) =>
      isFault(error, 'key-store-other'),
    )
  })
})
