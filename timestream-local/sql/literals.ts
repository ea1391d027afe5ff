import type { Cursor } from './cursor.ts'
import { refuse, type At } from './lexer.ts'
import { nanosecondsOf, parsedTimestamp } from './time.ts'
import type { Literal } from './tree.ts'

const MAX_INTEGER = 2n ** 31n
const MAX_BIGINT = 2n ** 63n

const number = (text: string, at: At): Literal => {
  if (!/^\d+$/.test(text)) return { kind: 'literal', at, type: 'double', value: Number(text) }
  const value = BigInt(text)
  if (value >= MAX_BIGINT) throw refuse(at, `${text} does not fit into a bigint.`)
  return value < MAX_INTEGER
    ? { kind: 'literal', at, type: 'integer', value: Number(value) }
    : { kind: 'literal', at, type: 'bigint', value }
}

const interval = (cursor: Cursor, at: At): Literal => {
  const amount = cursor.take().text
  const unit = cursor.name('a unit of time').toLowerCase()
  if (!/^\d{1,9}$/.test(amount)) throw refuse(at, `INTERVAL '${amount}' is not a whole number of ${unit}s.`)
  return { kind: 'literal', at, type: 'interval', value: nanosecondsOf(`${amount}${unit}`, at) }
}

/** Parses a literal. Undefined if the cursor is not at a literal. */
export const literal = (cursor: Cursor): Literal | undefined => {
  const { kind, text, at } = cursor.peek()
  switch (kind) {
    case 'number':
      return number(cursor.take().text, at)
    case 'string':
      return { kind: 'literal', at, type: 'varchar', value: cursor.take().text }
    case 'duration':
      return { kind: 'literal', at, type: 'interval', value: nanosecondsOf(cursor.take().text, at) }
    case 'word':
      return named(cursor, text.toUpperCase(), at)
    default:
      return undefined
  }
}

const named = (cursor: Cursor, word: string, at: At): Literal | undefined => {
  if (cursor.takesWord('NULL')) return { kind: 'literal', at, type: 'unknown', value: null }
  if (cursor.takesWord('TRUE') || cursor.takesWord('FALSE'))
    return { kind: 'literal', at, type: 'boolean', value: word === 'TRUE' }
  if (cursor.peek(1).kind !== 'string') return undefined
  if (cursor.takesWord('TIMESTAMP'))
    return { kind: 'literal', at, type: 'timestamp', value: parsedTimestamp(cursor.take().text, at) }
  if (cursor.takesWord('INTERVAL')) return interval(cursor, at)
  if (word === 'DATE' || word === 'TIME') throw refuse(at, `${word} '…' is not supported here: write TIMESTAMP '…'.`)
  return undefined
}
