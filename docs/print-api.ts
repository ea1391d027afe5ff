import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

const root = join(import.meta.dirname, '..')

const INTRO = `# The public API

<!-- \`npm run pages\` writes this page from api/*.ts and the declarations that they export. Change the comments there. -->

A domain in a package of its own imports these names. It cannot import anything else from \`tributary\`. [The tutorial](tutorial.md) uses the
most important ones, and [a domain, file by file](domain-file-by-file.md) shows where each belongs. A change to this page is a change for every
such package: describe it in [CHANGELOG.md](../CHANGELOG.md).
`

/** The declarations of a file, as the compiler writes them for a package. The compiler reads no other file, so every export must state its type. */
const declarationsOf = (file: string): ts.SourceFile => {
  const { outputText } = ts.transpileDeclaration(readFileSync(file, 'utf8'), { fileName: file })
  return ts.createSourceFile(file, outputText, ts.ScriptTarget.ESNext, true)
}

interface Exported {
  readonly name: string
  /** The file that declares the name. */
  readonly file: string
}

interface Group {
  readonly title: string
  readonly names: Exported[]
}

/** The exports of an entry point, in groups. A line comment before the first export of a group is its title. */
const groupsOf = (file: string): readonly Group[] => {
  const text = readFileSync(file, 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true)
  const groups: Group[] = [{ title: 'The record', names: [] }]
  for (const statement of source.statements) {
    if (!ts.isExportDeclaration(statement) || !statement.exportClause || !ts.isNamedExports(statement.exportClause))
      continue
    const comments = ts.getLeadingCommentRanges(text, statement.getFullStart()) ?? []
    const title = comments.map(({ pos, end }) => text.slice(pos, end)).find((each) => each.startsWith('// '))
    if (title !== undefined) groups.push({ title: title.slice('// '.length), names: [] })
    const module = (statement.moduleSpecifier as ts.StringLiteral).text
    for (const { name } of statement.exportClause.elements)
      groups.at(-1)?.names.push({ name: name.text, file: join(dirname(file), module) })
  }
  return groups.filter(({ names }) => names.length > 0)
}

const nameOf = (statement: ts.Statement): string | undefined => {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations[0]?.name.getText()
  const named = statement as ts.Statement & { readonly name?: ts.Identifier }
  return named.name?.text
}

/** Formats a declaration with its comment as a section of the page. Throws if the declaration has no comment. */
const section = ({ name, file }: Exported, declarations: ts.SourceFile | undefined): string => {
  const statement = declarations?.statements.find((each) => nameOf(each) === name)
  if (statement === undefined) throw new Error(`${file} declares no ${name}.`)
  const about = ts.getTextOfJSDocComment(ts.getJSDocCommentsAndTags(statement).at(0)?.comment)
  if (about === undefined) throw new Error(`${name} in ${file} needs a comment: docs/api.md prints it.`)
  const code = statement
    .getText()
    .replace(/^export (declare )?/, '')
    .replace(/^( {4})+/gm, (indent) => indent.slice(indent.length / 2))
  return [`#### ${name}`, '', about, '', '```ts', code, '```', ''].join('\n')
}

/** Returns a function that returns the anchor of a heading. If an earlier heading has the same anchor, a number is added: `event-1`. */
const createAnchors = (): ((heading: string) => string) => {
  const uses = new Map<string, number>()
  return (heading) => {
    const plain = heading
      .toLowerCase()
      .replaceAll(' ', '-')
      .replace(/[^\w-]/g, '')
    const before = uses.get(plain) ?? 0
    uses.set(plain, before + 1)
    return before === 0 ? plain : `${plain}-${before}`
  }
}

const page = (module: string, anchorOf: (heading: string) => string): readonly string[] => {
  const groups = groupsOf(join(root, 'api', `${module}.ts`)).map((group) => {
    anchorOf(group.title)
    return { ...group, names: group.names.map((each) => ({ ...each, anchor: anchorOf(each.name) })) }
  })
  const files = new Set(groups.flatMap(({ names }) => names.map(({ file }) => file)))
  const declarations = new Map([...files].map((file) => [file, declarationsOf(file)]))
  return [
    `## tributary/${module}`,
    '',
    ...groups.map(
      ({ title, names }) =>
        `- ${title}: ${names.map(({ name }) => `[\`${name}\`](#${name.toLowerCase()})`).join(', ')}`,
    ),
    '',
    ...groups.flatMap(({ title, names }) => [
      `## ${title}`,
      '',
      ...names.map((each) => section(each, declarations.get(each.file))),
    ]),
  ]
}

/** The page docs/api.md: everything that a package can import from `tributary/domain` and `tributary/testing`. */
export const apiPage = (): string => {
  const anchorOf = createAnchors()
  return [INTRO, ...['domain', 'testing'].flatMap((module) => page(module, anchorOf))].join('\n')
}
