import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { KILL_CYCLES } from '../e2e/kill-count.ts'
import { DISK_BUGS } from '../planted/disk.ts'
import { EMBEDDED, KEY_FILE, LMDB_LOG, LMDB_TABLES, TIMESTREAM } from '../planted/embedded.ts'
import { DYNAMODB, KAFKA, KAFKA_APPEND, KAFKA_GROUP } from '../planted/services.ts'
import { OUR_DOMAINS } from '../../domains/list.ts'
import { bugsOf } from '../../simulation/bugs.ts'
import { SEEDS } from '../../simulation/seeds.ts'
import { SINGLE_FAULTS } from '../../simulation/simulate.ts'

const BUGS = bugsOf(await OUR_DOMAINS.simulations())
const root = join(import.meta.dirname, '..', '..')
const read = (...path: readonly string[]): string => readFileSync(join(root, ...path), 'utf8')
const page = read('docs', 'reliability.md')

/** The number in the first group of the match. */
const numberIn = (place: RegExp): number => Number((place.exec(page)?.[1] ?? 'NaN').replaceAll(',', ''))

/** The cells of the table rows between two headings. */
const rowsOf = (from: string, to: string): readonly (readonly string[])[] => {
  const text = page.slice(page.indexOf(from), page.indexOf(to, page.indexOf(from) + from.length))
  return text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim()))
}

const count = (list: object): number => Object.keys(list).length

describe('docs/reliability.md', () => {
  test('names the kill cycles that the test runs', () => {
    expect(numberIn(/`SIGKILL`, (\d+) times/)).toBe(KILL_CYCLES.short)
    expect(numberIn(/\((\d+) in CI or with `TRIBUTARY_LONG=1`; `KILL_CYCLES`/)).toBe(KILL_CYCLES.long)
    expect(numberIn(/^npm run kill-cycles +# (\d+) cycles, seed 1$/m)).toBe(KILL_CYCLES.short)
  })

  test('names the seeds that the simulation runs', () => {
    expect(numberIn(/`npm test` runs ([\d,]+) seeds/)).toBe(SEEDS.short)
    expect(numberIn(/and ([\d,]+) in CI or with `TRIBUTARY_LONG=1`/)).toBe(SEEDS.long)
    expect(numberIn(/`\.ci\/run` runs ([\d,]+) on every core/)).toBe(
      Number(/TRIBUTARY_CI_SEEDS:-(\d+)/.exec(read('.ci', 'run'))?.[1]),
    )
    expect(numberIn(/one fault of (\d+) kinds/)).toBe(SINGLE_FAULTS.length)
  })

  test('lists every planted bug of the simulation by its name, and no other', () => {
    expect(numberIn(/(\d+) deliberate mistakes/)).toBe(count(BUGS))
    const listed = rowsOf('## Planted bugs', '### In the adapters').flatMap(([, bugs = '']) => bugs.split(' · '))
    expect([...listed].sort()).toEqual(Object.keys(BUGS).sort())
  })

  test('lists every planted bug of each adapter by its name, and counts those of the disk', () => {
    const all =
      count(EMBEDDED) + [KAFKA_APPEND, KAFKA_GROUP, KAFKA, DYNAMODB].reduce((sum, list) => sum + count(list), 0)
    expect(numberIn(/(\d+) mistakes in LMDB, key file/)).toBe(all)
    expect(numberIn(/`test\/planted` plants (\d+) mistakes/)).toBe(all)
    const listed = rowsOf('### In the adapters', '## Power loss').map(([adapter = '', bugs = '']) => [
      adapter,
      bugs.split(' · '),
    ])
    expect(Object.fromEntries(listed)).toEqual({
      'LMDB log': Object.keys(LMDB_LOG),
      'LMDB tables': Object.keys(LMDB_TABLES),
      'key file': Object.keys(KEY_FILE),
      Timestream: Object.keys(TIMESTREAM),
      'Kafka, append': Object.keys(KAFKA_APPEND),
      'Kafka, group': Object.keys(KAFKA_GROUP),
      'Kafka, reading': Object.keys(KAFKA),
      DynamoDB: Object.keys(DYNAMODB),
    })
    expect(numberIn(/observer of the disk, and (\d+) mistakes/)).toBe(count(DISK_BUGS))
  })

  test('describes every checker of the simulation, and no other', () => {
    const checkersIn = (...folder: readonly string[]): readonly string[] =>
      readdirSync(join(root, ...folder))
        .filter((file) => file.endsWith('.ts'))
        .flatMap((file) => [...read(...folder, file).matchAll(/checker: '(\w+)'/g)].map(([, name = '']) => name))
    const ofDomains = OUR_DOMAINS.records.flatMap(({ domain: { name } }) =>
      checkersIn('domains', name).map((checker) => `${checker}: ${name}`),
    )
    const checkers = [...checkersIn('simulation'), ...ofDomains]
    const described = rowsOf('| checker |', '## Planted bugs').flatMap(([names = '']) => names.split(', '))
    expect([...described].sort()).toEqual([...new Set(checkers)].sort())
  })

  test('describes every acknowledgement that must survive a power loss', () => {
    // Maps each kind of acknowledgement to its name on the page. `together` is no acknowledgement, so it is missing here.
    const PROMISES: Readonly<Record<string, string>> = {
      topic: 'topic',
      events: 'event',
      row: 'control row, ledger row',
      key: 'key',
      founding: 'key store',
      destroyed: 'no digit of a destroyed key',
      secret: 'no character of a replaced secret',
    }
    const kinds = [...read('test', 'disk', 'acknowledgements.ts').matchAll(/readonly what: '(\w+)'/g)]
      .map(([, kind = '']) => kind)
      .filter((kind) => kind !== 'together')
    expect(kinds.sort()).toEqual(Object.keys(PROMISES).sort())
    const sentence = /Every acknowledged [^.]*\./.exec(page)?.[0] ?? ''
    for (const promise of Object.values(PROMISES)) expect(sentence).toContain(promise)
  })

  test('names only test files that exist', () => {
    for (const [, file = ''] of page.matchAll(/`(test\/[\w./-]+\.(?:ts|c))`/g))
      expect(() => read(file), file).not.toThrow()
    for (const [, paths = ''] of page.matchAll(/`npx vitest run (test[^`]+)`/g))
      for (const path of paths.split(' '))
        expect(() => (path.endsWith('.ts') ? read(path) : readdirSync(join(root, path))), path).not.toThrow()
  })
})
