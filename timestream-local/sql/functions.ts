import { refuse, type At } from './lexer.ts'
import { DAY_NS, NS_OF_UNIT, parsedTimestamp } from './time.ts'
import type { Type } from './tree.ts'
import { commonOf, isA, isNumber, isWhole, printedTypes, type Typed } from './typed.ts'

export type Called = Readonly<{ at: At; name: string; args: readonly Typed[]; nowNs: bigint }>
/** Returns the SQL and the type of a call. Undefined if the function does not take these arguments. */
type Rule = (args: readonly Typed[], call: Called) => Typed | undefined

const MONTHS: Readonly<Record<string, number>> = { month: 1, quarter: 3, year: 12 }
const calendar = (sql: string): string => `CAST(make_timestamp_ns(${sql}) AS TIMESTAMP)`

/** The fields of EXTRACT, and DuckDB's names for them. */
const FIELDS: Readonly<Record<string, string>> = {
  year: 'year',
  quarter: 'quarter',
  month: 'month',
  week: 'week',
  day: 'day',
  day_of_month: 'day',
  day_of_week: 'isodow',
  dow: 'isodow',
  day_of_year: 'doy',
  doy: 'doy',
  hour: 'hour',
  minute: 'minute',
  second: 'second',
  year_of_week: 'isoyear',
  yow: 'isoyear',
}

export const extracted = (at: At, field: string, { sql, type }: Typed): Typed => {
  const of = FIELDS[field]
  if (of === undefined)
    throw refuse(at, `EXTRACT does not support the field ${field}. Supported: ${Object.keys(FIELDS).join(', ')}.`)
  if (!isA(type, 'timestamp')) throw refuse(at, `Cannot extract ${field} from ${type}`)
  return { sql: `CAST(date_part('${of}', ${calendar(sql)}) AS BIGINT)`, type: 'bigint' }
}

const unitOf = (unit: Typed, { at, name }: Called): string => {
  if (typeof unit.literal?.value !== 'string')
    throw refuse(at, `${name} takes its unit as a string, for example 'hour'.`)
  const text = unit.literal.value.toLowerCase()
  if (!(text in MONTHS) && (NS_OF_UNIT[text] === undefined || text.length < 3))
    throw refuse(at, `'${text}' is not a valid TIMESTAMP field`)
  return text
}

const bin: Rule = ([of, by], { at }) => {
  if (of === undefined || by === undefined || !isA(of.type, 'timestamp') || by.type !== 'interval') return undefined
  if (typeof by.literal?.value !== 'bigint' || by.literal.value <= 0n)
    throw refuse(at, 'bin takes a literal interval longer than 0, for example 5m.')
  return { sql: `(${of.sql} - ${of.sql} % ${by.literal.value})`, type: 'timestamp' }
}

const ago: Rule = ([by], { nowNs, at }) => {
  if (by?.type !== 'interval') return undefined
  if (typeof by.literal?.value === 'bigint' && by.literal.value > nowNs)
    throw refuse(at, 'The result of ago is before 1970, and negative times are not supported.')
  return { sql: `(${nowNs}::BIGINT - ${by.sql})`, type: 'timestamp' }
}

const dateTrunc: Rule = ([unit, of], call) => {
  if (unit === undefined || of === undefined || !isA(of.type, 'timestamp')) return undefined
  const name = unitOf(unit, call)
  if (name in MONTHS) return { sql: `epoch_ns(date_trunc('${name}', ${calendar(of.sql)}))`, type: 'timestamp' }
  // Weeks begin on Monday, and 1970 began on a Thursday, so a week begins three days before a multiple of seven days.
  const shift = name === 'week' ? 3n * DAY_NS : 0n
  return { sql: `(${of.sql} - (${of.sql} + ${shift}) % ${NS_OF_UNIT[name]})`, type: 'timestamp' }
}

const dateAdd: Rule = ([unit, count, of], call) => {
  if (
    unit === undefined ||
    count === undefined ||
    of === undefined ||
    !isWhole(count.type) ||
    !isA(of.type, 'timestamp')
  )
    return undefined
  const name = unitOf(unit, call)
  const months = MONTHS[name]
  if (months === undefined)
    return { sql: `(${of.sql} + ${count.sql} * ${NS_OF_UNIT[name]}::BIGINT)`, type: 'timestamp' }
  return {
    sql: `(epoch_ns(${calendar(of.sql)} + to_months(CAST(${count.sql} * ${months} AS INTEGER))) + ${of.sql} % 1000)`,
    type: 'timestamp',
  }
}

/** The number of whole units between two times. DuckDB's own `date_diff` is not used, because it counts the crossed boundaries of units. */
const dateDiff: Rule = ([unit, from, to], call) => {
  if (
    unit === undefined ||
    from === undefined ||
    to === undefined ||
    !isA(from.type, 'timestamp') ||
    !isA(to.type, 'timestamp')
  )
    return undefined
  const name = unitOf(unit, call)
  if (name in MONTHS) return { sql: `date_sub('${name}', ${calendar(from.sql)}, ${calendar(to.sql)})`, type: 'bigint' }
  return { sql: `((${to.sql} - ${from.sql}) // ${NS_OF_UNIT[name]})`, type: 'bigint' }
}

const fromIso: Rule = ([text], { at }) => {
  if (text?.type !== 'varchar') return undefined
  if (typeof text.literal?.value !== 'string')
    throw refuse(at, 'from_iso8601_timestamp takes a literal string. It is not supported for a column.')
  return { sql: `${parsedTimestamp(text.literal.value, at)}::BIGINT`, type: 'timestamp' }
}

const numeric =
  (sql: (argument: string) => string, result?: Type): Rule =>
  ([value]) =>
    value !== undefined && isNumber(value.type) ? { sql: sql(value.sql), type: result ?? value.type } : undefined

/** Rounds doubles up or down. Whole numbers are not passed to DuckDB's function, because it would convert them to doubles. */
const towards =
  (name: 'ceil' | 'floor'): Rule =>
  ([value]) =>
    value && isWhole(value.type)
      ? value
      : value && value.type === 'double'
        ? { sql: `${name}(${value.sql})`, type: 'double' }
        : undefined

const ofStrings =
  (sql: (...args: string[]) => string, { count, result = 'varchar' }: { count: number; result?: Type }): Rule =>
  (args) =>
    args.length === count && args.every(({ type }) => isA(type, 'varchar'))
      ? { sql: sql(...args.map((value) => value.sql)), type: result }
      : undefined

/** The greatest or least argument. Null if one of the arguments is null, because the service does so. DuckDB itself would ignore nulls. */
const extreme =
  (name: 'greatest' | 'least'): Rule =>
  (args, { at }) => {
    const type = commonOf(at, `All arguments of ${name}`, args)
    const anyNull = args.map(({ sql }) => `${sql} IS NULL`).join(' OR ')
    return { sql: `(CASE WHEN ${anyNull} THEN NULL ELSE ${name}(${args.map(({ sql }) => sql).join(', ')}) END)`, type }
  }

const round: Rule = ([value, digits]) => {
  if (value === undefined || !isNumber(value.type) || (digits !== undefined && !isWhole(digits.type))) return undefined
  return {
    sql: digits === undefined ? `round(${value.sql})` : `round(${value.sql}, CAST(${digits.sql} AS INTEGER))`,
    type: value.type,
  }
}

const modulo: Rule = ([dividend, divisor], { at }) => {
  if (dividend === undefined || divisor === undefined || !isNumber(dividend.type) || !isNumber(divisor.type))
    return undefined
  const type = commonOf(at, 'Both arguments of mod', [dividend, divisor])
  return {
    sql: isWhole(type)
      ? `(CASE WHEN ${divisor.sql} = 0 THEN error('Division by zero') ELSE ${dividend.sql} % ${divisor.sql} END)`
      : `(${dividend.sql} % ${divisor.sql})`,
    type,
  }
}

const instant =
  (sql: (value: string) => string, types: readonly [from: Type, to: Type]): Rule =>
  ([value]) =>
    value !== undefined && (types[0] === 'bigint' ? isWhole(value.type) : isA(value.type, types[0]))
      ? { sql: sql(value.sql), type: types[1] }
      : undefined

const field =
  (name: string): Rule =>
  ([value], { at }) =>
    value && extracted(at, name, value)

const RULES: Readonly<Record<string, readonly [fewest: number, most: number, Rule]>> = {
  bin: [2, 2, bin],
  ago: [1, 1, ago],
  now: [0, 0, (_, { nowNs }) => ({ sql: `${nowNs}::BIGINT`, type: 'timestamp' })],
  date_trunc: [2, 2, dateTrunc],
  date_add: [3, 3, dateAdd],
  date_diff: [3, 3, dateDiff],
  from_iso8601_timestamp: [1, 1, fromIso],
  from_milliseconds: [1, 1, instant((ms) => `(${ms} * 1000000::BIGINT)`, ['bigint', 'timestamp'])],
  from_nanoseconds: [1, 1, instant((ns) => `CAST(${ns} AS BIGINT)`, ['bigint', 'timestamp'])],
  to_milliseconds: [1, 1, instant((ns) => `(${ns} // 1000000)`, ['timestamp', 'bigint'])],
  to_nanoseconds: [1, 1, instant((ns) => `CAST(${ns} AS BIGINT)`, ['timestamp', 'bigint'])],
  to_unixtime: [1, 1, instant((ns) => `(${ns} / 1e9)`, ['timestamp', 'double'])],
  ...Object.fromEntries(Object.keys(FIELDS).map((name) => [name, [1, 1, field(name)] as const])),
  coalesce: [
    2,
    100,
    (args, { at }) => ({
      sql: `coalesce(${args.map(({ sql }) => sql).join(', ')})`,
      type: commonOf(at, 'All COALESCE operands', args),
    }),
  ],
  nullif: [
    2,
    2,
    ([value, nullValue], { at }) =>
      value &&
      nullValue &&
      commonOf(at, 'Types of NULLIF', [value, nullValue]) && {
        sql: `nullif(${value.sql}, ${nullValue.sql})`,
        type: value.type,
      },
  ],
  if: [
    2,
    3,
    ([condition, then, otherwise], { at }) =>
      condition && then && isA(condition.type, 'boolean')
        ? {
            sql: `(CASE WHEN ${condition.sql} THEN ${then.sql} ELSE ${otherwise?.sql ?? 'NULL'} END)`,
            type: commonOf(at, 'Result types of IF', otherwise ? [then, otherwise] : [then]),
          }
        : undefined,
  ],
  greatest: [1, 100, extreme('greatest')],
  least: [1, 100, extreme('least')],
  abs: [1, 1, numeric((value) => `abs(${value})`)],
  sign: [
    1,
    1,
    ([value]) =>
      value && isNumber(value.type)
        ? { sql: `CAST(sign(${value.sql}) AS ${value.type === 'unknown' ? 'BIGINT' : value.type})`, type: value.type }
        : undefined,
  ],
  ceil: [1, 1, towards('ceil')],
  ceiling: [1, 1, towards('ceil')],
  floor: [1, 1, towards('floor')],
  sqrt: [1, 1, numeric((value) => `sqrt(${value})`, 'double')],
  exp: [1, 1, numeric((value) => `exp(${value})`, 'double')],
  ln: [1, 1, numeric((value) => `ln(${value})`, 'double')],
  power: [
    2,
    2,
    ([base, exponent]) =>
      base && exponent && isNumber(base.type) && isNumber(exponent.type)
        ? { sql: `pow(${base.sql}, ${exponent.sql})`, type: 'double' }
        : undefined,
  ],
  mod: [2, 2, modulo],
  round: [1, 2, round],
  concat: [2, 100, (args, call) => ofStrings((...all) => `(${all.join(' || ')})`, { count: args.length })(args, call)],
  length: [1, 1, ofStrings((text) => `length(${text})`, { count: 1, result: 'bigint' })],
  lower: [1, 1, ofStrings((text) => `lower(${text})`, { count: 1 })],
  upper: [1, 1, ofStrings((text) => `upper(${text})`, { count: 1 })],
}

export const isScalar = (name: string): boolean => Object.hasOwn(RULES, name)

export const scalar = (call: Called): Typed => {
  const [fewest, most, rule] = RULES[call.name] as (typeof RULES)[string]
  const result = call.args.length < fewest || call.args.length > most ? undefined : rule(call.args, call)
  if (result === undefined)
    throw refuse(call.at, `Unexpected parameters (${printedTypes(call.args)}) for function ${call.name}`)
  return result
}
