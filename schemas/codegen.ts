/**
 * `npm run codegen` writes the generated types. `--check` only compares, and exits 1 when they differ; `--lock` also gives
 * new records and versions their ids, and refuses what older versions could not read.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { checkSchemas } from './compatibility.ts'
import { EMPTY_LOCK, extendLock, formatLock, LOCK, readLock, writtenNow } from './lock.ts'
import { readSources, SCHEMAS } from './sources.ts'
import { typesOf } from './typescript.ts'

interface Output {
  readonly path: string
  readonly url: URL
  readonly text: string
}

const outputs = (): readonly Output[] => {
  const sources = readSources()
  const domains = [...new Set(sources.map((source) => source.domain))].filter((domain) => domain !== 'common')
  return domains.map((domain) => {
    const path = `generated/${domain}.ts`
    return { path, url: new URL(path, SCHEMAS), text: typesOf(domain, sources) }
  })
}

const current = (url: URL): string | undefined => (existsSync(url) ? readFileSync(url, 'utf8') : undefined)

/** Paths of generated files that are not what the schemas say now. */
export const outdated = (): readonly string[] =>
  outputs().filter(({ url, text }) => current(url) !== text).map(({ path }) => path)

const generate = (): void => {
  mkdirSync(new URL('generated/', SCHEMAS), { recursive: true })
  for (const { url, text } of outputs()) writeFileSync(url, text)
}

const complain = (lines: readonly string[]): number => {
  for (const line of lines) process.stderr.write(`${line}\n`)
  return lines.length === 0 ? 0 : 1
}

/** Gives new records and new versions their ids, unless something is wrong with them. */
const extend = (): number => {
  const sources = readSources()
  const lock = extendLock(existsSync(LOCK) ? readLock() : EMPTY_LOCK, writtenNow(sources))
  const { ok, problems } = checkSchemas({ sources, lock })
  if (ok) writeFileSync(LOCK, formatLock(lock))
  return complain(problems.map(({ schema, rule, detail }) => `${schema}: ${rule}: ${detail}`))
}

const main = (args: readonly string[]): number => {
  if (args.includes('--check')) return complain(outdated().map((path) => `schemas/${path} is not what the schemas say. Run npm run codegen.`))
  const code = args.includes('--lock') ? extend() : 0
  if (code === 0) generate()
  return code
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) process.exitCode = main(process.argv.slice(2))
