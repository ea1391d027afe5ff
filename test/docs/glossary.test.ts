import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')

const PRODUCT = [
  'api',
  'schemas',
  'projections',
  'processors',
  'producers',
  'domains',
  'host',
  'cli',
  'simulation',
  'timestream-local',
]

const files = PRODUCT.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
).filter((file) => file.endsWith('.ts') && !file.includes('generated') && !file.includes('node_modules'))
const sources = files.map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))

/** The rows of the glossary: word, reader's word, meaning. */
const rows = readFileSync(join(root, 'docs', 'glossary.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(1)
  .map((line) => line.split('|').map((cell) => cell.trim()))
const words = rows.map(([, word = '']) => word)

/** The parts of a camel-case name: `PartitionState` has `Partition` and `State`. */
const partsOf = (name: string): readonly string[] => name.match(/[A-Z][a-z0-9]+|[A-Z]+(?![a-z])/g) ?? []
const exported = sources.flatMap(({ file, text }) =>
  [...text.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name = '']) => ({ file, name })),
)

/** The exported functions, constants and classes. */
const exportedValues = sources.flatMap(({ file, text }) =>
  [...text.matchAll(/^export (?:const|class|(?:async )?function\*?) (\w+)/gm)].map(([, name = '']) => ({ file, name })),
)

/** The parts of a name of any form in lower case: `loadItems` and `LOAD_ITEMS` have `load` and `items`. */
const wordsOf = (name: string): readonly string[] =>
  (name.match(/[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])/g) ?? []).map((part) => part.toLowerCase())

/** Words that earlier versions used as names. No exported name contains one of them. */
const DIALECT = [
  ...['standing', 'held', 'hold', 'holder', 'heard', 'told', 'telling', 'said', 'saying', 'asked', 'care', 'tries'],
  ...['marks', 'kept', 'lane', 'turn', 'hand', 'beside', 'reach', 'reached', 'workplace', 'workshop'],
]

/** Names of stored data, which cannot be renamed: prefixes of keys, and an event with its fold. */
const STORED_NAMES = ['MARKS', 'TRIES', 'awardsTold']

/** Words that every programmer knows, in the singular. */
const ORDINARY = [
  ...['imported', 'line', 'timeline', 'load', 'retry', 'status', 'end', 'workload', 'output'],
  ...['answer', 'args', 'body', 'broker', 'by', 'call', 'check', 'clock', 'column', 'config', 'connection', 'context'],
  ...['cost', 'cursor', 'day', 'decision', 'demo', 'draft', 'entry', 'export', 'failure', 'field', 'file', 'group'],
  ...['import', 'index', 'input', 'join', 'kind', 'list', 'lock', 'member', 'message', 'name', 'new', 'of', 'open'],
  ...['opening', 'operation', 'option', 'pace', 'page', 'place', 'plan', 'pointer', 'problem', 'profile', 'query'],
  ...['queries', 'range', 'read', 'reader', 'report', 'request', 'response', 'row', 'rule', 'run', 'schema', 'seed'],
  ...['session', 'setting', 'source', 'spec', 'state', 'step', 'store', 'stored', 'summary', 'table', 'token'],
  ...['topic', 'type', 'usage', 'user', 'value', 'variable', 'work', 'world', 'write', 'writer'],
  ...[
    'access',
    'attempt',
    'batch',
    'link',
    'rate',
    'webhook',
    'delivery',
    'partition',
    'queue',
    'result',
    'storage',
    'target',
  ],
]

/** Names of products, and the words of the domains that this package contains. */
const NAMES = [
  ...['dynamo', 'kafka', 'lmdb', 'mqtt', 'strava', 'telegram', 'timestream', 'ton'],
  ...['activity', 'award', 'milestone', 'model', 'sport'],
  ...['balance', 'beer', 'day', 'device', 'expense', 'keg', 'meal', 'pat', 'pour', 'settlement', 'tap'],
]

const isIn = (list: readonly string[], part: string): boolean => {
  const word = part.toLowerCase()
  return list.includes(word) || list.includes(word.replace(/s$/, ''))
}

describe('docs/glossary.md', () => {
  test('is a table with three columns, sorted by word, with each word once', () => {
    expect(rows.filter((row) => row.length !== 5 || row.slice(1, 4).includes(''))).toEqual([])
    expect(words).toEqual([...new Set(words)].sort())
  })

  test('contains every word that is part of three exported types, except ordinary words and names', () => {
    const uses = new Map<string, Set<string>>()
    for (const { name } of exported)
      for (const part of partsOf(name)) uses.set(part, (uses.get(part) ?? new Set()).add(name))
    const frequent = [...uses].filter(([, names]) => names.size >= 3)
    const glossary = words.flatMap((word) => word.split(/[ -]/))
    const missing = frequent
      .filter(([part]) => !isIn([...ORDINARY, ...NAMES], part) && !isIn(glossary, part))
      .map(([part, names]) => `${part}: ${[...names].join(', ')}`)
    expect(missing).toEqual([])
  })

  test('contains only words that occur in the code', () => {
    const code = sources.map(({ text }) => text.toLowerCase()).join('\n')
    const isUsed = (word: string) => [' ', '-', ''].some((joint) => code.includes(word.replaceAll(/[ -]/g, joint)))
    expect(words.filter((word) => !isUsed(word))).toEqual([])
  })
})

test('no exported name contains a word of the old dialect', () => {
  const found = [...exported, ...exportedValues].filter(
    ({ name }) => !STORED_NAMES.includes(name) && wordsOf(name).some((word) => DIALECT.includes(word)),
  )
  expect(found.map(({ file, name }) => `${file}: ${name}`)).toEqual([])
})
