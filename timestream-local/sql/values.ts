import { aggregated, isAggregate, isWindowFunction } from './aggregates.ts'
import { castTo } from './casts.ts'
import { extracted, isScalar, scalar } from './functions.ts'
import { refuse, type At } from './lexer.ts'
import { childrenOf, type Call, type Expression, type Literal } from './tree.ts'
import {
  columnNamed,
  commonOf,
  commonType,
  compared,
  isA,
  isNumber,
  isWhole,
  printedType,
  printedTypes,
  type Scope,
  type Typed,
} from './typed.ts'
import { sqlText } from '../storage.ts'

type Of<Kind extends Expression['kind']> = Extract<Expression, { kind: Kind }>

/** Translates an expression into DuckDB's SQL. Checks the types of all parts by the rules of the service. */
export const valueOf = (node: Expression, scope: Scope): Typed => {
  switch (node.kind) {
    case 'literal':
      return literal(node)
    case 'column':
      return columnNamed(scope, node.at, node)
    case 'call':
      return called(node, scope)
    case 'negate':
      return negated(node, scope)
    case 'not':
      return { sql: `(NOT ${conditionOf(node.value, scope, 'Value of logical NOT expression')})`, type: 'boolean' }
    case 'binary':
      return binary(node, scope)
    case 'between':
      return between(node, scope)
    case 'in':
      return oneOf(node, scope)
    case 'like':
      return like(node, scope)
    case 'isNull':
      return { sql: `(${valueOf(node.value, scope).sql} IS ${node.not ? 'NOT ' : ''}NULL)`, type: 'boolean' }
    case 'case':
      return cases(node, scope)
    case 'cast':
      return castTo(valueOf(node.value, scope), node)
    case 'extract':
      return extracted(node.at, node.field, valueOf(node.value, scope))
  }
}

export const conditionOf = (node: Expression, scope: Scope, what: string): string => {
  const { sql, type } = valueOf(node, scope)
  if (!isA(type, 'boolean')) throw refuse(node.at, `${what} must evaluate to a boolean (actual: ${printedType(type)})`)
  return sql
}

const literal = (node: Literal): Typed => {
  const { type, value } = node
  if (value === null) return { sql: 'NULL', type, literal: node }
  if (type === 'varchar') return { sql: sqlText(String(value)), type, literal: node }
  // The exponent makes it a DOUBLE for DuckDB. A literal without an exponent would be a DECIMAL, which rounds differently.
  if (type === 'double') return { sql: Number(value).toExponential(), type, literal: node, finite: true }
  return { sql: typeof value === 'bigint' ? `${value}::BIGINT` : String(value).toUpperCase(), type, literal: node }
}

const negated = ({ at, value: inner }: Of<'negate'>, scope: Scope): Typed => {
  const { sql, type } = valueOf(inner, scope)
  if (!isNumber(type) && type !== 'interval') throw refuse(at, `'-' cannot be applied to ${printedType(type)}`)
  return { sql: `(-${sql})`, type }
}

const binary = ({ at, operator, left, right }: Of<'binary'>, scope: Scope): Typed => {
  if (operator === 'AND' || operator === 'OR') {
    const conditions = [
      conditionOf(left, scope, 'Left side of logical expression'),
      conditionOf(right, scope, 'Right side of logical expression'),
    ]
    return { sql: `(${conditions.join(` ${operator} `)})`, type: 'boolean' }
  }
  const [a, b] = [valueOf(left, scope), valueOf(right, scope)]
  const mismatch = () => refuse(at, `'${operator}' cannot be applied to ${printedTypes([a, b])}`)
  if (/[=<>]/.test(operator)) {
    if (commonType(a.type, b.type) === undefined) throw mismatch()
    return { sql: compared(operator, a, b), type: 'boolean' }
  }
  if (operator === '||') {
    if (!isA(a.type, 'varchar') || !isA(b.type, 'varchar')) throw mismatch()
    return { sql: `(${a.sql} || ${b.sql})`, type: 'varchar' }
  }
  const result = isNumber(a.type) && isNumber(b.type) ? numeric(operator, a, b) : temporal(operator, a, b)
  if (result === undefined) throw mismatch()
  return result
}

const numeric = (operator: string, left: Typed, right: Typed): Typed | undefined => {
  const type = commonType(left.type, right.type)
  if (type === undefined) return undefined
  if (operator !== '/' && operator !== '%') return { sql: `(${left.sql} ${operator} ${right.sql})`, type }
  if (!isWhole(type)) return { sql: `(${left.sql} ${operator} ${right.sql})`, type }
  // In the service, the quotient of whole numbers is a whole number, and a division by zero is an error. DuckDB itself would return NULL.
  return {
    sql: `(CASE WHEN ${right.sql} = 0 THEN error('Division by zero') ELSE ${left.sql} ${operator === '/' ? '//' : '%'} ${right.sql} END)`,
    type,
  }
}

const temporal = (operator: string, left: Typed, right: Typed): Typed | undefined => {
  const sql = `(${left.sql} ${operator === '/' ? '//' : operator} ${right.sql})`
  const kinds = `${left.type} ${operator} ${right.type}`
  if (/^(timestamp [+-] interval|interval \+ timestamp)$/.test(kinds)) return { sql, type: 'timestamp' }
  if (/^(interval [+-] interval|interval \* (integer|bigint)|(integer|bigint) \* interval)$/.test(kinds))
    return { sql, type: 'interval' }
  return undefined
}

const between = ({ at, value, low, high, not }: Of<'between'>, scope: Scope): Typed => {
  const [of, from, to] = [valueOf(value, scope), valueOf(low, scope), valueOf(high, scope)]
  if (commonType(of.type, from.type) === undefined || commonType(of.type, to.type) === undefined) {
    throw refuse(
      at,
      `Cannot check if ${printedType(of.type)} is BETWEEN ${printedType(from.type)} and ${printedType(to.type)}`,
    )
  }
  return { sql: `(${not ? 'NOT ' : ''}(${compared('>=', of, from)} AND ${compared('<=', of, to)}))`, type: 'boolean' }
}

const oneOf = ({ at, value, list, not }: Of<'in'>, scope: Scope): Typed => {
  const [of, ...values] = [value, ...list].map((node) => valueOf(node, scope)) as [Typed, ...Typed[]]
  commonOf(at, 'IN value and list items', [of, ...values])
  return { sql: `(${of.sql} ${not ? 'NOT ' : ''}IN (${values.map(({ sql }) => sql).join(', ')}))`, type: 'boolean' }
}

const like = ({ at, value, pattern, escape, not }: Of<'like'>, scope: Scope): Typed => {
  const [of, by] = [valueOf(value, scope), valueOf(pattern, scope)]
  if (!isA(of.type, 'varchar') || !isA(by.type, 'varchar'))
    throw refuse(at, `LIKE cannot be applied to ${printedTypes([of, by])}`)
  if (
    escape !== undefined &&
    (escape.kind !== 'literal' || typeof escape.value !== 'string' || escape.value.length !== 1)
  )
    throw refuse(escape.at, 'ESCAPE takes one character.')
  const escaped = escape === undefined ? '' : ` ESCAPE ${valueOf(escape, scope).sql}`
  return { sql: `(${of.sql} ${not ? 'NOT ' : ''}LIKE ${by.sql}${escaped})`, type: 'boolean' }
}

const cases = ({ at, subject, whens, otherwise }: Of<'case'>, scope: Scope): Typed => {
  const of = subject && valueOf(subject, scope)
  const conditions = whens.map(([when]) => {
    if (of === undefined) return conditionOf(when, scope, 'CASE WHEN clause')
    const value = valueOf(when, scope)
    commonOf(when.at, 'CASE operand and its values', [of, value])
    return value.sql
  })
  const values = whens.map(([, then]) => valueOf(then, scope))
  const last = otherwise && valueOf(otherwise, scope)
  const type = commonOf(at, 'All CASE results', last ? [...values, last] : values)
  const arms = conditions.map((condition, index) => ` WHEN ${condition} THEN ${values[index]?.sql ?? 'NULL'}`).join('')
  return { sql: `(CASE ${of?.sql ?? ''}${arms}${last ? ` ELSE ${last.sql}` : ''} END)`, type }
}

const called = (node: Call, scope: Scope): Typed => {
  const { at, name, over } = node
  const args = node.args.map((argument) => valueOf(argument, scope))
  if (isAggregate(name) || isWindowFunction(name)) {
    if (over === undefined && node.args.some(hasAggregate))
      throw refuse(at, `Cannot nest aggregations inside aggregation '${name}'`)
    const window = over === undefined ? undefined : windowOf(node, scope)
    const filter = node.filter && conditionOf(node.filter, scope, 'FILTER')
    return aggregated(node, args, { ...(window !== undefined && { window }), ...(filter !== undefined && { filter }) })
  }
  if (!isScalar(name)) throw refuse(at, `Function ${name} not registered: timestream-local does not have it.`)
  if (over !== undefined || node.filter !== undefined || node.distinct || node.star || node.ignoreNulls)
    throw refuse(at, `${name} takes no *, DISTINCT, FILTER, IGNORE NULLS or OVER.`)
  return scalar({ at, name, args, nowNs: scope.nowNs })
}

const windowOf = ({ over }: Call, scope: Scope): string => {
  const partition = (over?.partitionBy ?? []).map((value) => valueOf(value, scope).sql)
  const order = (over?.orderBy ?? []).map((sort) => sorted(valueOf(sort.value, scope).sql, sort))
  const frame = over?.frame && `${over.frame.unit} BETWEEN ${over.frame.from} AND ${over.frame.to}`
  return [
    partition.length > 0 ? `PARTITION BY ${partition.join(', ')}` : '',
    order.length > 0 ? `ORDER BY ${order.join(', ')}` : '',
    frame ?? '',
  ]
    .filter((part) => part !== '')
    .join(' ')
}

/** The ORDER BY term. By default, the service sorts nulls last in both directions. */
export const sorted = (sql: string, { descending, nullsFirst }: { descending: boolean; nullsFirst: boolean }): string =>
  `${sql} ${descending ? 'DESC' : 'ASC'} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`

export const hasAggregate = (node: Expression): boolean =>
  (node.kind === 'call' && node.over === undefined && isAggregate(node.name)) || childrenOf(node).some(hasAggregate)

const hasWindow = (node: Expression): boolean =>
  (node.kind === 'call' && node.over !== undefined) || childrenOf(node).some(hasWindow)

export const refuseAggregates = (node: Expression, what: string, at: At = node.at): void => {
  if (hasAggregate(node) || hasWindow(node))
    throw refuse(at, `${what} clause cannot contain aggregations or window functions`)
}
