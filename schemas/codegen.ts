/**
 * `npm run codegen` writes the generated types. `--check` only compares, and exits 1 when they differ; `--lock` also gives
 * new records and versions their ids, and refuses what older versions could not read.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { checkSchemas } from './compatibility.ts'
import { EMPTY_LOCK, extendLock, formatLock, readLock, writtenNow } from './lock.ts'
import type { Problem } from './rules.ts'
import { isEvent, readSources, SCHEMAS } from './sources.ts'
import { typesOf } from './typescript.ts'

interface Output {
  readonly path: string
  readonly url: URL
  readonly text: string
}

const outputs = (root: URL): readonly Output[] => {
  const sources = readSources(root)
  const domains = [...new Set(sources.filter(({ schema }) => isEvent(schema)).map((source) => source.domain))]
  return domains.map((domain) => {
    const path = `generated/${domain}.ts`
    return { path, url: new URL(path, root), text: typesOf(domain, sources) }
  })
}

const current = (url: URL): string | undefined => (existsSync(url) ? readFileSync(url, 'utf8') : undefined)

/** Paths of generated files that are not what the schemas say now. */
export const outdated = (root: URL = SCHEMAS): readonly string[] =>
  outputs(root).filter(({ url, text }) => current(url) !== text).map(({ path }) => path)

export const generate = (root: URL = SCHEMAS): void => {
  mkdirSync(new URL('generated/', root), { recursive: true })
  for (const { url, text } of outputs(root)) writeFileSync(url, text)
}

/** Gives new records and new versions their ids, unless something is wrong with them; gives what is wrong. */
export const lockSchemas = (root: URL = SCHEMAS): readonly Problem[] => {
  const url = new URL('lock.json', root)
  const sources = readSources(root)
  const lock = extendLock(existsSync(url) ? readLock(url) : EMPTY_LOCK, writtenNow(sources))
  const { problems } = checkSchemas({ sources, lock })
  if (problems.length === 0) writeFileSync(url, formatLock(lock))
  return problems
}

const complain = (lines: readonly string[]): number => {
  for (const line of lines) process.stderr.write(`${line}\n`)
  return lines.length === 0 ? 0 : 1
}

const main = (args: readonly string[]): number => {
  if (args.includes('--check')) {
    return complain(outdated().map((path) => `schemas/${path} is not what the schemas say. Run npm run codegen.`))
  }
  const problems = args.includes('--lock') ? lockSchemas() : []
  if (problems.length === 0) generate()
  return complain(problems.map(({ schema, rule, detail }) => `${schema}: ${rule}: ${detail}`))
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) process.exitCode = main(process.argv.slice(2))
