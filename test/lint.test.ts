import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ESLint } from 'eslint'
import tseslint from 'typescript-eslint'
import { afterAll, describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
/** ESLint without the rules that need types, because these rules load the whole program. */
const untypedWithCycles = new ESLint({ cwd: root, overrideConfig: [tseslint.configs.disableTypeChecked] })
/** ESLint also without the search for import cycles, which reads every file that the linted file imports directly or through others. */
const untyped = new ESLint({
  cwd: root,
  overrideConfig: [tseslint.configs.disableTypeChecked, { rules: { 'import-x/no-cycle': 'off' } }],
})

/** The only file that is linted with types. Its own tsconfig.json contains only this file, so that it loads quickly. */
const ALONE = 'schemas/fault.ts'
const folder = mkdtempSync(join(tmpdir(), 'tributary-lint-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const project = join(folder, 'tsconfig.json')
writeFileSync(
  project,
  JSON.stringify({
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { types: [] },
    include: [],
    files: [join(root, ALONE)],
  }),
)
// disallowAutomaticSingleRunInference: in CI the parser would otherwise read the file from the disk instead of the planted text.
const parserOptions = { projectService: false, project, disallowAutomaticSingleRunInference: true }
const typed = new ESLint({ cwd: root, overrideConfig: [{ languageOptions: { parserOptions } }] })

const firstFileOf = (folder: string): string => {
  const name = readdirSync(join(root, folder)).find((entry) => entry.endsWith('.ts'))
  if (name === undefined) throw new Error(`${folder} has no source file to plant a violation in`)
  return `${folder}/${name}`
}

/** Returns the rules that report `code` as the content of the file. A message without a rule, such as a syntax error, is returned as its text. */
const rulesFor = async (file: string, code: string, eslint = untyped): Promise<readonly (string | null)[]> => {
  const [result] = await eslint.lintText(code, { filePath: join(root, file) })
  return (result?.messages ?? []).map((message) => message.ruleId ?? message.message)
}

const fold = firstFileOf('processors/meals')

describe('the import law', () => {
  test.each([
    ['schemas/fault.ts', '../projections/item.ts', 'schemas see no projections'],
    ['projections/item.ts', '../processors/engine/ports/log.ts', 'projections see no engine'],
    ['processors/engine/ports/log.ts', `../../meals/${fold.split('/').at(-1)}`, 'the engine imports no domain'],
    [fold, '../engine/ports/log.ts', 'a domain sees no engine'],
    [
      'processors/engine/ports/log.ts',
      `../../adapters/lmdb/${firstFileOf('processors/adapters/lmdb').split('/').at(-1)}`,
      'the engine imports no adapter',
    ],
    [firstFileOf('producers'), '../processors/engine/ports/store.ts', 'producers see the log port only'],
    [firstFileOf('producers'), '../cli/program.ts', 'nobody below sees the command line'],
    [firstFileOf('producers'), './meals/edge.ts', 'the shared files of producers see no domain'],
    [firstFileOf('producers/http'), '../scales/edge.ts', 'a transport sees no domain'],
    [firstFileOf('producers/mqtt'), '../../projections/scales/keys.ts', "a transport sees no domain's items"],
    [firstFileOf('producers/live'), '../../schemas/generated/scales.ts', "a transport sees no domain's events"],
    [firstFileOf('processors/adapters/lmdb'), '../../../cli/program.ts', 'adapters see no entry point'],
    ['testing/folds.ts', '../domains/meals.ts', 'the testing kit sees no domain'],
    ['simulation/random.ts', '../testing/event.ts', 'the program sees no testing kit'],
    ['testing/folds.ts', '../test/seeded.ts', 'the testing kit sees no test'],
    ['processors/engine/ports/log.ts', '../fold/decide.ts', 'the ports of the engine see no other chapter'],
    ['processors/engine/fold/decide.ts', '../poison/parked-entry.ts', 'the core of the engine sees no other chapter'],
    [
      'processors/engine/poison/parked-entry.ts',
      '../run/processor.ts',
      'a chapter of the engine sees no later chapter',
    ],
    ['timestream-local/wire.ts', '../processors/engine/ports/log.ts', 'timestream-local stands alone'],
  ])('%s importing %s is refused: %s', async (file, target) => {
    expect(await rulesFor(file, `import * as seen from '${target}'\nexport const used = seen\n`)).toContain(
      'import-x/no-restricted-paths',
    )
  })

  test('allowed imports are accepted', async () => {
    expect(
      await rulesFor(fold, "import type { Item } from '../../projections/item.ts'\nexport type Kept = Item\n"),
    ).toEqual([])
    expect(
      await rulesFor(
        firstFileOf('producers'),
        "import type { Log } from '../processors/engine/ports/log.ts'\nexport type Kept = Log\n",
      ),
    ).toEqual([])
  })
})

test('a cycle of imports is refused', async () => {
  // partition-state.ts imports parked-entry.ts, so this import makes a cycle.
  const code =
    "import { createPartitionState } from '../run/partition-state.ts'\nexport const used = createPartitionState\n"
  expect(await rulesFor('processors/engine/poison/parked-entry.ts', code, untypedWithCycles)).toContain(
    'import-x/no-cycle',
  )
})

describe('folds and projections are pure', () => {
  test.each([
    ['Date.now()', 'no-restricted-properties'],
    ['new Date()', 'no-restricted-syntax'],
    ['Math.random()', 'no-restricted-properties'],
    ['crypto.randomUUID()', 'no-restricted-globals'],
    ['process.env', 'no-restricted-globals'],
    ['fetch("http://localhost")', 'no-restricted-globals'],
    ['setTimeout(() => 1, 1)', 'no-restricted-globals'],
  ])('%s is refused', async (code, rule) => {
    for (const file of [fold, 'projections/item.ts'])
      expect(await rulesFor(file, `export const planted = ${code}\n`)).toContain(rule)
  })

  test.each(["import { readFileSync } from 'node:fs'", "import { v4 as planted } from 'uuid'"])(
    '%s is refused',
    async (code) => {
      const name = code.includes('uuid') ? 'planted' : 'readFileSync'
      for (const file of [fold, 'projections/item.ts']) {
        expect(await rulesFor(file, `${code}\nexport const used = ${name}\n`)).toContain('no-restricted-imports')
      }
    },
  )

  test('time from the event, and names derived from it, are accepted', async () => {
    const code =
      "import { v5 } from 'uuid'\nexport const used = (at: number) => v5(new Date(at).toISOString(), v5.URL)\n"
    expect(await rulesFor(fold, code)).toEqual([])
  })
})

describe('the rules for source files', () => {
  test('a source file over 300 lines is an error', async () => {
    expect(
      await rulesFor(
        'processors/engine/ports/log.ts',
        'export const a = 1\n'.replace('a', 'a0') + '// .\n'.repeat(301),
      ),
    ).toContain('max-lines')
  })

  test('a function over 80 lines is an error', async () => {
    expect(
      await rulesFor('processors/engine/ports/log.ts', `export const long = () => {\n${'  void 0\n'.repeat(81)}}\n`),
    ).toContain('max-lines-per-function')
  })

  test('any, a floating promise, and a double cast are errors', async () => {
    expect(
      await rulesFor('processors/engine/ports/log.ts', 'export const loose = (value: any) => value as string\n'),
    ).toContain('@typescript-eslint/no-explicit-any')
    expect(await rulesFor(ALONE, 'export const loose = () => { Promise.resolve(1) }\n', typed)).toContain(
      '@typescript-eslint/no-floating-promises',
    )
    expect(await rulesFor('processors/engine/ports/log.ts', 'export const loose = 1 as unknown as string\n')).toContain(
      'no-restricted-syntax',
    )
  })

  test('a comment cannot switch a rule off', async () => {
    const code =
      '// eslint-disable-next-line @typescript-eslint/no-explicit-any\nexport const loose = (value: any) => value as string\n'
    expect(await rulesFor('processors/engine/ports/log.ts', code)).toContain('@typescript-eslint/no-explicit-any')
  })
})

describe('unused exports', () => {
  test('an unused value, type and file are reported', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tributary-unused-'))
    try {
      mkdirSync(join(folder, 'cli'))
      cpSync(join(root, 'package.json'), join(folder, 'package.json'))
      writeFileSync(join(folder, 'cli/main.ts'), "import { used } from './parts.ts'\nused()\n")
      writeFileSync(
        join(folder, 'cli/parts.ts'),
        'export const used = () => idle\nexport const idle = 1\nexport type Idle = typeof idle\n',
      )
      writeFileSync(join(folder, 'cli/alone.ts'), 'export const alone = 1\n')
      const { stdout, status } = spawnSync(
        process.execPath,
        [join(root, 'node_modules/knip/bin/knip.js'), '--directory', folder],
        { encoding: 'utf8' },
      )
      expect(status).not.toBe(0)
      for (const name of ['idle', 'Idle', 'cli/alone.ts']) expect(stdout).toMatch(new RegExp(`^${name}\\s`, 'm'))
      expect(stdout).not.toMatch(/^used\s/m)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
