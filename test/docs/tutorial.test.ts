import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { plants } from '../../docs/tutorial/plants.ts'
import { water } from '../../docs/tutorial/water.ts'
import { readSchemas } from '../../schemas/sources.ts'
import { domainContract } from '../../testing/contract/contract.ts'
import { cleanEnv } from '../e2e/program.ts'
import { longTest } from '../services/available.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const tutorial = read('docs/tutorial.md')
const blocks = [...tutorial.matchAll(/^`(docs\/tutorial\/[^`]+)`\n\n```\w+\n([\s\S]*?)\n```$/gm)].map(
  ([, path = '', code = '']) => ({ path, code }),
)

const freshFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-tutorial-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('every file in the tutorial equals the file in the tree', () => {
  expect(blocks.map(({ path }) => path)).toEqual([
    'docs/tutorial/plants.avdl',
    'docs/tutorial/plants.ts',
    'docs/tutorial/water.ts',
  ])
  for (const { path, code } of blocks) expect(read(path).trimEnd(), path).toBe(code)
})

test('the code of the tutorial runs, and returns the answers in the tutorial', async () => {
  const shown = /with this:\n\n```json\n([\s\S]*?)\n```/.exec(tutorial)?.[1] ?? ''
  expect(await water(freshFolder())).toEqual(JSON.parse(shown))
})

domainContract({
  record: {
    domain: plants,
    partitions: {
      of: (plant) => [`PLANT#${plant}`],
      keyIn: (pk) => (pk.startsWith('PLANT#') ? pk.slice('PLANT#'.length) : undefined),
    },
  },
  pools: { keys: ['fern', 'ivy'], fields: () => ({ millilitres: [100, 2_000] }) },
  schemas: readSchemas(new URL('../../docs/tutorial/plants.avdl', import.meta.url)),
})

/** A tree like this one, to change at will. */
const copyOfTree = (): string => {
  const folder = freshFolder()
  for (const part of [
    'schemas',
    'projections',
    'processors',
    'producers',
    'cli',
    'bench',
    'timestream-local',
    'test',
    'docs/tutorial',
    'bin',
    'dist',
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
  ]) {
    if (existsSync(join(root, part))) cpSync(join(root, part), join(folder, part), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

// Copies the tree and builds it twice.
longTest(
  'the steps of the tutorial add its domain to the program, and every command accepts it',
  { timeout: 900_000 },
  () => {
    const chapter = tutorial.slice(tutorial.indexOf('## 4.'))
    const [, commands = ''] = /```sh\n([\s\S]*?)\n```/.exec(chapter) ?? []
    const [, imported = '', record = ''] = /```ts\n(import [^\n]+)\n([^\n]+)\n```/.exec(chapter) ?? []
    const [, session = ''] = /```\n(\$ [\s\S]*?)\n```/.exec(chapter) ?? []
    const tree = copyOfTree()
    const shell = (text: string): void => {
      const { status, stdout, stderr } = spawnSync('sh', ['-ec', text], { cwd: tree, encoding: 'utf8' })
      expect(status, `${stdout}${stderr}`).toBe(0)
    }
    shell(commands)
    const domains = readFileSync(join(tree, 'domains/domains.ts'), 'utf8')
    const list = 'const LISTED: readonly Listed[] = [\n'
    expect(domains).toContain(list)
    writeFileSync(join(tree, 'domains/domains.ts'), `${imported}\n${domains.replace(list, () => `${list}${record}\n`)}`)
    shell('npm run build')

    const env = cleanEnv({ TRIBUTARY_DATA: join(tree, 'data') })
    const tributary = (...args: readonly string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [join(tree, 'bin/tributary.js'), ...args], {
        env,
        encoding: 'utf8',
        cwd: tree,
      })
      return { status, printed: `${stdout}${stderr}`.trim() }
    }
    expect(tributary('token', 'create', '--user', 'ann')).toMatchObject({ status: 0 })
    expect(tributary('status').printed).toMatch(/^plants +g1 +0 /m)
    expect(tributary('schemas', 'check')).toMatchObject({ status: 0 })
    expect(tributary('rebuild', 'plants', '--yes').printed).toContain('generation 2 of plants: 0 events folded')
    const shown = session
      .split(/^\$ /m)
      .filter((part) => part.startsWith('npx tributary '))
      .map((part) => part.trimEnd().split('\n'))
    expect(shown).toHaveLength(3)
    for (const [command = '', ...answer] of shown)
      expect(tributary(...command.slice('npx tributary '.length).split(' ')).printed, command).toBe(answer.join('\n'))
  },
)
