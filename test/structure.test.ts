import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { OUR_DOMAINS } from '../domains/list.ts'

const root = join(import.meta.dirname, '..')

/** The names of the domains, and the names of outside services and stored tables that only one domain uses. */
const DOMAIN_NAMES = [
  ...OUR_DOMAINS.all.map(({ name }) => name),
  'scale-sense',
  'telegram',
  'toncenter',
  'ton',
  'strava',
]
const DOMAIN_NAME = new RegExp(`\\b(${DOMAIN_NAMES.join('|')})\\b`)

/** The folders that contain one folder or file per domain. */
const OF_DOMAINS = ['processors', 'projections', 'producers', 'domains', 'schemas/generated']
const DOMAIN_PATH = new RegExp(
  `^(${OF_DOMAINS.join('|')})/(${OUR_DOMAINS.records.map(({ domain }) => domain.name).join('|')})(/|\\.ts$)`,
)

/** The parts of the program that work for any domain. `*.ts`: only the files of the folder itself. */
const NEUTRAL = [
  'processors/engine',
  'processors/adapters',
  'processors/folding',
  'producers/*.ts',
  'producers/access',
  'producers/demo',
  'producers/http',
  'producers/live',
  'producers/mqtt',
  'host',
  'cli',
  'simulation',
  'testing',
]

const filesIn = (place: string): readonly string[] => {
  const isFlat = place.endsWith('/*.ts')
  const folder = place.replace('/*.ts', '')
  return readdirSync(join(root, folder), { recursive: !isFlat, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`)
}

/** The texts of all string literals and templates of a source file, import paths included. */
const textsIn = (file: string): readonly string[] => {
  const texts: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node)) texts.push(node.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest))
  return texts
}

/** The relative paths among the texts of a file, as paths from the root of the repository. */
const pathsIn = (file: string, texts: readonly string[]): readonly string[] =>
  texts
    .filter((text) => /^\.{1,2}\//.test(text))
    .map((text) => relative(root, normalize(join(root, dirname(file), text))).replaceAll('\\', '/'))

test.each(NEUTRAL)('no file in %s imports a domain, and no text in it names one', (place) => {
  const files = filesIn(place)
  expect(files).not.toEqual([])
  for (const file of files) {
    const texts = textsIn(file)
    expect(
      texts.filter((text) => DOMAIN_NAME.test(text)),
      file,
    ).toEqual([])
    expect(
      pathsIn(file, texts).filter((path) => DOMAIN_PATH.test(path)),
      file,
    ).toEqual([])
  }
})
