import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { freshFolder, runOk } from './program.ts'

const root = join(import.meta.dirname, '..', '..')

/** The `node_modules/tributary` of a package: a link to this clone, a copy of the program as npm installs it, or another version of its API. */
type Tributary = 'link' | 'copy' | 'other-version'

const addTributary = (folder: string, how: Tributary): void => {
  const target = join(folder, 'node_modules', 'tributary')
  mkdirSync(dirname(target), { recursive: true })
  if (how === 'link') return symlinkSync(root, target)
  if (how === 'copy') {
    for (const part of ['package.json', 'dist', 'schemas'])
      cpSync(join(root, part), join(target, part), { recursive: true, filter: (file) => !file.endsWith('.map') })
    return symlinkSync(join(root, 'node_modules'), join(target, 'node_modules'), 'dir')
  }
  const module = 'dist/domains/record.js'
  cpSync(join(root, module), join(target, module))
  writeFileSync(
    join(target, 'package.json'),
    JSON.stringify({ name: 'tributary', version: '99.0.0', type: 'module', exports: { './domain': `./${module}` } }),
  )
}

/** Compiles the sources of the package like `tsc`, but each file alone and without a check of types, which is faster. */
const compile = (folder: string): void => {
  const { config } = ts.parseConfigFileTextToJson('tsconfig.json', readFileSync(join(folder, 'tsconfig.json'), 'utf8'))
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, folder)
  for (const path of readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.ts')) continue
    const { outputText } = ts.transpileModule(readFileSync(join(folder, 'src', path), 'utf8'), {
      compilerOptions: { ...options, module: ts.ModuleKind.ESNext },
      fileName: join(folder, 'src', path),
    })
    const built = join(folder, 'dist', path.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(built), { recursive: true })
    writeFileSync(built, outputText)
  }
}

/** The folder of a built package that `tributary new` wrote. */
export const newPackage = async (
  name: string,
  { parent = freshFolder(), tributary = 'link' }: { readonly parent?: string; readonly tributary?: Tributary } = {},
): Promise<string> => {
  const folder = join(parent, name)
  await runOk(['new', name, '--folder', folder], {})
  addTributary(folder, tributary)
  compile(folder)
  return folder
}

/** Adds a demo to the record of the template. */
const WITH_DEMO = `
import { createSender } from 'tributary/domain'
import record from './record.js'
const demo = async ({ seconds, rate }, { url, tally, createToken }) => {
  const token = await createToken('demo')
  const send = createSender({ url, tally })
  for (let sent = 0; sent < seconds * rate; sent += 1)
    await send({ method: 'POST', path: '/v1/plants/entries', token, body: { amount: 1 + sent } })
}
export default { ...record, demo: async () => demo }
`

/** The record of the template with an invariant that every run breaks. */
const BROKEN = `
import record from './record.js'
const { workload } = await record.simulation()
const broken = (...draw) => ({ ...workload(...draw), check: () => [{ checker: 'domain', detail: 'a planted mistake' }] })
export default { ...record, simulation: async () => ({ workload: broken }) }
`

/** A package of the domain plants with a copy of the program of its own. `dist` also contains a record with a demo and one with a broken invariant. */
export const plantsPackage = async (parent: string): Promise<string> => {
  const folder = await newPackage('plants', { parent, tributary: 'copy' })
  writeFileSync(join(folder, 'dist', 'with-demo.js'), WITH_DEMO)
  writeFileSync(join(folder, 'dist', 'broken.js'), BROKEN)
  return folder
}

/** The folder of a package with these fields of package.json and one module. */
export const smallPackage = (
  fields: Readonly<Record<string, unknown>>,
  { module, tributary = 'link' }: { readonly module: string; readonly tributary?: Tributary },
): string => {
  const folder = freshFolder()
  addTributary(folder, tributary)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', ...fields }))
  writeFileSync(join(folder, 'record.js'), module)
  return folder
}
