import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RecordSchema } from '../../schemas/avro.ts'
import { openCodec } from '../../schemas/codec.ts'
import type { Event } from '../../schemas/event.ts'
import { Fault } from '../../schemas/fault.ts'
import { BIGINT, event, META, record } from './toy.ts'

const v1 = event('Poured', [
  { name: 'beer', type: 'string' },
  { name: 'millilitres', type: 'int' },
  { name: 'gone', type: { type: 'array', items: 'string' }, default: [] },
  { name: 'glass', type: { type: 'enum', name: 'Glass', symbols: ['pint', 'half'] } },
])
const v2 = event('Poured', [
  { name: 'millilitres', type: 'long' },
  { name: 'brew', aliases: ['beer'], type: 'string' },
  { name: 'glass', type: { type: 'enum', name: 'Glass', symbols: ['half', 'pint', 'mug'] } },
  { name: 'place', type: ['null', 'string'], default: null },
  { name: 'price', type: BIGINT, default: 7 },
])
const v1Personal = record('PouredPersonal', [{ name: 'who', type: 'string' }])
const v2Personal = record('PouredPersonal', [
  { name: 'who', type: 'string' },
  { name: 'toast', type: ['null', 'string'], default: null },
])

const said: Event = {
  type: 'Poured',
  meta: META,
  data: { beer: 'stout', millilitres: 568, gone: ['x', 'y'], glass: 'pint' },
  personal: { who: 'ada' },
}
const written = (schemas: readonly RecordSchema[], what: Event): Uint8Array => openCodec({ schemas }).encode(what)

describe('an event of an older version', () => {
  const codec = openCodec({ schemas: [v2, v2Personal], history: [v1, v1Personal] })

  test('is read as the newest version: renamed, promoted, reordered, with defaults, without removed fields', () => {
    const decoded = codec.decode(written([v1, v1Personal], said))
    expect(decoded).toStrictEqual({
      type: 'Poured',
      meta: META,
      data: { millilitres: 568, brew: 'stout', glass: 'pint', place: null, price: 7n },
      personal: { who: 'ada', toast: null },
    })
  })

  test('can contain a personal record of another version than its own', () => {
    const mixed = openCodec({ schemas: [v1, v2Personal], history: [v1Personal] })
    const bytes = mixed.encode({ ...said, personal: { who: 'ada', toast: 'prost' } })
    expect(codec.decode(bytes).personal).toStrictEqual({ who: 'ada', toast: 'prost' })
    expect(mixed.decode(written([v1, v1Personal], said)).personal).toStrictEqual({ who: 'ada', toast: null })
  })

  test('is never written again', () => {
    const data = { brew: 'stout', millilitres: 2 ** 40, glass: 'mug', place: null, price: 1n }
    const bytes = codec.encode({ ...said, data, personal: { who: 'ada', toast: null } })
    expect(codec.decode(bytes).data).toStrictEqual(data)
  })

  test('is checked by the schema with which it was written', () => {
    const bytes = Buffer.concat([written([v1, v1Personal], said), Buffer.from([0])])
    expect(() => codec.decode(bytes)).toThrow('1 bytes follow the record')
  })
})

describe('a renamed event', () => {
  test('is read under its new name', () => {
    const old = event('Drawn', [{ name: 'beer', type: 'string' }])
    const renamed: RecordSchema = { ...event('Tapped', [{ name: 'beer', type: 'string' }]), aliases: ['Drawn'] }
    const codec = openCodec({ schemas: [renamed], history: [old] })
    const bytes = written([old], { type: 'Drawn', meta: META, data: { beer: 'stout' }, personal: null })
    expect(codec.decode(bytes)).toStrictEqual({ type: 'Tapped', meta: META, data: { beer: 'stout' }, personal: null })
  })
})

describe('an event of a newer version', () => {
  test('has an unknown schema for a program without that version', () => {
    const data = { brew: 'x', millilitres: 1, glass: 'mug', place: null, price: 1n }
    const bytes = written([v2, v2Personal], { ...said, data, personal: null })
    expect(() => openCodec({ schemas: [v1, v1Personal] }).decode(bytes)).toThrow(
      expect.objectContaining({ code: 'unknown-schema' }),
    )
  })
})

describe('an older version under random bytes', () => {
  test('is read or refused with a fault', () => {
    const codec = openCodec({ schemas: [v2, v2Personal], history: [v1, v1Personal] })
    const bytes = Buffer.from(written([v1, v1Personal], said))
    const edit = fc.tuple(
      fc.integer({ min: 5, max: bytes.length }),
      fc.uint8Array({ maxLength: 4 }),
      fc.integer({ min: 0, max: 4 }),
    )
    let read = 0
    fc.assert(
      fc.property(edit, ([at, put, cut]) => {
        try {
          codec.decode(Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + cut)]))
          read++
        } catch (error) {
          expect(error).toBeInstanceOf(Fault)
        }
      }),
      { numRuns: 3_000 },
    )
    expect(read).toBeGreaterThan(0)
  })
})
