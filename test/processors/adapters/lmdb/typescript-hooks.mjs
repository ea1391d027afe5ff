import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { planted } from '../../../planted/mutate.mjs'

const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true }

/** A mistake to plant into one of the sources, or null. */
const bug = JSON.parse(process.env.PLANTED ?? 'null')

const sourceOf = async (path) => {
  const text = await readFile(path, 'utf8')
  return bug !== null && path.endsWith(`/${bug.file}`) ? planted(text, bug) : text
}

export const load = async (url, context, next) => {
  if (!url.endsWith('.ts')) return next(url, context)
  const { outputText } = ts.transpileModule(await sourceOf(fileURLToPath(url)), { compilerOptions: options })
  return { format: 'module', source: outputText, shortCircuit: true }
}
