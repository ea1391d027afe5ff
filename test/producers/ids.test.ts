import { randomBytes } from 'node:crypto'
import { v5, validate, version } from 'uuid'
import { expect, test } from 'vitest'
import { createIds, derivedId } from '../../producers/ids.ts'

test('an id is a UUIDv7 that begins with its time', () => {
  const ids = createIds({ now: () => 0x0193_5b7a_1234, randomBytes })
  const id = ids.uuidv7()
  expect(id).toMatch(/^01935b7a-1234-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect([validate(id), version(id)]).toEqual([true, 7])
})

test('ids of one millisecond differ, also beyond the number that is prepared at once', () => {
  const { uuidv7 } = createIds({ now: () => 1, randomBytes })
  expect(new Set(Array.from({ length: 5_000 }, uuidv7)).size).toBe(5_000)
})

test('ids of later milliseconds sort later', () => {
  let time = 1_700_000_000_000
  const { uuidv7 } = createIds({ now: () => (time += 1), randomBytes })
  const ids = Array.from({ length: 1_000 }, uuidv7)
  expect([...ids].sort()).toEqual(ids)
})

test('a derived id is the same for the same parts, and differs if the parts are divided differently', () => {
  expect(derivedId('ann', 'k1')).toBe(derivedId('ann', 'k1'))
  expect(derivedId('ann', 'k1')).not.toBe(derivedId('annk', '1'))
  expect(version(derivedId('ann', 'k1'))).toBe(5)
})

test('a derived id is the UUIDv5 of its parts, as a library computes it', () => {
  const namespace = v5('tributary.producers', v5.DNS)
  for (let nth = 0; nth < 200; nth += 1)
    expect(derivedId('device', `scale-${nth}`, 'bøøt 🍺')).toBe(v5(`device\u0000scale-${nth}\u0000bøøt 🍺`, namespace))
})
