import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FORGOTTEN, type Event } from '../../schemas/event.ts'
import { openCodec, withKeys } from '../../schemas/codec.ts'
import { Fault } from '../../schemas/fault.ts'
import { boundTo, keyIdOf, seal, sealingKey, unseal, type Sealing, type SealingKey } from '../../schemas/sealing.ts'
import { codeOf } from '../code-of.ts'

const key = sealingKey('00112233aabbccdd', Buffer.alloc(32, 1))
const bound = boundTo('tributary.meals.MealDeleted', { eventId: 'e1', subjectId: 'ann' })

describe('a sealed field', () => {
  test('is opened unchanged, for any content', () =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
        const sealed = seal(key, Buffer.from(bytes), bound)
        expect(keyIdOf(sealed)).toBe(key.id)
        expect(unseal(key, sealed, bound)).toEqual(Buffer.from(bytes))
      }),
    ))

  test('does not open with one changed bit, in another event, type or person, or with another key', () => {
    const sealed = seal(key, Buffer.from('soup'), bound)
    for (let bit = 9 * 8; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed)
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7))
      expect(codeOf(() => unseal(key, changed, bound))).toBe('personal-unreadable')
    }
    for (const meta of [
      { eventId: 'e2', subjectId: 'ann' },
      { eventId: 'e1', subjectId: 'bob' },
    ]) {
      expect(codeOf(() => unseal(key, sealed, boundTo('tributary.meals.MealDeleted', meta)))).toBe(
        'personal-unreadable',
      )
    }
    expect(
      codeOf(() => unseal(key, sealed, boundTo('tributary.meals.MealLogged', { eventId: 'e1', subjectId: 'ann' }))),
    ).toBe('personal-unreadable')
    expect(codeOf(() => unseal(sealingKey(key.id, randomBytes(32)), sealed, bound))).toBe('personal-unreadable')
  })

  test('that is cut at any length is refused', () => {
    const sealed = seal(key, Buffer.from('soup'), bound)
    for (let length = 0; length < sealed.length; length += 1) {
      const cut = sealed.subarray(0, length)
      expect(codeOf(() => unseal(key, cut, (keyIdOf(cut), bound)))).toBe('personal-unreadable')
    }
  })

  test('has the same bytes for the same event, and another nonce for another content', () => {
    const nonceOf = (sealed: Buffer) => sealed.toString('hex', 9, 21)
    expect(seal(key, Buffer.from('soup'), bound)).toEqual(seal(key, Buffer.from('soup'), bound))
    expect(nonceOf(seal(key, Buffer.from('soup'), bound))).not.toBe(nonceOf(seal(key, Buffer.from('soap'), bound)))
    expect(nonceOf(seal(sealingKey(key.id, randomBytes(32)), Buffer.from('soup'), bound))).not.toBe(
      nonceOf(seal(key, Buffer.from('soup'), bound)),
    )
  })
})

const issued = (subjectId: string | null = 'ann'): Event => ({
  type: 'PatIssued',
  meta: {
    eventId: 'e1',
    key: 'ann',
    occurredAt: 1,
    recordedAt: 1,
    source: 'test',
    correlationId: null,
    causationId: null,
    actorId: null,
    subjectId,
    request: null,
  },
  data: { patId: 'p', hash: 'h', scopes: [] },
  personal: { name: 'telephone of Ann' },
})

/** Keys for a codec, by person. A person who is not in `keys` has no loaded key. `requests` records the people whose keys the codec loads. */
const sealingWith = (
  keys: Record<string, SealingKey>,
  destroyed: readonly string[] = [],
  plainBefore = 0,
): Sealing & { requests: string[] } => {
  const requests: string[] = []
  const find = (subject: string): SealingKey => {
    const found = keys[subject]
    if (found === undefined) throw new Fault('key-not-loaded', 'not loaded', { retriable: true })
    return found
  }
  return {
    requests,
    current: ({ subjectId }) => find(subjectId ?? ''),
    opening: (subject, id) => (destroyed.includes(id) ? FORGOTTEN : find(subject)),
    isPlain: (at) => at === undefined || at.offset < plainBefore,
    createKeys: () => undefined,
    load: async (subjects) => void requests.push(...subjects),
  }
}

describe('a codec with keys', () => {
  const sealed = openCodec({ sealing: sealingWith({ ann: key }) })

  test('writes no plain text, and reads what it wrote', () => {
    const value = Buffer.from(sealed.encode(issued()))
    expect(value.includes('telephone')).toBe(false)
    expect(sealed.decode(value)).toEqual(issued())
  })

  test('decodes data of a destroyed key as forgotten, and everything else unchanged', () => {
    const after = openCodec({ sealing: sealingWith({}, [key.id]) })
    expect(after.decode(sealed.encode(issued()))).toEqual({ ...issued(), personal: FORGOTTEN })
  })

  test('refuses a field that was moved from another event', () => {
    const [one, other] = [
      Buffer.from(sealed.encode(issued())),
      Buffer.from(sealed.encode({ ...issued(), meta: { ...issued().meta, eventId: 'e2' } })),
    ]
    const moved = Buffer.concat([one.subarray(0, one.length - 40), other.subarray(other.length - 40)])
    expect(codeOf(() => sealed.decode(moved))).toBe('personal-unreadable')
  })

  test('reads plain text only from before the first key', () => {
    const plain = openCodec().encode(issued())
    const codec = openCodec({ sealing: sealingWith({ ann: key }, [], 5) })
    expect(codec.decode(plain, { partition: 0, offset: 4 })).toEqual(issued())
    expect(codec.decode(plain)).toEqual(issued())
    expect(codeOf(() => codec.decode(plain, { partition: 0, offset: 5 }))).toBe('personal-not-sealed')
  })

  test('without a person a personal field is refused, and without keys a sealed one', () => {
    expect(codeOf(() => sealed.encode(issued(null)))).toBe('bad-event')
    expect(codeOf(() => openCodec().decode(sealed.encode(issued())))).toBe('personal-without-keys')
  })

  test('fetches the keys of a whole batch at once, and repeats the decoding', async () => {
    const sealing = sealingWith({})
    const codec = openCodec({ sealing })
    const others = openCodec({ sealing: sealingWith({ ann: key, bob: key }) })
    const values = ['ann', 'bob', 'ann'].map((subject) => others.encode(issued(subject)))
    let attempts = 0
    const read = withKeys(
      codec,
      () => [...values, Buffer.from('no event')],
      () => {
        attempts += 1
        return attempts === 1 ? codec.decode(values[0] as Uint8Array) : 'read'
      },
    )
    expect(await read).toBe('read')
    expect(sealing.requests).toEqual(['ann', 'bob'])
  })
})
