import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  PLACES_PER_PAGE,
  type Founding,
  type KeyStore,
  type Person,
  type PersonalLogKey,
} from '../../processors/engine/ports/key-store.ts'
import type { Secrets } from '../../processors/engine/ports/secrets.ts'
import { isFault } from '../../schemas/fault.ts'

export interface KeyStoreUnderTest {
  /** Opens the same store at each call. If the store does not exist: creates it with the result of `found`, or fails without `found`. */
  open(found?: () => Promise<Founding>): Promise<KeyStore>
  cleanup(): Promise<void>
}

const FOUNDING: Founding = { id: 'store-1', plainBefore: { meals: [{ partition: 0, offset: 7 }] } }
const MEALS: PersonalLogKey = { domain: 'meals', key: 'ann' }

/** The contract of the key store port. Every adapter runs it. */
export const keyStoreContract = (name: string, make: () => Promise<KeyStoreUnderTest>): void => {
  describe(`the key store contract, ${name}`, () => {
    let under: KeyStoreUnderTest
    let store: KeyStore
    let people = 0
    beforeAll(async () => {
      under = await make()
      store = await under.open(() => Promise.resolve(FOUNDING))
    })
    afterAll(async () => {
      await store.close()
      await under.cleanup()
    })
    const somebody = (): string => `person ${(people += 1)} "é"`
    const personOf = async (subject: string): Promise<Person | undefined> => (await store.load([subject]))[0]
    const placesOf = async (subject: string): Promise<readonly PersonalLogKey[]> => {
      const found: PersonalLogKey[] = []
      for await (const page of store.places(subject)) found.push(...page)
      return sorted(found)
    }
    const keep = (subject: string, ...places: readonly PersonalLogKey[]) =>
      store.ensureKeys(new Map([[subject, places]]))
    const again = async (): Promise<void> => {
      await store.close()
      store = await under.open()
    }

    test('has the same id when it is opened again', async () => {
      expect(store.founding).toEqual(FOUNDING)
      await again()
      expect(store.founding).toEqual(FOUNDING)
    })

    test('has no entry of a person who never had a key', async () => {
      const nobody = somebody()
      expect(await store.load([nobody])).toEqual([undefined])
      await store.step(nobody, 'forgetting')
      await store.step(nobody, 'destroyed')
      expect(await store.load([nobody])).toEqual([undefined])
    })

    test('creates a key of 32 bytes once, and keeps it', async () => {
      const one = somebody()
      await keep(one, MEALS)
      const made = await personOf(one)
      expect(made).toMatchObject({ destroyed: [], forgetting: false })
      expect(await placesOf(one)).toEqual([MEALS])
      expect(made?.key?.id).toMatch(/^[0-9a-f]{16}$/)
      expect(made?.key?.bytes.length).toBe(32)
      await keep(one, MEALS)
      await again()
      expect(await personOf(one)).toEqual(made)
    })

    test('keys of many people are different, and concurrent callers get the same key', async () => {
      const many = Array.from({ length: 150 }, somebody)
      const requests = new Map(many.map((subject) => [subject, [{ domain: 'meals', key: subject }]]))
      await Promise.all([
        store.ensureKeys(requests),
        store.ensureKeys(requests),
        ...many.slice(0, 5).map((subject) => keep(subject, MEALS)),
      ])
      const found = await store.load(many)
      expect(new Set(found.map((person) => person?.key?.id)).size).toBe(150)
      expect(new Set(found.map((person) => Buffer.from(person?.key?.bytes ?? []).toString('hex'))).size).toBe(150)
      expect(await placesOf(many[0] ?? '')).toHaveLength(2)
      expect(await placesOf(many[149] ?? '')).toHaveLength(1)
    })

    test('lists every log key of a person, each once', async () => {
      const one = somebody()
      const trip: PersonalLogKey = { domain: 'expenses', key: 'group#1' }
      await keep(one, MEALS, MEALS, trip)
      await keep(one, trip)
      expect(await placesOf(one)).toEqual(sorted([MEALS, trip]))
    })

    test('lists many log keys, each once, in pages', async () => {
      const one = somebody()
      const many = Array.from({ length: 450 }, (_, index) => ({ domain: 'meals', key: `group#${index}` }))
      await keep(one, ...many.slice(0, 250))
      await Promise.all([keep(one, ...many.slice(200, 350)), keep(one, ...many.slice(300))])
      expect(await placesOf(one)).toEqual(sorted(many))
      await again()
      for await (const page of store.places(one)) expect(page.length).toBeLessThanOrEqual(PLACES_PER_PAGE)
      for (const step of ['forgetting', 'destroyed', 'forgotten'] as const) await store.step(one, step)
      expect(await placesOf(one)).toEqual([])
    })

    test('lists the parts of a person, who may have no entry', async () => {
      const one = somebody()
      const parts = [`${one}~account`, `${one}~strava~1`, `${one}~strava~2`]
      expect(await store.parts(one)).toEqual([])
      await keep(parts[0] ?? '', MEALS)
      await store.secrets.write(parts[2] ?? '', 'token', { expect: 0, value: 'x' })
      await keep(parts[1] ?? '', MEALS)
      await keep(parts[1] ?? '', { domain: 'meals', key: 'other' })
      await keep(`${one}0~strava~1`)
      await again()
      expect(await store.parts(one)).toEqual(parts)
      expect(await personOf(one)).toBeUndefined()
      expect(await store.parts(`${one}0`)).toEqual([`${one}0~strava~1`])
    })

    test('a numbered part that was forgotten gets no key and no secret any more; other parts do', async () => {
      const one = somebody()
      const [numbered, other] = [`${one}~strava~1`, `${one}~account`]
      for (const part of [numbered, other]) {
        await keep(part, MEALS)
        for (const step of ['forgetting', 'destroyed', 'forgotten'] as const) await store.step(part, step)
      }
      await again()
      const isClosed = (error: unknown): boolean => isFault(error, 'part-forgotten') && !error.retriable
      await expect(keep(numbered, MEALS)).rejects.toSatisfy(isClosed)
      await expect(store.secrets.write(numbered, 'token', { expect: 0, value: 'x' })).rejects.toSatisfy(isClosed)
      expect((await personOf(numbered))?.key).toBeUndefined()
      expect(await placesOf(numbered)).toEqual([])
      await keep(other, MEALS)
      await keep(`${one}~strava~2`, MEALS)
      expect((await personOf(other))?.key).toBeDefined()
    })

    test('a call for several people fails if one of them accepts nothing, and the others can be stored by another call', async () => {
      const [one, other] = [`${somebody()}~strava~1`, somebody()]
      await keep(one)
      for (const step of ['forgetting', 'destroyed', 'forgotten'] as const) await store.step(one, step)
      const both = new Map([
        [one, [MEALS]],
        [other, [MEALS]],
      ])
      await expect(store.ensureKeys(both)).rejects.toSatisfy((error) => isFault(error, 'part-forgotten'))
      const entries = await keep(other, MEALS)
      expect(entries.get(other)).toEqual(await personOf(other))
    })

    test('a person who is being forgotten gets no key and no further log key', async () => {
      const [one, other] = [somebody(), somebody()]
      await keep(one, MEALS)
      const before = await personOf(one)
      await store.step(one, 'forgetting')
      await store.step(one, 'forgetting')
      await expect(keep(one, { domain: 'meals', key: 'elsewhere' })).rejects.toSatisfy((error) =>
        isFault(error, 'person-being-forgotten'),
      )
      await keep(other, MEALS)
      await again()
      expect(await personOf(one)).toEqual({ ...before, forgetting: true })
    })

    test('a destroyed key is removed, its id stays, and the next key is different', async () => {
      const one = somebody()
      await keep(one, MEALS)
      const first = await personOf(one)
      await store.step(one, 'forgetting')
      await store.step(one, 'destroyed')
      await store.step(one, 'destroyed')
      await again()
      const between = await personOf(one)
      expect(between).toEqual({ key: undefined, destroyed: [first?.key?.id], forgetting: true })
      expect(await placesOf(one)).toEqual([MEALS])
      await store.step(one, 'forgotten')
      await store.step(one, 'forgotten')
      expect(await personOf(one)).toEqual({ key: undefined, destroyed: [first?.key?.id], forgetting: false })
      expect(await placesOf(one)).toEqual([])
      await keep(one, MEALS)
      await again()
      const back = await personOf(one)
      expect(back?.destroyed).toEqual([first?.key?.id])
      expect(back?.key?.id).not.toBe(first?.key?.id)
      expect(back?.key?.bytes).not.toEqual(first?.key?.bytes)
    })

    describe('a secret', () => {
      const { read, write, drop } = secretsOf(() => store)

      test('is stored under its subject and name, with version 1, and the person gets a key', async () => {
        const [one, other] = [somebody(), somebody()]
        expect(await read(one, 'strava')).toBeUndefined()
        expect(await write(one, 'strava', { expect: 0, value: 'a "token" é\n' })).toBeUndefined()
        expect(await write(one, 'second', { expect: 0, value: '' })).toBeUndefined()
        await again()
        expect(await read(one, 'strava')).toEqual({ version: 1, value: 'a "token" é\n' })
        expect(await read(one, 'second')).toEqual({ version: 1, value: '' })
        expect(await read(other, 'strava')).toBeUndefined()
        expect((await personOf(one))?.key?.bytes.length).toBe(32)
      })

      test('is replaced only if the version is the expected one', async () => {
        const one = somebody()
        expect(await write(one, 'token', { expect: 1, value: 'x' })).toEqual({ version: 0, value: '' })
        await write(one, 'token', { expect: 0, value: 'first' })
        expect(await write(one, 'token', { expect: 0, value: 'lost' })).toEqual({ version: 1, value: 'first' })
        for (let expected = 1; expected < 6; expected += 1)
          expect(await write(one, 'token', { expect: expected, value: 'long '.repeat(expected * 200) })).toBeUndefined()
        expect(await write(one, 'token', { expect: 6, value: 'short' })).toBeUndefined()
        await again()
        expect(await read(one, 'token')).toEqual({ version: 7, value: 'short' })
      })

      test('is written by one of several concurrent writers', async () => {
        const one = somebody()
        const values = Array.from({ length: 8 }, (_, index) => `of writer ${index}`)
        const results = await Promise.all(values.map((value) => write(one, 'token', { expect: 0, value })))
        const winners = values.filter((_, index) => results[index] === undefined)
        expect(winners).toHaveLength(1)
        expect(await read(one, 'token')).toEqual({ version: 1, value: winners[0] })
        for (const result of results) expect([undefined, winners[0]]).toContain(result?.value)
      })

      test('is gone after it is dropped, and can be written again', async () => {
        const one = somebody()
        await drop(one, 'token')
        await write(one, 'token', { expect: 0, value: 'first' })
        await write(one, 'other', { expect: 0, value: 'stays' })
        await drop(one, 'token')
        await drop(one, 'token')
        await again()
        expect(await read(one, 'token')).toBeUndefined()
        expect(await read(one, 'other')).toEqual({ version: 1, value: 'stays' })
        expect(await write(one, 'token', { expect: 0, value: 'next' })).toBeUndefined()
        expect(await read(one, 'token')).toEqual({ version: 1, value: 'next' })
      })

      test('of a person who is being forgotten cannot be written, and is destroyed with the key', async () => {
        const [one, other] = [somebody(), somebody()]
        for (const subject of [one, other])
          for (const name of ['token', 'second']) await write(subject, name, { expect: 0, value: `of ${subject}` })
        await store.step(one, 'forgetting')
        await expect(write(one, 'token', { expect: 1, value: 'x' })).rejects.toSatisfy((error) =>
          isFault(error, 'person-being-forgotten'),
        )
        expect(await read(one, 'token')).toEqual({ version: 1, value: `of ${one}` })
        await store.step(one, 'destroyed')
        await again()
        expect([await read(one, 'token'), await read(one, 'second')]).toEqual([undefined, undefined])
        expect(await read(other, 'token')).toEqual({ version: 1, value: `of ${other}` })
        await store.step(one, 'forgotten')
        expect(await write(one, 'token', { expect: 0, value: 'new' })).toBeUndefined()
        await again()
        expect(await read(one, 'token')).toEqual({ version: 1, value: 'new' })
      })
    })

    test('a missing store is reported, and no new one is created in its place', async () => {
      const lost = await make()
      await expect(lost.open()).rejects.toSatisfy((error) => isFault(error, 'key-store-gone'))
      await expect(lost.open()).rejects.toSatisfy((error) => isFault(error, 'key-store-gone'))
      await lost.cleanup()
    })
  })
}

const secretsOf = (store: () => KeyStore): Secrets => ({
  read: (subject, name) => store().secrets.read(subject, name),
  write: (subject, name, next) => store().secrets.write(subject, name, next),
  drop: (subject, name) => store().secrets.drop(subject, name),
})

const sorted = (places: readonly PersonalLogKey[]): readonly PersonalLogKey[] =>
  [...places].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
