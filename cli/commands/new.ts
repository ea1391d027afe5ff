import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { OUR_DOMAINS } from '../../domains/list.ts'
import { packageRoot } from '../../host/config/package-root.ts'
import { version } from '../../host/config/version.ts'
import { generate, lockSchemas } from '../../schemas/codegen.ts'
import { Fault } from '../../schemas/fault.ts'
import type { UnloadedContext } from '../context.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'

export interface NewOptions {
  readonly name: string
  /** The folder of the package. Default: a folder with the name of the domain. */
  readonly folder?: string
  /** The dependency on this program, as package.json names it. Default: this clone, or the version that is installed. */
  readonly tributary?: string
}

const NAME = /^[a-z][a-z0-9]{1,30}$/
/** The schemas and the package of this program have these names. */
const RESERVED: readonly string[] = ['common', 'tributary']

/** Writes a package with a working domain: two events, a fold, a table, a query, routes and tests. */
export const newDomain = (context: UnloadedContext, { name, folder = name, tributary }: NewOptions): Promise<Exit> => {
  if (!NAME.test(name))
    throw new Fault(
      'bad-usage',
      `"${name}" cannot be the name of a domain: write 2 to 31 lower-case letters and digits, with a letter first.`,
    )
  if (OUR_DOMAINS.all.some((domain) => domain.name === name) || RESERVED.includes(name))
    throw new Fault('bad-usage', `This program uses the name "${name}" itself. Choose another name.`)
  const target = resolve(folder)
  if (existsSync(target) && readdirSync(target).length > 0)
    throw new Fault('folder-not-empty', `The folder ${target} is not empty. Name another one with --folder.`)
  const words = {
    __name__: name,
    __Name__: name.charAt(0).toUpperCase() + name.slice(1),
    __version__: version(),
    __tributary__: tributary ?? dependencyFrom(target),
  }
  copyTemplate(join(packageRoot(), 'templates', 'domain'), target, words)
  const schemas = pathToFileURL(`${join(target, 'schemas')}${sep}`)
  lockSchemas(schemas)
  generate(schemas, pathToFileURL(`${join(target, 'src', 'generated')}${sep}`))
  context.output.line(`The domain ${name} is in ${target}. Next:`)
  context.output.line(`  cd ${relative(process.cwd(), target) || '.'}`)
  context.output.line('  npm install')
  context.output.line('  npm test')
  context.output.line('  npm start')
  return Promise.resolve(EXIT.fine)
}

/** A clone is a dependency by its path. An installed package is one by its version. */
const dependencyFrom = (target: string): string => {
  const root = packageRoot()
  return root.split(sep).includes('node_modules') ? `^${version()}` : `file:${relative(target, root)}`
}

const copyTemplate = (from: string, to: string, words: Readonly<Record<string, string>>): void => {
  const fill = (text: string): string =>
    Object.entries(words).reduce((filled, [word, value]) => filled.replaceAll(word, value), text)
  for (const path of readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (!path.isFile()) continue
    const file = join(path.parentPath, path.name)
    // npm leaves a file named .gitignore out of a package.
    const target = join(to, fill(relative(from, file)).replace(/^gitignore$/, '.gitignore'))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, fill(readFileSync(file, 'utf8')))
  }
}
