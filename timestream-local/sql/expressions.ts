import { isReserved, type Cursor } from './cursor.ts'
import { refuse, type At } from './lexer.ts'
import { literal } from './literals.ts'
import type { Call, Expression, Frame, Sort, Window } from './tree.ts'

const MAX_CHAIN = 500

/** Parses operators of one precedence level from left to right. Their number has a limit, because each one makes the tree a level deeper. */
const chain = (cursor: Cursor, next: (cursor: Cursor) => Expression, isOperator: () => boolean): Expression => {
  let left = next(cursor)
  for (let links = 0; isOperator(); links += 1) {
    const { text, at } = cursor.take()
    if (links === MAX_CHAIN) throw refuse(at, `more than ${MAX_CHAIN} operators in a row are not supported here.`)
    left = { kind: 'binary', at, operator: text.toUpperCase(), left, right: next(cursor) }
  }
  return left
}

/** Parses an expression. The precedence levels, lowest first: OR, AND, NOT, comparison, addition, multiplication, sign, primary. */
export const expression = (cursor: Cursor): Expression =>
  cursor.nested(() => chain(cursor, conjunction, () => cursor.isWord('OR')))
const conjunction = (cursor: Cursor): Expression => chain(cursor, negation, () => cursor.isWord('AND'))
const sum = (cursor: Cursor): Expression => chain(cursor, product, () => cursor.isSymbol('+', '-', '||'))
const product = (cursor: Cursor): Expression => chain(cursor, signed, () => cursor.isSymbol('*', '/', '%'))

const negation = (cursor: Cursor): Expression =>
  cursor.isWord('NOT')
    ? cursor.nested(() => ({ kind: 'not', at: cursor.take().at, value: negation(cursor) }))
    : comparison(cursor)

const comparison = (cursor: Cursor): Expression => {
  const value = sum(cursor)
  if (cursor.isSymbol('=', '<>', '!=', '<', '<=', '>', '>=')) {
    const { text, at } = cursor.take()
    return { kind: 'binary', at, operator: text === '!=' ? '<>' : text, left: value, right: sum(cursor) }
  }
  const { at } = cursor.peek()
  if (cursor.takesWord('IS')) {
    const not = cursor.takesWord('NOT')
    cursor.needWord('NULL')
    return { kind: 'isNull', at, value, not }
  }
  const not = cursor.takesWord('NOT')
  if (cursor.takesWord('BETWEEN')) {
    const low = sum(cursor)
    cursor.needWord('AND')
    return { kind: 'between', at, value, low, high: sum(cursor), not }
  }
  if (cursor.takesWord('IN')) {
    cursor.needSymbol('(')
    if (cursor.isWord('SELECT') || cursor.isWord('WITH'))
      throw refuse(cursor.peek().at, 'a subquery is supported in FROM only.')
    return { kind: 'in', at, value, list: list(cursor, ')'), not }
  }
  if (cursor.takesWord('LIKE')) {
    const pattern = sum(cursor)
    return { kind: 'like', at, value, pattern, ...(cursor.takesWord('ESCAPE') && { escape: sum(cursor) }), not }
  }
  if (not) throw refuse(cursor.peek().at, `expected BETWEEN, IN or LIKE instead of '${cursor.peek().text}'.`)
  return value
}

const signed = (cursor: Cursor): Expression => {
  if (cursor.isSymbol('-'))
    return cursor.nested(() => ({ kind: 'negate', at: cursor.take().at, value: signed(cursor) }))
  if (cursor.takesSymbol('+')) return cursor.nested(() => signed(cursor))
  return primary(cursor)
}

const primary = (cursor: Cursor): Expression => {
  const { kind, text, at } = cursor.peek()
  const value = literal(cursor)
  if (value !== undefined) return value
  if (cursor.takesSymbol('(')) {
    if (cursor.isWord('SELECT') || cursor.isWord('WITH'))
      throw refuse(cursor.peek().at, 'a subquery is supported in FROM only.')
    const inner = expression(cursor)
    cursor.needSymbol(')')
    return inner
  }
  if (kind === 'word') {
    const special = keyword(cursor, text.toUpperCase(), at)
    if (special !== undefined) return special
    if (isReserved(text)) throw refuse(at, `expected a value instead of '${text}'.`)
  } else if (kind !== 'quoted') throw refuse(at, `expected a value instead of '${text}'.`)
  return named(cursor, at)
}

const keyword = (cursor: Cursor, word: string, at: At): Expression | undefined => {
  const following = cursor.peek(1)
  switch (word) {
    case 'CURRENT_TIMESTAMP':
      cursor.take()
      return { kind: 'call', at, name: 'now', args: [], star: false, distinct: false, ignoreNulls: false }
    case 'CASE':
      cursor.take()
      return cases(cursor, at)
    case 'CAST':
    case 'TRY_CAST':
      if (following.text !== '(') return undefined
      cursor.take()
      return cast(cursor, at, word === 'TRY_CAST')
    case 'EXTRACT':
      if (following.text !== '(') return undefined
      cursor.take()
      return extract(cursor, at)
    default:
      return undefined
  }
}

const cases = (cursor: Cursor, at: At): Expression => {
  const subject = cursor.isWord('WHEN') ? undefined : expression(cursor)
  const whens: [Expression, Expression][] = []
  while (cursor.takesWord('WHEN')) {
    const when = expression(cursor)
    cursor.needWord('THEN')
    whens.push([when, expression(cursor)])
  }
  const otherwise = cursor.takesWord('ELSE') ? expression(cursor) : undefined
  cursor.needWord('END')
  if (whens.length === 0) throw refuse(at, 'a CASE needs a WHEN.')
  return { kind: 'case', at, ...(subject && { subject }), whens, ...(otherwise && { otherwise }) }
}

const cast = (cursor: Cursor, at: At, isTry: boolean): Expression => {
  cursor.needSymbol('(')
  const value = expression(cursor)
  cursor.needWord('AS')
  const type = cursor.name('a type').toLowerCase()
  cursor.needSymbol(')')
  return { kind: 'cast', at, value, type, isTry }
}

const extract = (cursor: Cursor, at: At): Expression => {
  cursor.needSymbol('(')
  const field = cursor.name('a field of time').toLowerCase()
  cursor.needWord('FROM')
  const value = expression(cursor)
  cursor.needSymbol(')')
  return { kind: 'extract', at, field, value }
}

const list = (cursor: Cursor, end: string): Expression[] => {
  const values: Expression[] = []
  do values.push(expression(cursor))
  while (cursor.takesSymbol(','))
  cursor.needSymbol(end)
  return values
}

const named = (cursor: Cursor, at: At): Expression => {
  const name = cursor.name('a name')
  if (cursor.takesSymbol('(')) return call(cursor, at, name.toLowerCase())
  if (!cursor.takesSymbol('.')) return { kind: 'column', at, name }
  return { kind: 'column', at, relation: name, name: cursor.name('a column') }
}

const call = (cursor: Cursor, at: At, name: string): Call => {
  const star = cursor.takesSymbol('*')
  const distinct = !star && cursor.takesWord('DISTINCT')
  const args = star || cursor.isSymbol(')') ? [] : list(cursor, ')')
  if (args.length === 0) cursor.needSymbol(')')
  const filter = cursor.takesWord('FILTER') ? filtered(cursor) : undefined
  const ignoreNulls = cursor.takesWord('IGNORE', 'NULLS')
  if (!ignoreNulls) cursor.takesWord('RESPECT', 'NULLS')
  const over = cursor.takesWord('OVER') ? window(cursor) : undefined
  return { kind: 'call', at, name, args, star, distinct, ignoreNulls, ...(filter && { filter }), ...(over && { over }) }
}

const filtered = (cursor: Cursor): Expression => {
  cursor.needSymbol('(')
  cursor.needWord('WHERE')
  const condition = expression(cursor)
  cursor.needSymbol(')')
  return condition
}

const window = (cursor: Cursor): Window => {
  cursor.needSymbol('(')
  const partitionBy: Expression[] = []
  if (cursor.takesWord('PARTITION', 'BY')) {
    do partitionBy.push(expression(cursor))
    while (cursor.takesSymbol(','))
  }
  const orderBy = sorts(cursor)
  const unit = cursor.isWord('ROWS') ? 'ROWS' : cursor.isWord('RANGE') ? 'RANGE' : undefined
  const frame = unit === undefined ? undefined : framed(cursor, unit)
  cursor.needSymbol(')')
  return { partitionBy, orderBy, ...(frame && { frame }) }
}

const framed = (cursor: Cursor, unit: Frame['unit']): Frame => {
  cursor.take()
  if (!cursor.takesWord('BETWEEN')) return { unit, from: bound(cursor, unit), to: 'CURRENT ROW' }
  const from = bound(cursor, unit)
  cursor.needWord('AND')
  return { unit, from, to: bound(cursor, unit) }
}

const bound = (cursor: Cursor, unit: Frame['unit']): string => {
  if (cursor.takesWord('CURRENT', 'ROW')) return 'CURRENT ROW'
  const { kind, text, at } = cursor.take()
  const unbounded = kind === 'word' && text.toUpperCase() === 'UNBOUNDED'
  const counted = kind === 'number' && /^\d{1,9}$/.test(text) && unit === 'ROWS'
  const side = cursor.takesWord('PRECEDING') ? 'PRECEDING' : cursor.takesWord('FOLLOWING') ? 'FOLLOWING' : undefined
  if (side === undefined || !(unbounded || counted))
    throw refuse(at, 'a frame begins and ends at UNBOUNDED, CURRENT ROW, or a number of ROWS.')
  return `${unbounded ? 'UNBOUNDED' : text} ${side}`
}

export const sorts = (cursor: Cursor): readonly Sort[] => {
  if (!cursor.takesWord('ORDER', 'BY')) return []
  const found: Sort[] = []
  do {
    const value = expression(cursor)
    const descending = cursor.takesWord('DESC')
    if (!descending) cursor.takesWord('ASC')
    const nullsFirst = cursor.takesWord('NULLS', 'FIRST')
    if (!nullsFirst) cursor.takesWord('NULLS', 'LAST')
    found.push({ value, descending, nullsFirst })
  } while (cursor.takesSymbol(','))
  return found
}
