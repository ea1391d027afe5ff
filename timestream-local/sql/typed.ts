import { refuse, type At } from './lexer.ts'
import type { Literal, Type } from './tree.ts'

/** A value in DuckDB's SQL with its type in the service's. Timestamps and intervals are nanoseconds in a BIGINT. */
export type Typed = Readonly<{ sql: string; type: Type; literal?: Literal; finite?: boolean }>
/** `finite` where a double is known to be a number, as every stored one is; a division can make others. */
export type Column = Readonly<{ name: string; sql: string; type: Type; hidden?: true; finite?: true }>
export type Bound = Readonly<{ name?: string; columns: readonly Column[] }>
/** What an expression can see: the relations of FROM, in ORDER BY also the names of the results, and the time of the call. */
export type Scope = Readonly<{ nowNs: bigint; relations: readonly Bound[]; results?: ReadonlyMap<string, Typed> }>

const LADDER: readonly Type[] = ['integer', 'bigint', 'double']
export const isNumber = (type: Type): boolean => LADDER.includes(type) || type === 'unknown'
export const isWhole = (type: Type): boolean => type === 'integer' || type === 'bigint' || type === 'unknown'
export const isA = (type: Type, wanted: Type): boolean => type === wanted || type === 'unknown'

/** The type both can be read as without saying so; the service never reads a varchar as anything else. */
export const commonType = (one: Type, other: Type): Type | undefined => {
  if (one === other || other === 'unknown') return one
  if (one === 'unknown') return other
  const [low, high] = [LADDER.indexOf(one), LADDER.indexOf(other)]
  return low < 0 || high < 0 ? undefined : LADDER[Math.max(low, high)]
}

/** The common type of all; refused with what they are otherwise. */
export const commonOf = (at: At, what: string, values: readonly Typed[]): Type => {
  let type: Type = 'unknown'
  for (const value of values) {
    const common = commonType(type, value.type)
    if (common === undefined) throw refuse(at, `${what} must be the same type: ${printedType(type)}, ${printedType(value.type)}`)
    type = common
  }
  return type
}

/** NaN is unlike everything, itself included, and neither more nor less; to DuckDB it is the largest number. */
export const compared = (operator: string, one: Typed, other: Typed): string => {
  const plain = `${one.sql} ${operator} ${other.sql}`
  const strange = [one, other].filter(({ type, finite }) => type === 'double' && finite !== true).map(({ sql }) => `isnan(${sql})`)
  if (strange.length === 0) return `(${plain})`
  return operator === '<>' ? `(${[plain, ...strange].join(' OR ')})` : `(${[plain, ...strange.map((isNaN) => `NOT ${isNaN}`)].join(' AND ')})`
}

export const printedType = (type: Type): string => (type === 'interval' ? 'interval day to second' : type)
export const printedTypes = (values: readonly Typed[]): string => values.map(({ type }) => printedType(type)).join(', ')

export const columnNamed = (scope: Scope, at: At, { relation, name }: { relation?: string; name: string }): Typed => {
  const same = (one: string | undefined, other: string) => one !== undefined && one.toLowerCase() === other.toLowerCase()
  const result = relation === undefined ? scope.results?.get(name.toLowerCase()) : undefined
  if (result !== undefined) return result
  const seen = scope.relations.filter((bound) => relation === undefined || same(bound.name, relation)).flatMap(({ columns }) => columns)
  const exact = seen.filter((column) => column.name === name)
  const found = exact.length > 0 ? exact : seen.filter((column) => same(column.name, name))
  const shown = relation === undefined ? name : `${relation}.${name}`
  if (found.length > 1) throw refuse(at, `Column '${shown}' is ambiguous`)
  if (found[0] === undefined) throw refuse(at, `Column '${shown}' does not exist`)
  return { sql: found[0].sql, type: found[0].type, finite: found[0].finite === true }
}
