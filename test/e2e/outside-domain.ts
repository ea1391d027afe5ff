import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { runOk } from './program.ts'

const root = join(import.meta.dirname, '..', '..')

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

/** Writes a package with `tributary new plants`, compiles it, and gives it a copy of this program, as npm does. No registry is needed. */
export const writeOutsideDomain = async (folder: string): Promise<void> => {
  await runOk(['new', 'plants', '--folder', folder], {})
  const copy = join(folder, 'node_modules', 'tributary')
  for (const part of ['package.json', 'dist', 'schemas'])
    cpSync(join(root, part), join(copy, part), { recursive: true, filter: (file) => !file.endsWith('.map') })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'dir')
  mkdirSync(join(folder, 'dist', 'generated'), { recursive: true })
  for (const file of readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.ts')) compile(join(folder, 'src', file), join(folder, 'dist', file.replace(/\.ts$/, '.js')))
  writeFileSync(join(folder, 'dist', 'with-demo.js'), WITH_DEMO)
  writeFileSync(join(folder, 'dist', 'broken.js'), BROKEN)
}

/** Compiles one file without checking its types, which is fast. The test of the tutorial checks the types. */
const compile = (from: string, to: string): void =>
  writeFileSync(
    to,
    ts.transpileModule(readFileSync(from, 'utf8'), {
      compilerOptions: {
        module: ts.ModuleKind.ESNext,
        target: ts.ScriptTarget.ES2023,
        rewriteRelativeImportExtensions: true,
        verbatimModuleSyntax: true,
      },
    }).outputText,
  )
