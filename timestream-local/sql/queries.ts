import { cursorOf, isReserved, type Cursor } from './cursor.ts'
import { expression, sorts } from './expressions.ts'
import { refuse, tokensOf } from './lexer.ts'
import type { Expression, Query, Relation, SelectItem } from './tree.ts'

export const parsed = (sql: string): Query => {
  const cursor = cursorOf(tokensOf(sql))
  if (!cursor.isWord('SELECT') && !cursor.isWord('WITH'))
    throw refuse(
      cursor.peek().at,
      `only SELECT is supported, with an optional WITH before it, instead of '${cursor.peek().text}'.`,
    )
  const query = queried(cursor)
  cursor.takesSymbol(';')
  if (cursor.peek().kind !== 'end') throw refuse(cursor.peek().at, `'${cursor.peek().text}' is not supported here.`)
  return query
}

const queried = (cursor: Cursor): Query =>
  cursor.nested(() => {
    const ctes = cursor.takesWord('WITH') ? commons(cursor) : []
    cursor.needWord('SELECT')
    const distinct = cursor.takesWord('DISTINCT')
    const items: SelectItem[] = []
    do items.push(item(cursor))
    while (cursor.takesSymbol(','))
    const from = cursor.takesWord('FROM') ? relations(cursor) : undefined
    const where = cursor.takesWord('WHERE') ? expression(cursor) : undefined
    const groupBy = cursor.takesWord('GROUP', 'BY') ? groups(cursor) : []
    const having = cursor.takesWord('HAVING') ? expression(cursor) : undefined
    const orderBy = sorts(cursor)
    const limit = cursor.takesWord('LIMIT') ? limited(cursor) : undefined
    return {
      ctes,
      distinct,
      items,
      ...(from && { from }),
      ...(where && { where }),
      groupBy,
      ...(having && { having }),
      orderBy,
      ...(limit !== undefined && { limit }),
    }
  })

const commons = (cursor: Cursor): Query['ctes'] => {
  const found: Query['ctes'][number][] = []
  do {
    const { at } = cursor.peek()
    const name = cursor.name('the name of a query')
    const columns = cursor.takesSymbol('(') ? names(cursor) : undefined
    cursor.needWord('AS')
    cursor.needSymbol('(')
    const query = queried(cursor)
    cursor.needSymbol(')')
    found.push({ at, name, ...(columns && { columns }), query })
  } while (cursor.takesSymbol(','))
  return found
}

const names = (cursor: Cursor): string[] => {
  const found: string[] = []
  do found.push(cursor.name('a column'))
  while (cursor.takesSymbol(','))
  cursor.needSymbol(')')
  return found
}

const alias = (cursor: Cursor): string | undefined => {
  if (cursor.takesWord('AS')) return cursor.name('a name')
  const { kind, text } = cursor.peek()
  return kind === 'quoted' || (kind === 'word' && !isReserved(text)) ? cursor.take().text : undefined
}

const item = (cursor: Cursor): SelectItem => {
  const { at } = cursor.peek()
  if (cursor.takesSymbol('*')) return { kind: 'star', at }
  if (cursor.peek(1).text === '.' && cursor.peek(2).text === '*' && cursor.peek(2).kind === 'symbol') {
    const relation = cursor.name('a relation')
    cursor.take()
    cursor.take()
    return { kind: 'star', at, relation }
  }
  const value = expression(cursor)
  const name = alias(cursor)
  return { kind: 'value', value, ...(name !== undefined && { alias: name }) }
}

const groups = (cursor: Cursor): Expression[] => {
  const found: Expression[] = []
  do found.push(expression(cursor))
  while (cursor.takesSymbol(','))
  return found
}

const limited = (cursor: Cursor): number => {
  const { kind, text, at } = cursor.take()
  if (kind !== 'number' || !/^\d{1,9}$/.test(text)) throw refuse(at, `LIMIT takes a whole number, not '${text}'.`)
  return Number(text)
}

const relations = (cursor: Cursor): Relation => {
  let left = relation(cursor)
  for (;;) {
    const { at } = cursor.peek()
    if (cursor.takesSymbol(',') || cursor.takesWord('CROSS', 'JOIN')) {
      left = { kind: 'join', at, how: 'CROSS', left, right: relation(cursor) }
    } else if (cursor.isWord('JOIN') || cursor.isWord('INNER', 'JOIN') || cursor.isWord('LEFT')) {
      const how = cursor.takesWord('LEFT') ? 'LEFT' : 'INNER'
      cursor.takesWord(how === 'LEFT' ? 'OUTER' : 'INNER')
      cursor.needWord('JOIN')
      const right = relation(cursor)
      cursor.needWord('ON')
      left = { kind: 'join', at, how, left, right, on: expression(cursor) }
    } else return left
  }
}

const relation = (cursor: Cursor): Relation => {
  const { at } = cursor.peek()
  if (cursor.takesSymbol('(')) {
    const query = queried(cursor)
    cursor.needSymbol(')')
    const name = alias(cursor)
    return { kind: 'query', query, ...(name !== undefined && { alias: name }) }
  }
  const first = cursor.name('a table')
  const table = cursor.takesSymbol('.') ? cursor.name('a table') : undefined
  const name = alias(cursor)
  const called = name === undefined ? {} : { alias: name }
  return table === undefined
    ? { kind: 'named', at, name: first, ...called }
    : { kind: 'table', at, database: first, table, ...called }
}
