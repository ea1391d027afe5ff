import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { OUR_DOMAINS } from '../../domains/list.ts'
import { packageRoot } from '../../host/config/package-root.ts'
import { version } from '../../host/config/version.ts'
import { generate, lockSchemas } from '../../schemas/codegen.ts'
import { DOMAIN_NAME_RULE, isDomainName } from '../../projections/domain-name.ts'
import { Fault } from '../../schemas/fault.ts'
import { isObject } from '../../schemas/object.ts'
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

/** Writes a package with a working domain: two events, a fold, a table, a query, routes and tests. */
export const newDomain = (context: UnloadedContext, { name, folder = name, tributary }: NewOptions): Promise<Exit> => {
  if (!isDomainName(name))
    throw new Fault('bad-usage', `"${name}" cannot be the name of a domain: write ${DOMAIN_NAME_RULE}.`)
  if (OUR_DOMAINS.all.some((domain) => domain.name === name))
    throw new Fault('bad-usage', `This program has a domain "${name}" already. Choose another name.`)
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

/**
 * Returns how the new package names this program as a dependency. If this program is a clone: its path. If it is installed as a dependency: the
 * version or tarball in the package.json of the package that installed it.
 */
const dependencyFrom = (target: string): string => {
  const root = packageRoot()
  const at = root.lastIndexOf(`${sep}node_modules${sep}`)
  if (at < 0) return `file:${relative(target, root)}`
  const installer = root.slice(0, at)
  const spec = dependencyIn(join(installer, 'package.json')) ?? `^${version()}`
  return spec.startsWith('file:') ? `file:${relative(target, resolve(installer, spec.slice('file:'.length)))}` : spec
}

/** Returns the version or path with which a package.json names this program as a dependency. Undefined if it is no dependency there. */
const dependencyIn = (file: string): string | undefined => {
  const json: unknown = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
  const found = ['dependencies', 'devDependencies']
    .map((kind) => (isObject(json) ? json[kind] : undefined))
    .map((listed) => (isObject(listed) ? listed['tributary'] : undefined))
  return found.find((spec) => typeof spec === 'string')
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
