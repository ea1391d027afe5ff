import { refuse, type Token } from './lexer.ts'

/** A position in the tokens of a query. Words match case-insensitively. Quoted names are never keywords. */
export type Cursor = Readonly<{
  peek: (ahead?: number) => Token
  take: () => Token
  isWord: (...words: string[]) => boolean
  isSymbol: (...symbols: string[]) => boolean
  takesWord: (...words: string[]) => boolean
  takesSymbol: (symbol: string) => boolean
  needWord: (word: string) => void
  needSymbol: (symbol: string) => void
  /** Takes a name: a quoted name, or a word that is not reserved. */
  name: (what: string) => string
  nested: <T>(parse: () => T) => T
}>

const MAX_DEPTH = 100
const MAX_TOKENS = 20_000
const RESERVED = new Set(
  (
    'SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET WITH UNION INTERSECT EXCEPT JOIN INNER LEFT RIGHT FULL CROSS NATURAL ON USING AS AND OR NOT IN IS NULL LIKE BETWEEN ' +
    'CASE WHEN THEN ELSE END CAST DISTINCT EXISTS TRUE FALSE ESCAPE OUTER VALUES UNNEST'
  ).split(' '),
)

export const isReserved = (word: string): boolean => RESERVED.has(word.toUpperCase())

export const cursorOf = (tokens: readonly Token[]): Cursor => {
  let position = 0
  let depth = 0
  if (tokens.length > MAX_TOKENS)
    throw refuse({ line: 1, column: 1 }, `the query has more than ${MAX_TOKENS} words and symbols.`)
  const last = tokens.at(-1) as Token
  const peek = (ahead = 0): Token => tokens[position + ahead] ?? last
  const take = (): Token => {
    const token = peek()
    position += 1
    return token
  }
  const isWord = (...words: string[]): boolean =>
    words.every((word, ahead) => peek(ahead).kind === 'word' && peek(ahead).text.toUpperCase() === word)
  const isSymbol = (...symbols: string[]): boolean => peek().kind === 'symbol' && symbols.includes(peek().text)
  const takesWord = (...words: string[]): boolean => {
    const found = isWord(...words)
    if (found) position += words.length
    return found
  }
  const takesSymbol = (symbol: string): boolean => {
    const found = isSymbol(symbol)
    if (found) position += 1
    return found
  }
  const expected = (what: string) => refuse(peek().at, `expected ${what} instead of '${peek().text}'.`)

  return {
    peek,
    take,
    isWord,
    isSymbol,
    takesWord,
    takesSymbol,
    needWord: (word) => {
      if (!takesWord(word)) throw expected(word)
    },
    needSymbol: (symbol) => {
      if (!takesSymbol(symbol)) throw expected(`'${symbol}'`)
    },
    name: (what) => {
      const token = peek()
      if (token.kind !== 'quoted' && (token.kind !== 'word' || isReserved(token.text))) throw expected(what)
      return take().text
    },
    nested: (parse) => {
      depth += 1
      if (depth > MAX_DEPTH) throw refuse(peek().at, `the query is nested deeper than ${MAX_DEPTH}.`)
      const result = parse()
      depth -= 1
      return result
    },
  }
}
