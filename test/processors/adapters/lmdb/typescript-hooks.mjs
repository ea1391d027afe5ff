import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true }

export const load = async (url, context, next) => {
  if (!url.endsWith('.ts')) return next(url, context)
  const { outputText } = ts.transpileModule(await readFile(fileURLToPath(url), 'utf8'), { compilerOptions: options })
  return { format: 'module', source: outputText, shortCircuit: true }
}
