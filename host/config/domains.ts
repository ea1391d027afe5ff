import { createRequire } from 'node:module'
import { isAbsolute, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createDomains, type Domains } from '../../domains/domains.ts'
import { OUR_DOMAINS, OUR_RECORDS } from '../../domains/list.ts'
import type { DomainRecord } from '../../domains/record.ts'
import { isObject } from '../../schemas/object.ts'
import { Fault, messageOf } from '../../schemas/fault.ts'

/** The domains that `TRIBUTARY_DOMAINS` selects: names of domains in this package, and paths or names of other packages. Default: all domains of this package. */
export const loadDomains = async (selection: string | undefined, folder: string = process.cwd()): Promise<Domains> => {
  const names = (selection ?? '').split(',').map((name) => name.trim())
  if (selection === undefined || selection === '') return OUR_DOMAINS
  if (names.includes(''))
    throw new Fault(
      'bad-config',
      `TRIBUTARY_DOMAINS contains an empty name: "${selection}". Write for example ${OUR_RECORDS[0]?.domain.name},./my-domain.`,
    )
  const records = await Promise.all(names.map((name) => recordNamed(name, folder)))
  return createDomains(records)
}

const recordNamed = async (name: string, folder: string): Promise<DomainRecord> => {
  const ours = OUR_RECORDS.find(({ domain }) => domain.name === name)
  if (ours !== undefined) return ours
  const record = await importRecord(name, folder)
  if (isRecord(record)) return record
  throw new Fault(
    'bad-config',
    `TRIBUTARY_DOMAINS names ${name}, whose default export is not the record of a domain. Export one: export default defineDomain({ … }).`,
  )
}

/** Imports a path or a package as a file in that folder would. */
const importRecord = async (name: string, folder: string): Promise<unknown> => {
  const isPath = name.startsWith('.') || isAbsolute(name)
  try {
    const file = createRequire(join(folder, 'package.json')).resolve(isPath ? resolve(folder, name) : name)
    const module: unknown = await import(pathToFileURL(file).href)
    return isObject(module) ? module['default'] : undefined
  } catch (error) {
    throw new Fault(
      'bad-config',
      `TRIBUTARY_DOMAINS names ${name}, which is neither a domain of this program (${OUR_RECORDS.map(({ domain }) => domain.name).join(', ')}) nor a package that can be loaded: ${messageOf(error)}. Is it built?`,
      { cause: error },
    )
  }
}

const isRecord = (value: unknown): value is DomainRecord =>
  isObject(value) &&
  isObject(value['partitions']) &&
  isObject(value['domain']) &&
  typeof value['domain']['name'] === 'string' &&
  Array.isArray(value['domain']['projections'])
