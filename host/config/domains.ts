import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isAbsolute, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { constants, Script } from 'node:vm'
import { createDomains, type Domains } from '../../domains/domains.ts'
import { OUR_DOMAINS, OUR_RECORDS } from '../../domains/list.ts'
import { declaredBy, type DomainRecord } from '../../domains/record.ts'
import { isObject } from '../../schemas/object.ts'
import { Fault, messageOf } from '../../schemas/fault.ts'
import { codeOf } from '../ipc/unix-socket.ts'
import { packageRoot } from './package-root.ts'
import { requireDistinctVariables } from './variables.ts'
import { version } from './version.ts'

/**
 * Loads the domains that `TRIBUTARY_DOMAINS` selects: names of domains in this package, and paths or names of other packages. Default: all domains
 * of this package.
 */
export const loadDomains = async (selection: string | undefined, folder: string = process.cwd()): Promise<Domains> => {
  const names = (selection ?? '').split(',').map((name) => name.trim())
  if (selection === undefined || selection === '') return OUR_DOMAINS
  if (names.includes(''))
    throw new Fault(
      'bad-config',
      `TRIBUTARY_DOMAINS contains an empty name: "${selection}". Write for example ${OUR_RECORDS[0]?.domain.name},./my-domain.`,
    )
  const records = await Promise.all(names.map((name) => recordNamed(name, folder)))
  const domains = { ...createDomains(records), selection }
  requireDistinctVariables(domains)
  return domains
}

const recordNamed = async (name: string, folder: string): Promise<DomainRecord> => {
  const ours = OUR_RECORDS.find(({ domain }) => domain.name === name)
  if (ours !== undefined) return ours
  const record = await importRecord(name, folder)
  if (!isRecord(record))
    throw new Fault(
      'bad-config',
      `TRIBUTARY_DOMAINS names ${name}, whose default export is not the record of a domain. Export one: import { defineDomain } from 'tributary/domain', and export default defineDomain({ … }).`,
    )
  const copy = packageRoot(declaredBy(record))
  if (version(copy) === version()) return record
  throw new Fault(
    'bad-config',
    `TRIBUTARY_DOMAINS names ${name}, which uses tributary ${version(copy)} in ${copy}. This program is tributary ${version()} in ${packageRoot()}. Install the same version in both places.`,
  )
}

/** Imports a path or a package, as a file in `folder` would import it. Returns its default export. */
const importRecord = async (name: string, folder: string): Promise<unknown> => {
  try {
    const module = await importModule(name, folder)
    return isObject(module) ? module['default'] : undefined
  } catch (error) {
    throw new Fault(
      'bad-config',
      `TRIBUTARY_DOMAINS names ${name}, which is neither a domain of this program (${OUR_RECORDS.map(({ domain }) => domain.name).join(', ')}) nor a package that can be loaded: ${messageOf(error)}. Is it built?`,
      { cause: error },
    )
  }
}

/**
 * Imports a path or a package. `createRequire` finds the entry file of packages with `main`, and of packages whose `exports` have the condition
 * `require` or `default`. `importIn` imports the other packages.
 */
const importModule = (name: string, folder: string): Promise<unknown> => {
  const isPath = name.startsWith('.') || isAbsolute(name)
  const path = resolve(folder, name)
  try {
    const file = createRequire(join(folder, 'package.json')).resolve(isPath ? path : name)
    return import(pathToFileURL(file).href)
  } catch (error) {
    if (codeOf(error) === 'ERR_PACKAGE_PATH_NOT_EXPORTED') return importIn(folder, name)
    // An import by path ignores `exports`. But code in the folder of a package with `exports` can import this package by its name.
    const { exports, name: ownName } = isPath ? packageIn(path) : {}
    if (exports === undefined || typeof ownName !== 'string') throw error
    return importIn(path, ownName)
  }
}

const packageIn = (folder: string): Readonly<Record<string, unknown>> => {
  const file = join(folder, 'package.json')
  const content: unknown = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  return isObject(content) ? content : {}
}

/**
 * Imports a package, as an ES module in the folder would import it. Only this works if the `exports` of the package have no condition other than
 * `import`. Node 20 warns that this is experimental.
 */
const importIn = (folder: string, name: string): Promise<unknown> => {
  const load: (name: string) => Promise<unknown> = new Script('(name) => import(name)', {
    filename: join(folder, 'importer.js'),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  }).runInThisContext()
  return load(name)
}

const isRecord = (value: unknown): value is DomainRecord =>
  isObject(value) &&
  declaredBy(value) !== undefined &&
  isObject(value['domain']) &&
  typeof value['domain']['name'] === 'string' &&
  isObject(value['domain']['partitions']) &&
  Array.isArray(value['domain']['projections'])
