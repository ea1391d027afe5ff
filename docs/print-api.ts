import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

const root = join(import.meta.dirname, '..')

const INTRO = `# The public API

<!-- \`npm run pages\` writes this page from api/*.ts and the declarations that they export. Change the comments there. -->

A domain in a package of its own imports these names. It cannot import anything else from \`tributary\`. [The tutorial](tutorial.md) uses the
most important ones, and [a domain, file by file](domain-file-by-file.md) shows where each belongs. A change to this page is a change for every
such package: describe it in [CHANGELOG.md](../CHANGELOG.md). The last chapter shows the types that only their declarations name.
`

/** Returns the type declarations of a file. The compiler reads only this file for them, so every export must state its type. */
const declarationsOf = (file: string): ts.SourceFile => {
  const { outputText } = ts.transpileDeclaration(readFileSync(file, 'utf8'), { fileName: file })
  return ts.createSourceFile(file, outputText, ts.ScriptTarget.ESNext, true)
}

interface Exported {
  readonly name: string
  /** The file that declares the name. */
  readonly file: string
}

/** A part of a chapter. Without a title, it has no heading. */
interface Group {
  readonly title?: string
  readonly names: Exported[]
}

interface Chapter {
  readonly title: string
  readonly groups: readonly Group[]
}

/** Returns the exports of an entry point, in groups. A line comment before the first export of a group is the title of the group. */
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

/** Reads the declarations of each file once. */
const createFiles = (): ((file: string) => ts.SourceFile) => {
  const files = new Map<string, ts.SourceFile>()
  return (file) => {
    const source = files.get(file) ?? declarationsOf(file)
    files.set(file, source)
    return source
  }
}

type Files = ReturnType<typeof createFiles>

const declarationOf = ({ name, file }: Exported, files: Files): ts.Statement | undefined =>
  files(file).statements.find((each) => nameOf(each) === name)

/** Returns what a file imports from other files of this repository, by the name that the file uses. */
const importsOf = (file: string, files: Files): ReadonlyMap<string, Exported> => {
  const found = new Map<string, Exported>()
  for (const statement of files(file).statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue
    const { text: path } = statement.moduleSpecifier
    const bindings = statement.importClause?.namedBindings
    if (!path.startsWith('.') || bindings === undefined || !ts.isNamedImports(bindings)) continue
    for (const { name, propertyName } of bindings.elements)
      found.set(name.text, { name: (propertyName ?? name).text, file: join(dirname(file), path) })
  }
  return found
}

/** Returns the name to which a node refers: a type, the value after `typeof`, or a base class or interface. Undefined for other nodes. */
const referenceOf = (node: ts.Node): ts.Node | undefined => {
  if (ts.isTypeReferenceNode(node)) return node.typeName
  if (ts.isTypeQueryNode(node)) return node.exprName
  return ts.isExpressionWithTypeArguments(node) || ts.isComputedPropertyName(node) ? node.expression : undefined
}

/** Returns the declarations of this repository to which a declaration refers. */
const namedBy = (exported: Exported, files: Files): readonly Exported[] => {
  const names = new Set<string>()
  const visit = (node: ts.Node): void => {
    const name = referenceOf(node)
    if (name !== undefined && ts.isIdentifier(name)) names.add(name.text)
    ts.forEachChild(node, visit)
  }
  const declaration = declarationOf(exported, files)
  if (declaration !== undefined) visit(declaration)
  const imports = importsOf(exported.file, files)
  return [...names].flatMap((name) => {
    const local = { name, file: exported.file }
    return imports.get(name) ?? (declarationOf(local, files) === undefined ? [] : local)
  })
}

const keyOf = ({ name, file }: Exported): string => `${name} ${file}`

/** Returns the declarations to which `exported` refers, directly or through other declarations. The result does not contain `exported` itself. */
const usedBy = (exported: readonly Exported[], files: Files): readonly Exported[] => {
  const found = new Map(exported.map((each) => [keyOf(each), each]))
  // The loop also visits the declarations that it adds to `found`.
  for (const each of found.values())
    for (const named of namedBy(each, files)) if (!found.has(keyOf(named))) found.set(keyOf(named), named)
  for (const each of exported) found.delete(keyOf(each))
  return [...found.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/** Returns the section of the page for a declaration, with its comment. */
const section = (exported: Exported, files: Files): string => {
  const statement = declarationOf(exported, files)
  if (statement === undefined) throw new Error(`${exported.file} declares no ${exported.name}.`)
  const about = ts.getTextOfJSDocComment(ts.getJSDocCommentsAndTags(statement).at(0)?.comment)
  const code = statement
    .getText()
    .replace(/^(export )?(declare )?/, '')
    .replace(/^( {4})+/gm, (indent) => indent.slice(indent.length / 2))
  return [`#### ${exported.name}`, '', ...(about === undefined ? [] : [about, '']), '```ts', code, '```', ''].join('\n')
}

/** Throws if a declaration that can be imported has no comment. */
const requireComments = (exported: readonly Exported[], files: Files): void => {
  for (const each of exported) {
    const declaration = declarationOf(each, files)
    if (declaration !== undefined && ts.getJSDocCommentsAndTags(declaration).length === 0)
      throw new Error(`${each.name} in ${each.file} needs a comment: docs/api.md prints it.`)
  }
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

const printChapter = (
  { title, groups }: Chapter,
  { files, anchorOf }: { readonly files: Files; readonly anchorOf: (heading: string) => string },
): readonly string[] => {
  anchorOf(title)
  const linked = groups.map((group) => {
    if (group.title !== undefined) anchorOf(group.title)
    return { ...group, links: group.names.map(({ name }) => `[\`${name}\`](#${anchorOf(name)})`).join(', ') }
  })
  return [
    `## ${title}`,
    '',
    ...linked.map((group) => `${group.title === undefined ? '' : `- ${group.title}: `}${group.links}`),
    '',
    ...linked.flatMap((group) => [
      ...(group.title === undefined ? [] : [`### ${group.title}`, '']),
      ...group.names.map((each) => section(each, files)),
    ]),
  ]
}

/** Returns the page that lists all exports of `tributary/domain` and `tributary/testing`, and the types to which these exports refer. */
export const apiPage = (): string => {
  const [files, anchorOf] = [createFiles(), createAnchors()]
  const modules = ['domain', 'testing'].map((module) => ({
    title: `tributary/${module}`,
    groups: groupsOf(join(root, 'api', `${module}.ts`)),
  }))
  const exported = modules.flatMap(({ groups }) => groups.flatMap(({ names }) => names))
  requireComments(exported, files)
  const used = { title: 'Types that these use', groups: [{ names: [...usedBy(exported, files)] }] }
  return [INTRO, ...[...modules, used].flatMap((chapter) => printChapter(chapter, { files, anchorOf }))].join('\n')
}
