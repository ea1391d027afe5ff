import { describe, expect, test } from 'vitest'
import type { NamedSchema, RecordSchema, Schema } from '../../schemas/avro.ts'
import { openCodec } from '../../schemas/codec.ts'
import { outdated } from '../../schemas/codegen.ts'
import { checkSchemas, listSchemas } from '../../schemas/compatibility.ts'
import type { Catalog, Report } from '../../schemas/compatibility.ts'
import { EMPTY_LOCK, extendLock, formatLock, readLock, writtenNow } from '../../schemas/lock.ts'
import type { Lock } from '../../schemas/lock.ts'
import { readSources } from '../../schemas/sources.ts'
import type { Source } from '../../schemas/sources.ts'
import { BIGINT, event, record } from './toy.ts'

const common = readSources().filter(({ schema }) => schema.name === 'EventMeta' || schema.name === 'Request')
const sourcesOf = (schemas: readonly NamedSchema[]): readonly Source[] => [
  ...common,
  ...schemas.map((schema) => ({ path: 'toy.avdl', domain: 'toy', schema })),
]

/** Adds the schemas of each step to the lock, one step after another. A step contains all schemas that exist at that time. */
const grown = (...steps: readonly (readonly NamedSchema[])[]): Catalog => ({
  sources: sourcesOf(steps.at(-1) ?? []),
  lock: steps.reduce<Lock>((lock, schemas) => extendLock(lock, writtenNow(sourcesOf(schemas))), EMPTY_LOCK),
})
const found = ({ problems }: Report): readonly string[] =>
  problems.map(({ schema, rule, detail }) => `${schema} ${rule}: ${detail}`)

const poured = (...fields: RecordSchema['fields']): RecordSchema =>
  event('Poured', [{ name: 'beer', type: 'string' }, ...fields])
const nullable = (name: string) => ({ name, type: ['null', 'string'] as const, default: null })

describe('the schemas of this repository', () => {
  test('are sound, locked, and readable by all versions', () => {
    expect(checkSchemas().problems).toEqual([])
    expect(checkSchemas().ok).toBe(true)
  })

  test('have the types that were generated from them', () => {
    expect(outdated()).toEqual([])
  })

  test('are listed with id, name, version and fingerprint', () => {
    const [first] = listSchemas()
    const fingerprint: unknown = expect.stringMatching(/^[0-9a-f]{64}$/)
    expect(first).toEqual({ id: 1, name: 'tributary.meals.ApiUsageSampled', version: 1, fingerprint, current: true })
  })
})

describe('a new version', () => {
  test('can add and remove fields that have defaults', () => {
    expect(found(checkSchemas(grown([poured(nullable('place'))], [poured(nullable('glass'))])))).toEqual([])
  })

  test('has an id of its own, and the old one keeps its own', () => {
    const { lock } = grown([poured()], [poured(nullable('place'))])
    expect(listSchemas(lock).map(({ id, version, current }) => [id, version, current])).toEqual([
      [1, 1, false],
      [2, 2, true],
    ])
  })

  test('is created if a type changes to which the record refers', () => {
    const using = poured({ name: 'at', type: 'Place' })
    const { lock } = grown(
      [using, record('Place', [nullable('a')])],
      [using, record('Place', [nullable('a'), nullable('b')])],
    )
    expect(listSchemas(lock).map(({ version }) => version)).toEqual([1, 2])
  })

  const place = { name: 'place', type: 'string' }
  const missing = 'no matching field for default-less toy.Poured.place'
  test.each<[string, readonly RecordSchema[], string]>([
    ['adds a field without a default', [poured(), poured(place)], `Version 2 cannot read version 1: ${missing}`],
    ['removes a field without a default', [poured(place), poured()], `Version 1 cannot read version 2: ${missing}`],
    [
      'makes an int a long',
      [poured({ name: 'n', type: 'int' }), poured({ name: 'n', type: 'long' })],
      'Version 1 cannot read version 2',
    ],
    [
      'makes a long a bigint',
      [poured({ name: 'n', type: 'long' }), poured({ name: 'n', type: BIGINT })],
      'n is bigint in one and long',
    ],
    [
      'makes a bigint a long inside a nullable list',
      [
        poured({ name: 'n', type: ['null', { type: 'array', items: BIGINT }], default: null }),
        poured({ name: 'n', type: ['null', { type: 'array', items: 'long' }], default: null }),
      ],
      'n[] is long in one and bigint in the other',
    ],
    [
      'adds a symbol that older readers do not know',
      [
        poured({ name: 'e', type: { type: 'enum', name: 'E', symbols: ['a'] } }),
        poured({ name: 'e', type: { type: 'enum', name: 'E', symbols: ['a', 'b'] } }),
      ],
      'Version 1 cannot read version 2',
    ],
    [
      'clashes with a version before the last',
      [poured({ name: 'n', type: 'int', default: 0 }), poured(), poured({ name: 'n', type: 'string', default: '' })],
      'Version 3 cannot read version 1',
    ],
  ])('is refused when it %s', (_, versions, reason) => {
    const report = checkSchemas(grown(...versions.map((schema) => [schema])))
    expect(report.ok).toBe(false)
    expect(found(report).join('\n')).toContain(`toy.Poured readable-by-all-versions: `)
    expect(found(report).join('\n')).toContain(reason)
  })
})

describe('a schema', () => {
  const one = (schema: NamedSchema, ...others: NamedSchema[]): string =>
    found(checkSchemas(grown([schema, ...others]))).join('\n')

  test('has a doc comment', () => {
    expect(one({ ...poured(), doc: '' })).toContain('toy.Poured documented')
  })

  test('of an event begins with the envelope and ends with the personal field', () => {
    const { fields, ...rest } = poured()
    expect(one({ ...rest, fields: fields.slice(0, -1) })).toContain('toy.Poured event-shape')
    expect(one({ ...rest, fields: [{ name: 'meta', type: 'string' }, ...fields.slice(1)] })).toContain(
      'toy.Poured event-shape',
    )
  })

  test('has unions only of null and one other type', () => {
    expect(one(poured({ name: 'x', type: ['null', 'int', 'string'], default: null }))).toContain(
      'toy.Poured nullable-only',
    )
    expect(one(poured({ name: 'x', type: ['string', 'null'] }))).toContain('toy.Poured nullable-only')
  })

  test('has no lists of items that take no bytes', () => {
    expect(one(poured({ name: 'x', type: { type: 'array', items: 'null' } }))).toContain('toy.Poured weighty-items')
    expect(one(poured({ name: 'x', type: { type: 'array', items: 'Empty' } }), record('Empty', []))).toContain(
      'toy.Poured weighty-items',
    )
  })

  test.each<[string, unknown, string]>([
    ['a float', 'float', 'toy.Poured uses the Avro type float, which is not supported. Use double.'],
    ['a float with a logical type', { type: 'float', logicalType: 'kilogram' }, 'toy.Poured uses the Avro type float'],
    [
      'a map',
      ['null', { type: 'map', values: 'int' }],
      'toy.Poured uses the Avro type map, which is not supported. Use an array of records',
    ],
    [
      'a fixed in a list',
      { type: 'array', items: { type: 'fixed', name: 'F', size: 4 } },
      'toy.Poured uses the Avro type fixed, which is not supported. Use bytes.',
    ],
    ['a type that contains itself', 'Node', 'The type toy.Node contains itself'],
    ['a type that contains itself through another', 'Tree', 'The type toy.Tree contains itself'],
  ])('has no %s', (_, type, message) => {
    const node = record('Node', [{ name: 'next', type: ['null', 'Node'], default: null }])
    const tree = [
      record('Tree', [{ name: 'branches', type: { type: 'array', items: 'Branch' } }]),
      record('Branch', [{ name: 'tree', type: 'Tree' }]),
    ]
    const schema = poured({ name: 'x', type: type as Schema })
    expect(() => grown([schema, node, ...tree])).toThrow(message)
    expect(() => openCodec({ schemas: [schema, node, ...tree] })).toThrow(message)
  })

  test('can use one type in several fields', () => {
    expect(
      one(
        poured({ name: 'x', type: 'Place' }, { name: 'y', type: { type: 'array', items: 'Place' } }),
        record('Place', [nullable('a')]),
      ),
    ).toBe('')
  })

  test('has a type that no other domain has', () => {
    const other: RecordSchema = { ...poured(), namespace: 'other' }
    expect(one(poured(), other)).toContain('toy.Poured one-type-one-event')
  })
})

describe('the lock', () => {
  const { sources, lock } = grown([poured()], [poured(nullable('place'))])
  const { nextId } = lock
  const check = (schemas: Lock['schemas']): string =>
    found(checkSchemas({ sources, lock: { nextId, schemas } })).join('\n')
  const [first, second] = lock.schemas as [Lock['schemas'][number], Lock['schemas'][number]]

  test('equals its written form', () => {
    expect(JSON.parse(formatLock(readLock()))).toEqual(readLock())
    expect(check(lock.schemas)).toBe('')
  })

  test('reports a missing entry', () => {
    expect(check([second])).toContain('The entry with id 1 is missing')
  })

  test('uses each id once', () => {
    expect(check([first, { ...second, id: 1 }])).toContain('An id is used twice')
    expect(check([first, { ...second, id: 9 }])).toContain('Its id 9 was never assigned')
  })

  test('matches its fingerprints', () => {
    expect(check([{ ...first, schema: second.schema }, second])).toContain('Version 1 does not match its fingerprint')
  })

  test('has versions in order', () => {
    expect(check([first, { ...second, version: 3 }])).toContain('Version 3 is out of order')
  })

  test('finds a record that has changed and one that no file declares any more', () => {
    const changed = sourcesOf([poured(nullable('glass'))])
    expect(found(checkSchemas({ sources: changed, lock })).join('\n')).toContain('It differs from the lock')
    expect(found(checkSchemas({ sources: sourcesOf([]), lock })).join('\n')).toContain('no .avdl file declares it')
  })

  test('may keep a record that no file declares any more, if it names the record as retired', () => {
    const retired = { ...lock, retired: ['toy.Poured'] }
    expect(found(checkSchemas({ sources: sourcesOf([]), lock: retired }))).toEqual([])
    expect(JSON.parse(formatLock(retired))).toEqual(retired)
  })
})
