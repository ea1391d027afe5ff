import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { generate, lockSchemas, outdated } from '../../schemas/codegen.ts'
import { checkSchemas, readCatalog, type Catalog, type Report } from '../../schemas/compatibility.ts'
import { counted } from '../../schemas/counted.ts'
import type { Problem } from '../../schemas/rules.ts'
import type { Context, UnloadedContext } from '../context.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'

/** The number of digits of a fingerprint in the table: enough to distinguish two schemas. `--json` prints all digits. */
const SHOWN_DIGITS = 10

/** The schemas of this program, and the schemas of each selected domain that has a schema folder of its own. */
const catalogsOf = ({ domains }: Pick<Context, 'domains'>): readonly Catalog[] =>
  [undefined, ...domains.records.flatMap(({ domain }) => domain.schemas ?? [])].map((folder) => readCatalog(folder))

/** Checks every catalog, and returns one report. */
export const checkAllSchemas = (context: Pick<Context, 'domains'>): Report => {
  const reports = catalogsOf(context).map((catalog) => checkSchemas(catalog))
  return {
    ok: reports.every(({ ok }) => ok),
    schemas: reports.flatMap(({ schemas }) => schemas),
    problems: reports.flatMap(({ problems }) => problems),
  }
}

export const show = (context: Context, { json }: { json?: true }): Promise<Exit> => {
  const { output } = context
  const { schemas } = checkAllSchemas(context)
  if (json === true) for (const schema of schemas) output.line(JSON.stringify(schema))
  else
    output.line(
      output.table([
        ['id', 'record', 'v', 'fingerprint', ''],
        ...schemas.map((each) => [
          String(each.id),
          each.name,
          String(each.version),
          each.fingerprint.slice(0, SHOWN_DIGITS),
          each.current ? 'current' : '',
        ]),
      ]),
    )
  return Promise.resolve(EXIT.fine)
}

export const check = (context: Context, { json }: { json?: true }): Promise<Exit> => {
  const { output } = context
  const { ok, schemas, problems } = checkAllSchemas(context)
  if (json === true) output.line(JSON.stringify({ ok, schemas: schemas.length, problems }))
  else {
    printProblems(context, problems)
    output.note(
      ok
        ? `${counted(schemas.length, 'schema')}: each can read the events of all its earlier versions.`
        : `${counted(problems.length, 'problem')} in ${counted(schemas.length, 'schema')}.`,
    )
  }
  return Promise.resolve(ok ? EXIT.fine : EXIT.differs)
}

const printProblems = ({ output }: UnloadedContext, problems: readonly Problem[]): void => {
  for (const problem of problems) output.line(Object.values(problem).join(': '))
}

export interface CodegenOptions {
  /** The folder with the `.avdl` files and the lock. */
  readonly folder: string
  /** The folder for the generated types. */
  readonly types: string
  readonly lock?: true
  readonly check?: true
}

/** Writes the TypeScript types of the schemas of a package, and with `lock` the ids of new records and versions. */
export const codegen = (
  context: UnloadedContext,
  { folder, types, lock, check: only }: CodegenOptions,
): Promise<Exit> => {
  const [root, out] = [folderUrl(folder), folderUrl(types)]
  if (only === true) {
    const stale = outdated(root, out)
    for (const path of stale)
      context.output.note(`${join(types, path)} differs from the schemas. Run tributary schemas codegen --lock.`)
    return Promise.resolve(stale.length === 0 ? EXIT.fine : EXIT.failed)
  }
  const problems = lock === true ? lockSchemas(root) : []
  printProblems(context, problems)
  if (problems.length > 0) return Promise.resolve(EXIT.failed)
  generate(root, out)
  return Promise.resolve(EXIT.fine)
}

const folderUrl = (path: string): URL => pathToFileURL(`${resolve(path)}/`)
