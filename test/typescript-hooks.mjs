import { createHash } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { planted } from './planted/mutate.mjs'

/** The mistake to plant into one of the source files, or null. */
const bug = JSON.parse(process.env.PLANTED ?? 'null')

/** The folder of this test run (services/global.ts). The first child process stores its JavaScript there, so that the others need no compiler. */
const folder = process.env.TRIBUTARY_TEST_SERVICES

const sourceOf = async (path) => {
  const text = await readFile(path, 'utf8')
  return bug !== null && path.endsWith(`/${bug.file}`) ? planted(text, bug) : text
}

const compile = async (text) => {
  const { default: ts } = await import('typescript')
  return ts.transpileModule(text, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true },
  }).outputText
}

const compileOnce = async (text) => {
  if (!folder) return compile(text)
  const file = join(folder, `${createHash('sha256').update(text).digest('hex')}.mjs`)
  try {
    return await readFile(file, 'utf8')
  } catch {
    const compiled = await compile(text)
    const aside = `${file}.${process.pid}`
    await writeFile(aside, compiled)
    await rename(aside, file)
    return compiled
  }
}

export const load = async (url, context, next) => {
  if (!url.endsWith('.ts')) return next(url, context)
  return { format: 'module', source: await compileOnce(await sourceOf(fileURLToPath(url))), shortCircuit: true }
}
