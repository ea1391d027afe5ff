import { refuse, type At } from './lexer.ts'
import { parsedTimestamp } from './time.ts'
import type { Type } from './tree.ts'
import { isWhole, printedType, type Typed } from './typed.ts'

const NAMES: Readonly<Record<string, Type>> = {
  double: 'double',
  bigint: 'bigint',
  integer: 'integer',
  int: 'integer',
  varchar: 'varchar',
  boolean: 'boolean',
  timestamp: 'timestamp',
}
const WHOLE = "'[+-]?[0-9]+'"

/** Returns SQL that formats nanoseconds as `2026-03-18 12:00:00.000000000`. */
const printed = (sql: string): string =>
  `(strftime(make_timestamp_ns(${sql}), '%Y-%m-%d %H:%M:%S') || '.' || lpad(CAST((${sql}) % 1000000000 AS VARCHAR), 9, '0'))`

const toWhole = ({ sql, type: from }: Typed, type: Type, isTry: boolean): string | undefined => {
  const cast = `${isTry ? 'TRY_CAST' : 'CAST'}`
  if (isWhole(from) || from === 'boolean') return `${cast}(${sql} AS ${type})`
  // The service rounds halves away from zero, as `round` does. A cast in DuckDB alone would round them to the even neighbour.
  if (from === 'double') return `${cast}(round(${sql}) AS ${type})`
  if (from !== 'varchar') return undefined
  const otherwise = isTry ? 'NULL' : `error('Cannot cast a varchar to ${type}')`
  return `(CASE WHEN ${sql} IS NULL THEN NULL WHEN regexp_full_match(${sql}, ${WHOLE}) THEN ${cast}(${sql} AS ${type}) ELSE ${otherwise} END)`
}

const cast = (value: Typed, type: Type, { at, isTry }: { at: At; isTry: boolean }): string | undefined => {
  const { sql, type: from, literal } = value
  if (from === type) return sql
  if (type === 'integer' || type === 'bigint') return toWhole(value, type, isTry)
  if (type === 'double')
    return isWhole(from) || from === 'varchar' ? `${isTry ? 'TRY_CAST' : 'CAST'}(${sql} AS DOUBLE)` : undefined
  if (type === 'varchar' && from === 'timestamp') return printed(sql)
  if (type === 'varchar' && (isWhole(from) || from === 'boolean')) return `CAST(${sql} AS VARCHAR)`
  if (type === 'timestamp' && typeof literal?.value === 'string') return `${parsedTimestamp(literal.value, at)}::BIGINT`
  return from === 'unknown' ? `CAST(NULL AS ${type === 'timestamp' ? 'BIGINT' : type})` : undefined
}

export const castTo = (value: Typed, { at, type: name, isTry }: { at: At; type: string; isTry: boolean }): Typed => {
  const type = NAMES[name]
  if (type === undefined) throw refuse(at, `Unknown type: ${name}. Supported: ${Object.keys(NAMES).join(', ')}.`)
  const sql = cast(value, type, { at, isTry })
  if (sql === undefined) throw refuse(at, `Cannot cast ${printedType(value.type)} to ${type} here.`)
  return { sql, type }
}
