/** `npm run codegen` writes the generated types; `--check` only compares, and exits 1 when they differ. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
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

const main = (args: readonly string[]): number => {
  if (!args.includes('--check')) {
    generate()
    return 0
  }
  const stale = outdated()
  for (const path of stale) process.stderr.write(`schemas/${path} is not what the schemas say. Run npm run codegen and commit it.\n`)
  return stale.length === 0 ? 0 : 1
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) process.exitCode = main(process.argv.slice(2))
