import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { freshFolder, runOk } from './program.ts'

const root = join(import.meta.dirname, '..', '..')

/** Links `tributary` of a package to this clone, or copies the part of it that declares records. */
const addTributary = (folder: string, how: 'link' | 'copy'): void => {
  const target = join(folder, 'node_modules', 'tributary')
  mkdirSync(dirname(target))
  if (how === 'link') return symlinkSync(root, target)
  const module = 'dist/domains/record.js'
  cpSync(join(root, module), join(target, module))
  writeFileSync(
    join(target, 'package.json'),
    JSON.stringify({ name: 'tributary', type: 'module', exports: { './domain': `./${module}` } }),
  )
}

/** Compiles each file alone, as `tsc` does, and checks no types. */
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
export const newPackage = async (name: string): Promise<string> => {
  const folder = join(freshFolder(), name)
  await runOk(['new', name, '--folder', folder], {})
  addTributary(folder, 'link')
  compile(folder)
  return folder
}

/** The folder of a package with these fields of package.json and one module. */
export const smallPackage = (
  fields: Readonly<Record<string, unknown>>,
  { module, tributary = 'link' }: { readonly module: string; readonly tributary?: 'link' | 'copy' },
): string => {
  const folder = freshFolder()
  addTributary(folder, tributary)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', ...fields }))
  writeFileSync(join(folder, 'record.js'), module)
  return folder
}
