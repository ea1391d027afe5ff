import { refuse } from './lexer.ts'
import type { Call, Type } from './tree.ts'
import { commonOf, isA, isNumber, isWhole, printedTypes, type Typed } from './typed.ts'

/** A call in DuckDB's SQL, without DISTINCT, FILTER and OVER. `cast` is set if the result of DuckDB has another type than that of the service. */
type Core = Readonly<{ name: string; args: readonly string[]; type: Type; cast?: string; distinct?: true }>
type Rule = (args: readonly Typed[], call: Call) => Core | undefined

const sqlOf = (args: readonly Typed[]): string[] => args.map(({ sql }) => sql)
const toDouble =
  (name: string): Rule =>
  (args) =>
    args.length === 1 && args.every(({ type }) => isNumber(type))
      ? { name, args: sqlOf(args), type: 'double' }
      : undefined
const ofAny =
  (name: string): Rule =>
  ([value, ...rest]) =>
    value && rest.length === 0 ? { name, args: [value.sql], type: value.type } : undefined
const ofFlags =
  (name: string): Rule =>
  ([value, ...rest]) =>
    value && rest.length === 0 && isA(value.type, 'boolean')
      ? {
          name,
          args: [value.sql],
          type: name === 'count_if' ? 'bigint' : 'boolean',
          ...(name === 'count_if' && { cast: 'BIGINT' }),
        }
      : undefined

const sum: Rule = ([value, ...rest]) => {
  if (value === undefined || rest.length > 0 || !isNumber(value.type)) return undefined
  return isWhole(value.type)
    ? { name: 'sum', args: [value.sql], type: 'bigint', cast: 'BIGINT' }
    : { name: 'sum', args: [value.sql], type: 'double' }
}

const count: Rule = (args, { star }) =>
  star || args.length === 1 ? { name: 'count', args: star ? ['*'] : sqlOf(args), type: 'bigint' } : undefined

/** The value in the row with the smallest or largest `by`, even if this value is null. DuckDB's plain `arg_max` would skip rows with a null value. */
const valueAtExtreme =
  (name: string): Rule =>
  ([value, by, ...rest]) =>
    value && by && rest.length === 0 ? { name, args: [value.sql, by.sql], type: value.type } : undefined

const percentile: Rule = ([value, share, ...rest], { at }) => {
  if (value === undefined || share === undefined || rest.length > 0 || !isNumber(value.type)) return undefined
  const part = share.literal?.value
  if (typeof part !== 'number' || part < 0 || part > 1)
    throw refuse(at, 'approx_percentile takes a literal share between 0 and 1.')
  return { name: 'quantile_disc', args: [value.sql, String(part)], type: value.type }
}

const AGGREGATES: Readonly<Record<string, Rule>> = {
  count,
  sum,
  avg: toDouble('avg'),
  min: ofAny('min'),
  max: ofAny('max'),
  min_by: valueAtExtreme('arg_min_null'),
  max_by: valueAtExtreme('arg_max_null'),
  arbitrary: ofAny('any_value'),
  approx_distinct: ([value, ...rest]) =>
    value && rest.length === 0 ? { name: 'count', args: [value.sql], type: 'bigint', distinct: true } : undefined,
  approx_percentile: percentile,
  stddev: toDouble('stddev_samp'),
  stddev_samp: toDouble('stddev_samp'),
  stddev_pop: toDouble('stddev_pop'),
  variance: toDouble('var_samp'),
  var_samp: toDouble('var_samp'),
  var_pop: toDouble('var_pop'),
  bool_and: ofFlags('bool_and'),
  every: ofFlags('bool_and'),
  bool_or: ofFlags('bool_or'),
  count_if: ofFlags('count_if'),
}

const ranked =
  (name: string, type: Type): Rule =>
  (args) =>
    args.length === 0 ? { name, args: [], type } : undefined
const shifted =
  (name: string): Rule =>
  ([value, offset, otherwise, ...rest], { at }) => {
    if (value === undefined || rest.length > 0) return undefined
    if (offset !== undefined && offset.literal?.type !== 'integer')
      throw refuse(at, `${name} takes its offset as a literal whole number that is not negative.`)
    const type =
      otherwise === undefined ? value.type : commonOf(at, `The value and the default of ${name}`, [value, otherwise])
    return { name, args: sqlOf([value, ...(offset ? [offset] : []), ...(otherwise ? [otherwise] : [])]), type }
  }

const WINDOWS: Readonly<Record<string, Rule>> = {
  row_number: ranked('row_number', 'bigint'),
  rank: ranked('rank', 'bigint'),
  dense_rank: ranked('dense_rank', 'bigint'),
  percent_rank: ranked('percent_rank', 'double'),
  cume_dist: ranked('cume_dist', 'double'),
  lag: shifted('lag'),
  lead: shifted('lead'),
  first_value: ofAny('first_value'),
  last_value: ofAny('last_value'),
}

export const isAggregate = (name: string): boolean => Object.hasOwn(AGGREGATES, name)
export const isWindowFunction = (name: string): boolean => Object.hasOwn(WINDOWS, name)

export const aggregated = (
  call: Call,
  args: readonly Typed[],
  { window, filter }: { window?: string; filter?: string },
): Typed => {
  const { at, name } = call
  const core = (AGGREGATES[name] ?? WINDOWS[name])?.(args, call)
  if (core === undefined || (call.star && name !== 'count'))
    throw refuse(at, `Unexpected parameters (${call.star ? '*' : printedTypes(args)}) for function ${name}`)
  if (isWindowFunction(name) && window === undefined) throw refuse(at, `Window function ${name} requires OVER`)
  if (isWindowFunction(name) && (call.distinct || filter !== undefined))
    throw refuse(at, `${name} takes no DISTINCT and no FILTER.`)
  if (call.ignoreNulls && !/^(lag|lead|first_value|last_value)$/.test(name))
    throw refuse(at, `Cannot specify null treatment clause for ${name} function`)
  const inner = `${call.distinct || core.distinct ? 'DISTINCT ' : ''}${core.args.join(', ')}${call.ignoreNulls ? ' IGNORE NULLS' : ''}`
  const sql = `${core.name}(${inner})${filter === undefined ? '' : ` FILTER (WHERE ${filter})`}${window === undefined ? '' : ` OVER (${window})`}`
  return { sql: core.cast === undefined ? sql : `CAST(${sql} AS ${core.cast})`, type: core.type }
}
