/**
 * `npm run codegen` writes the generated types. `--check` only compares them, and exits with 1 if they differ.
 * `--lock` also adds new records and versions to lock.json, and rejects versions that are not compatible.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { checkSchemas } from './compatibility.ts'
import { EMPTY_LOCK, emptyLockOf, extendLock, formatLock, readLock, writtenNow, type Lock } from './lock.ts'
import type { Problem } from './rules.ts'
import { isEvent, readSources, SCHEMAS, type Source } from './sources.ts'
import { typesOf } from './typescript.ts'

const OURS = { events: '../event.ts', command: 'npm run codegen' }
const OF_PACKAGES = { events: 'tributary/domain', command: 'tributary schemas codegen' }

interface Output {
  readonly path: string
  readonly url: URL
  readonly text: string
}

const outputs = (root: URL, types: URL): readonly Output[] => {
  const sources = readSources(root)
  const own = sources.filter(({ schema, shared }) => isEvent(schema) && shared !== true)
  const domains = [...new Set(own.map((source) => source.domain))]
  const generator = isPackage(sources) ? OF_PACKAGES : OURS
  return domains.map((domain) => {
    const path = `${domain}.ts`
    return { path, url: new URL(path, types), text: typesOf(domain, sources, generator) }
  })
}

const current = (url: URL): string | undefined => (existsSync(url) ? readFileSync(url, 'utf8') : undefined)

/** The names of the generated files that differ from the schemas. */
export const outdated = (root: URL = SCHEMAS, types: URL = typesIn(root)): readonly string[] =>
  outputs(root, types)
    .filter(({ url, text }) => current(url) !== text)
    .map(({ path }) => path)

/** Writes the TypeScript types of every domain of a schema folder. Default: into its folder `generated`. */
export const generate = (root: URL = SCHEMAS, types: URL = typesIn(root)): void => {
  mkdirSync(types, { recursive: true })
  for (const { url, text } of outputs(root, types)) writeFileSync(url, text)
}

const typesIn = (root: URL): URL => new URL('generated/', root)

/** Adds new records and versions to lock.json. If a schema has a problem, changes nothing and returns the problems. */
export const lockSchemas = (root: URL = SCHEMAS): readonly Problem[] => {
  const url = new URL('lock.json', root)
  const sources = readSources(root)
  const lock = extendLock(existsSync(url) ? readLock(url) : firstLock(sources), writtenNow(sources))
  const { problems } = checkSchemas({ sources, lock })
  if (problems.length === 0) writeFileSync(url, formatLock(lock))
  return problems
}

const isPackage = (sources: readonly Source[]): boolean => sources.some(({ shared }) => shared === true)

const firstLock = (sources: readonly Source[]): Lock => {
  const name = sources.find(({ shared }) => shared !== true)?.schema.name
  return isPackage(sources) && name !== undefined ? emptyLockOf(name) : EMPTY_LOCK
}

const reportLines = (lines: readonly string[]): number => {
  for (const line of lines) process.stderr.write(`${line}\n`)
  return lines.length === 0 ? 0 : 1
}

const main = (args: readonly string[]): number => {
  if (args.includes('--check')) {
    return reportLines(
      outdated().map((path) => `schemas/generated/${path} differs from the schemas. Run npm run codegen.`),
    )
  }
  const problems = args.includes('--lock') ? lockSchemas() : []
  if (problems.length === 0) generate()
  return reportLines(problems.map(({ schema, rule, detail }) => `${schema}: ${rule}: ${detail}`))
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  process.exitCode = main(process.argv.slice(2))
