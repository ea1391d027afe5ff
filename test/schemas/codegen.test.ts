import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { generate, lockSchemas, outdated } from '../../schemas/codegen.ts'
import { listSchemas } from '../../schemas/compatibility.ts'
import { readLock } from '../../schemas/lock.ts'
import { isEvent, namesOf, readSchemas, readSources } from '../../schemas/sources.ts'

let root: URL
const put = (domain: string, ...declarations: readonly string[]): void =>
  writeFileSync(
    new URL(`${domain}.avdl`, root),
    `@namespace("${domain}")\nprotocol File {\n${declarations.join('\n')}\n}\n`,
  )
const versions = (): readonly string[] =>
  listSchemas(readLock(new URL('lock.json', root))).map(({ id, name, version }) => `${id} ${name} v${version}`)
const poured = (...fields: readonly string[]): string =>
  `/** A toy. */ record Poured { /** Its name. */ string beer; ${fields.join(' ')} }`
const PLACE = '/** A toy. */ record Place { string name; }'
const PERSONAL = '/** A toy. */ record PouredPersonal { string who; }'

beforeEach(() => {
  root = pathToFileURL(`${mkdtempSync(`${tmpdir()}/schemas-`)}/`)
  put('tributary', '/** The envelope. */ record EventMeta { string eventId; }')
})
afterEach(() => rmSync(root, { recursive: true }))

describe('the lock', () => {
  test('gives each event and each personal record an id, and other types none', () => {
    put('toy', poured('Place at;'), PERSONAL, PLACE)
    expect(lockSchemas(root)).toEqual([])
    expect(versions()).toEqual(['1 toy.Poured v1', '2 toy.PouredPersonal v1'])
  })

  test('does not change if only docs have changed', () => {
    put('toy', poured())
    lockSchemas(root)
    const before = readFileSync(new URL('lock.json', root), 'utf8')
    put('toy', poured().replace('A toy', 'Said better'))
    expect(lockSchemas(root)).toEqual([])
    expect(readFileSync(new URL('lock.json', root), 'utf8')).toBe(before)
  })

  test('adds a version that all others can read', () => {
    put('toy', poured())
    lockSchemas(root)
    put('toy', poured('union { null, string } place = null;'))
    expect(lockSchemas(root)).toEqual([])
    expect(versions()).toEqual(['1 toy.Poured v1', '2 toy.Poured v2'])
  })

  test('is not changed by a version that another version could not read', () => {
    put('toy', poured())
    lockSchemas(root)
    put('toy', poured('string place;'))
    expect(lockSchemas(root)).toMatchObject([{ schema: 'toy.Poured', rule: 'readable-by-all-versions' }])
    expect(versions()).toEqual(['1 toy.Poured v1'])
  })

  test('that cannot be read is reported', () => {
    writeFileSync(new URL('lock.json', root), '{')
    expect(() => lockSchemas(root)).toThrow(expect.objectContaining({ code: 'bad-schema' }))
  })
})

describe('an event', () => {
  const fieldsOf = (name: string) => {
    const schema = namesOf(readSources(root)).get(name)
    return schema?.type === 'record' ? schema.fields.map((field) => field.name) : undefined
  }

  test('gets meta and personal; the records it refers to and personal records do not', () => {
    put('toy', poured('array<union { null, Place }> at;', 'other.Glass glass;'), PERSONAL, PLACE)
    put('other', '/** A toy. */ record Glass { string size; }')
    expect(
      readSources(root)
        .filter(({ schema }) => isEvent(schema))
        .map(({ schema }) => schema.name),
    ).toEqual(['Poured'])
    expect(fieldsOf('toy.Poured')).toEqual(['meta', 'beer', 'at', 'glass', 'personal'])
    expect([fieldsOf('toy.PouredPersonal'), fieldsOf('toy.Place'), fieldsOf('other.Glass')]).toEqual([
      ['who'],
      ['name'],
      ['size'],
    ])
  })

  test('of a file outside the folder is read by itself', () => {
    put('toy', poured())
    expect(readSchemas(new URL('toy.avdl', root))).toMatchObject([
      {
        name: 'Poured',
        namespace: 'toy',
        fields: [{ name: 'meta' }, { name: 'beer', doc: 'Its name.' }, { name: 'personal', doc: 'Always null.' }],
      },
    ])
  })

  test('that declares meta or personal itself is refused', () => {
    put('toy', poured('bytes personal;'))
    expect(() => readSources(root)).toThrow(
      'schemas/toy.avdl: Poured declares the field personal, which every event has. Remove it.',
    )
  })
})

describe('a mistake in a file is reported with its line', () => {
  const mistakes: readonly (readonly [name: string, declarations: readonly string[], message: string])[] = [
    [
      'a missing semicolon',
      ['record A {', '  string a', '  /** A doc. */', '  string b;', '}'],
      'schemas/toy.avdl:6: expected ;, but found "string"',
    ],
    [
      'a missing name',
      ['record A { string a; }', 'record B {', '  string = 1;', '}'],
      'schemas/toy.avdl:5: expected name, but found "="',
    ],
    [
      'a bad default',
      ['enum A { a }', 'record B { union { null, string } b = nil; }', 'record C { string c = ""; }'],
      'schemas/toy.avdl:4: invalid JSON',
    ],
    [
      'a missing brace',
      ['record A {', '  string a;'],
      'schemas/toy.avdl:6: expected a record, an enum, or a } that ends the file',
    ],
    [
      'an annotation without a value',
      ['/** At user@example.com. */', '@event', 'record A { string a = "@"; }'],
      'schemas/toy.avdl:4: an annotation needs a value in parentheses',
    ],
    [
      'a message',
      ['enum A { a }', 'string ping(string a);', 'record B { string b; }'],
      'schemas/toy.avdl:4: expected (eof), but found "ping"',
    ],
    [
      'an import',
      ['import idl "other.avdl";', 'record A { string a; }'],
      'schemas/toy.avdl:3: expected (eof), but found "idl"',
    ],
    [
      'another kind of type',
      ['enum A { a }', 'error B { string b; }'],
      'schemas/toy.avdl:4: only a record or an enum with a name can be declared',
    ],
    [
      'a type that is declared twice',
      ['record A { string a; }', 'record A { string b; }'],
      'schemas/toy.avdl: toy.A is declared twice. Rename one.',
    ],
  ]
  test.each(mistakes)('%s', (_, declarations, message) => {
    put('toy', ...declarations)
    expect(() => readSources(root)).toThrow(message)
  })

  test('a file that is not IDL', () => {
    writeFileSync(new URL('toy.avdl', root), '\n{"type": "record"}')
    expect(() => readSources(root)).toThrow('schemas/toy.avdl:2: expected protocol, but found "{"')
  })

  test('a type that nothing declares is reported with the record that refers to it', () => {
    put('toy', poured('Plaice at;'))
    expect(() => lockSchemas(root)).toThrow('toy.Poured refers to toy.Plaice, which no schema defines.')
  })
})

describe('generated types', () => {
  test('are out of date until they are generated', () => {
    put('toy', poured())
    expect(outdated(root)).toEqual(['toy.ts'])
    generate(root)
    expect(outdated(root)).toEqual([])
  })

  test('have the right type for each kind of field', () => {
    const kinds = [
      'union { null, long } n = null;',
      '@logicalType("bigint") long big;',
      'array<union { null, Place }> list;',
      'double ratio;',
      'Glass glass;',
      'bytes raw;',
    ]
    put('toy', poured(...kinds), PLACE, '/** How much. */ enum Glass { pint, half }')
    generate(root)
    const text = readFileSync(new URL('generated/toy.ts', root), 'utf8')
    expect(text).toBe(`// Generated from schemas/toy.avdl by \`npm run codegen\`. Do not edit.
import type { Event } from '../event.ts'

/** A toy. */
export interface Place {
  readonly name: string
}

/** How much. */
export type Glass = 'pint' | 'half'

/** A toy. */
export interface PouredData {
  /** Its name. */
  readonly beer: string
  readonly n: number | null
  readonly big: bigint
  readonly list: readonly (Place | null)[]
  readonly ratio: number
  readonly glass: Glass
  readonly raw: Buffer
}

export type PouredPersonal = never

/** A toy. */
export type Poured = Event<'Poured', PouredData, PouredPersonal>

/** The events that schemas/toy.avdl declares. */
export type ToyEvent =
  | Poured
`)
  })
})
