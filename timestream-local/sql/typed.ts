import { refuse, type At } from './lexer.ts'
import type { Literal, Type } from './tree.ts'

/** A value in DuckDB's SQL, with its type in the service. Timestamps and intervals are nanoseconds in a BIGINT. */
export type Typed = Readonly<{ sql: string; type: Type; literal?: Literal; finite?: boolean }>
/** `hidden`: `SELECT *` omits the column. `finite`: its values are never NaN or infinite. That is true for all stored doubles, not for quotients. */
export type Column = Readonly<{ name: string; sql: string; type: Type; hidden?: true; finite?: true }>
export type Bound = Readonly<{ name?: string; columns: readonly Column[] }>
/** The names that an expression can use: the relations of FROM, and in ORDER BY also the result columns. `nowNs` is the time of the call. */
export type Scope = Readonly<{ nowNs: bigint; relations: readonly Bound[]; results?: ReadonlyMap<string, Typed> }>

const LADDER: readonly Type[] = ['integer', 'bigint', 'double']
export const isNumber = (type: Type): boolean => LADDER.includes(type) || type === 'unknown'
export const isWhole = (type: Type): boolean => type === 'integer' || type === 'bigint' || type === 'unknown'
export const isA = (type: Type, wanted: Type): boolean => type === wanted || type === 'unknown'

/** The type to which both types convert implicitly. Undefined if there is no such type. A varchar converts to no other type. */
export const commonType = (left: Type, right: Type): Type | undefined => {
  if (left === right || right === 'unknown') return left
  if (left === 'unknown') return right
  const [low, high] = [LADDER.indexOf(left), LADDER.indexOf(right)]
  return low < 0 || high < 0 ? undefined : LADDER[Math.max(low, high)]
}

/** The common type of all values. If there is no common type, throws an error that names their types. */
export const commonOf = (at: At, what: string, values: readonly Typed[]): Type => {
  let type: Type = 'unknown'
  for (const value of values) {
    const common = commonType(type, value.type)
    if (common === undefined)
      throw refuse(at, `${what} must be the same type: ${printedType(type)}, ${printedType(value.type)}`)
    type = common
  }
  return type
}

/**
 * Returns the SQL of a comparison by the rules of the service: NaN is not equal to any value (not even to NaN), not more and not less. DuckDB itself
 * treats NaN as the largest number, so the SQL checks for NaN.
 */
export const compared = (operator: string, left: Typed, right: Typed): string => {
  const plain = `${left.sql} ${operator} ${right.sql}`
  const nanChecks = [left, right]
    .filter(({ type, finite }) => type === 'double' && finite !== true)
    .map(({ sql }) => `isnan(${sql})`)
  if (nanChecks.length === 0) return `(${plain})`
  return operator === '<>'
    ? `(${[plain, ...nanChecks].join(' OR ')})`
    : `(${[plain, ...nanChecks.map((isNaN) => `NOT ${isNaN}`)].join(' AND ')})`
}

export const printedType = (type: Type): string => (type === 'interval' ? 'interval day to second' : type)
export const printedTypes = (values: readonly Typed[]): string => values.map(({ type }) => printedType(type)).join(', ')

export const columnNamed = (scope: Scope, at: At, { relation, name }: { relation?: string; name: string }): Typed => {
  const isSame = (a: string | undefined, b: string) => a !== undefined && a.toLowerCase() === b.toLowerCase()
  const result = relation === undefined ? scope.results?.get(name.toLowerCase()) : undefined
  if (result !== undefined) return result
  const columns = scope.relations
    .filter((bound) => relation === undefined || isSame(bound.name, relation))
    .flatMap((bound) => bound.columns)
  const exact = columns.filter((column) => column.name === name)
  const found = exact.length > 0 ? exact : columns.filter((column) => isSame(column.name, name))
  const fullName = relation === undefined ? name : `${relation}.${name}`
  if (found.length > 1) throw refuse(at, `Column '${fullName}' is ambiguous`)
  if (found[0] === undefined) throw refuse(at, `Column '${fullName}' does not exist`)
  return { sql: found[0].sql, type: found[0].type, finite: found[0].finite === true }
}
