/** Reads Avro IDL (.avdl) with `avsc`, and names the file and the line of a mistake. */
import avro from 'avsc'
import type { NamedSchema } from './avro.ts'
import { Fault, messageOf } from './fault.ts'

/** The records and enums that the text of an IDL file declares, in the order of the text, each with its namespace. Fault: `bad-schema`. */
export const readIdl = (text: string, path: string): readonly NamedSchema[] => {
  const code = withoutComments(text)
  const fail = (position: number, reason: string, cause?: unknown): never => {
    const line = code.slice(0, position + code.slice(position).search(/\S|$/)).split('\n').length
    throw new Fault('bad-schema', `schemas/${path}:${line}: ${reason}.`, { cause })
  }
  const bare = code.search(BARE_ANNOTATION)
  if (bare >= 0) fail(bare, 'an annotation needs a value in parentheses, such as @namespace("tributary.plants")')
  const read = <T>(start: number, parse: () => T): T => {
    try {
      return parse()
    } catch (cause) {
      const { token } = cause as SyntaxFault
      const reason = messageOf(cause)
        .replace(/^invalid token .*: /, '')
        .replace(/ (?:ID|value) /, ' ')
      if (token === undefined) return fail(start, reason, cause)
      return fail(
        start + token.pos,
        `${reason}, but found ${token.val === undefined ? 'no more text' : JSON.stringify(token.val)}`,
        cause,
      )
    }
  }
  const [head = code.length, ...ends] = declarationEnds(code)
  const { namespace } = read(0, () => avro.readProtocol(`${text.slice(0, head)}}`) as { readonly namespace?: string })
  const types = ends.map((end, index) => {
    const start = ends[index - 1] ?? head
    const type: unknown = read(start, () => avro.readSchema(text.slice(start, end)))
    return isNamed(type)
      ? { ...(namespace !== undefined && { namespace }), ...type }
      : fail(start, 'only a record or an enum with a name can be declared')
  })
  const rest = ends.at(-1) ?? head
  if (code.slice(rest).trim() !== '}') fail(rest, 'expected a record, an enum, or a } that ends the file')
  return types
}

/** An annotation without a parenthesis. It is searched before parsing, because the parser of `avsc` would never return. */
const BARE_ANNOTATION = /@[\w.-]*(?![\w.-]|\s*\()/

/** The properties of an error of the parser. `pos` is where the previous token ends. */
interface SyntaxFault {
  readonly token?: { readonly pos: number; readonly val?: unknown }
}

const isNamed = (type: unknown): type is NamedSchema => {
  const { type: kind, name } = type as Partial<NamedSchema>
  return (kind === 'record' || kind === 'enum') && name !== undefined
}

/** Replaces comments and the content of strings by spaces: positions and lines stay. */
const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\])*"/g, (part) => part.replace(/[^\n"]/g, ' '))

/**
 * The offsets in the text at which the opening brace of the protocol and each declaration end. With them, `avsc` reads one declaration at a time,
 * because its time grows with the square of the length of the text.
 */
const declarationEnds = (code: string): readonly number[] => {
  const ends: number[] = []
  let depth = 0
  for (const { 0: match, index } of code.matchAll(/\{|\}(?:\s*=\s*\w+\s*;)?/g)) {
    depth += match === '{' ? 1 : -1
    if (depth === 1) ends.push(index + match.length)
  }
  return ends
}
