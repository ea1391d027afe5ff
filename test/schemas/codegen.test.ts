import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { NamedSchema, RecordSchema } from '../../schemas/avro.ts'
import { generate, lockSchemas, outdated } from '../../schemas/codegen.ts'
import { listSchemas } from '../../schemas/compatibility.ts'
import { readLock } from '../../schemas/lock.ts'
import { namesOf, readSources } from '../../schemas/sources.ts'
import { BIGINT, event, record } from './toy.ts'

let root: URL
const put = (domain: string, schema: NamedSchema, file = schema.name): void => {
  mkdirSync(new URL(`${domain}/`, root), { recursive: true })
  writeFileSync(new URL(`${domain}/${file}.avsc`, root), JSON.stringify(schema))
}
const versions = (): readonly string[] =>
  listSchemas(readLock(new URL('lock.json', root))).map(({ id, name, version }) => `${id} ${name} v${version}`)
const poured = (...fields: RecordSchema['fields']): RecordSchema =>
  event('Poured', [{ name: 'beer', type: 'string', doc: 'Its name.' }, ...fields])

beforeEach(() => {
  root = pathToFileURL(`${mkdtempSync(`${tmpdir()}/schemas-`)}/`)
  put('common', namesOf(readSources()).get('tributary.EventMeta') as NamedSchema)
})
afterEach(() => rmSync(root, { recursive: true }))

describe('the lock', () => {
  test('gives each event and each personal record an id, and what they refer to none', () => {
    put('toy', poured({ name: 'at', type: 'Place' }))
    put('toy', record('PouredPersonal', [{ name: 'who', type: 'string' }]))
    put('toy', record('Place', [{ name: 'name', type: 'string' }]))
    expect(lockSchemas(root)).toEqual([])
    expect(versions()).toEqual(['1 toy.Poured v1', '2 toy.PouredPersonal v1'])
  })

  test('stays as it is when nothing has changed but docs', () => {
    put('toy', poured())
    lockSchemas(root)
    const before = readFileSync(new URL('lock.json', root), 'utf8')
    put('toy', { ...poured(), doc: 'Said better.' })
    expect(lockSchemas(root)).toEqual([])
    expect(readFileSync(new URL('lock.json', root), 'utf8')).toBe(before)
  })

  test('adds a version that all others can read', () => {
    put('toy', poured())
    lockSchemas(root)
    put('toy', poured({ name: 'place', type: ['null', 'string'], default: null }))
    expect(lockSchemas(root)).toEqual([])
    expect(versions()).toEqual(['1 toy.Poured v1', '2 toy.Poured v2'])
  })

  test('is not touched by a version that some could not read', () => {
    put('toy', poured())
    lockSchemas(root)
    put('toy', poured({ name: 'place', type: 'string' }))
    expect(lockSchemas(root)).toMatchObject([{ schema: 'toy.Poured', rule: 'readable-by-all-versions' }])
    expect(versions()).toEqual(['1 toy.Poured v1'])
  })

  test('that cannot be read is said so', () => {
    writeFileSync(new URL('lock.json', root), '{')
    expect(() => lockSchemas(root)).toThrow(expect.objectContaining({ code: 'bad-schema' }))
  })
})

describe('a file', () => {
  test('bears the name of what it defines', () => {
    put('toy', poured(), 'Drawn')
    expect(() => readSources(root)).toThrow('schemas/toy/Drawn.avsc cannot be used: it defines Poured')
  })

  test('that is no JSON is named', () => {
    put('toy', poured())
    writeFileSync(new URL('toy/Poured.avsc', root), '{')
    expect(() => readSources(root)).toThrow('schemas/toy/Poured.avsc')
  })
})

describe('generated types', () => {
  test('are out of date until they are generated', () => {
    put('toy', poured())
    expect(outdated(root)).toEqual(['generated/toy.ts'])
    generate(root)
    expect(outdated(root)).toEqual([])
  })

  test('say what each kind of field holds', () => {
    const kinds = [
      { name: 'n', type: ['null', 'long'] as const, default: null },
      { name: 'big', type: BIGINT },
      { name: 'list', type: { type: 'array', items: ['null', 'Place'] } as const },
      { name: 'map', type: { type: 'map', values: 'double' } as const },
      { name: 'glass', type: { type: 'enum', name: 'Glass', symbols: ['pint', 'half'] } as const },
      { name: 'raw', type: 'bytes' },
    ]
    put('toy', poured(...kinds))
    put('toy', record('Place', [{ name: 'name', type: 'string' }]))
    generate(root)
    const text = readFileSync(new URL('generated/toy.ts', root), 'utf8')
    expect(text).toBe(`// Generated from schemas/toy/*.avsc by \`npm run codegen\`. Do not edit.
import type { Event } from '../event.ts'

/** A toy. */
export interface Place {
  readonly name: string
}

/** A toy. */
export interface PouredData {
  /** Its name. */
  readonly beer: string
  readonly n: number | null
  readonly big: bigint
  readonly list: readonly (Place | null)[]
  readonly map: { readonly [name: string]: number }
  readonly glass: 'pint' | 'half'
  readonly raw: Buffer
}

export type PouredPersonal = never

export type Poured = Event<'Poured', PouredData, PouredPersonal>

export type ToyEvent =
  | Poured
`)
  })
})
