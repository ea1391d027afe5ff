import { invalid, type ServiceError } from '../service-error.ts'

/** A position in the query, for error messages. Lines and columns begin with 1, as in the service. */
export type At = Readonly<{ line: number; column: number }>
export type Token = Readonly<{
  kind: 'word' | 'quoted' | 'string' | 'number' | 'duration' | 'symbol' | 'end'
  text: string
  at: At
}>

export const refuse = (at: At, message: string): ServiceError => invalid(`line ${at.line}:${at.column}: ${message}`)

const RULES: readonly (readonly [Token['kind'] | 'skip', RegExp])[] = [
  ['skip', /\s+|--[^\n]*|\/\*[\s\S]*?\*\//y],
  ['string', /'(?:[^']|'')*'/y],
  ['quoted', /"(?:[^"]|"")+"/y],
  ['duration', /\d+(?:nanosecond|microsecond|millisecond|second|minute|hour|day|ns|us|ms|s|m|h|d)(?![A-Za-z0-9_])/iy],
  ['number', /(?:\d+\.\d*|\.\d+|\d+)(?:e[+-]?\d+)?(?![A-Za-z0-9_])/iy],
  ['word', /measure_value\s*::\s*[A-Za-z]+|[A-Za-z_][A-Za-z0-9_]*/iy],
  ['symbol', /<>|!=|<=|>=|\|\||[-+*/%=<>(),.;]/y],
]

const plain = (kind: Token['kind'], text: string): string => {
  if (kind === 'string') return text.slice(1, -1).replaceAll("''", "'")
  if (kind === 'quoted') return text.slice(1, -1).replaceAll('""', '"')
  return text.includes('::') ? text.replace(/\s/g, '').toLowerCase() : text
}

const next = (sql: string, from: number): { kind: Token['kind'] | 'skip'; text: string } | undefined => {
  for (const [kind, rule] of RULES) {
    rule.lastIndex = from
    const text = rule.exec(sql)?.[0]
    if (text !== undefined) return { kind, text }
  }
  return undefined
}

export const tokensOf = (sql: string): readonly Token[] => {
  const tokens: Token[] = []
  let [line, lineStart, from] = [1, 0, 0]
  while (from < sql.length) {
    const at = { line, column: from - lineStart + 1 }
    const found = next(sql, from)
    if (found === undefined) throw refuse(at, `'${sql.slice(from, from + 12).split(/\s/)[0]}' cannot be read as SQL.`)
    if (found.kind !== 'skip') tokens.push({ kind: found.kind, text: plain(found.kind, found.text), at })
    from += found.text.length
    const breaks = found.text.split('\n').length - 1
    if (breaks > 0) [line, lineStart] = [line + breaks, from - (found.text.length - found.text.lastIndexOf('\n') - 1)]
  }
  return [...tokens, { kind: 'end', text: 'the end of the query', at: { line, column: from - lineStart + 1 } }]
}
