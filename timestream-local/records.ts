import { hash } from 'node:crypto'
import { optionalBody, optionalList, optionalText, optionalWhole, type Body } from './body.ts'
import { invalid } from './service-error.ts'
import type { ColumnType } from './tables.ts'

type Value = number | bigint | string | boolean
type Measure = Readonly<{ name: string; type: ColumnType; value: Value }>
/** A record to store. `series` is a hash of its dimensions and measure name, `digest` a hash of its values. */
export type Point = Readonly<{
  index: number
  dimensions: readonly (readonly [name: string, value: string])[]
  measureName: string
  multi: boolean
  measures: readonly Measure[]
  timeNs: bigint
  version: number
  series: string
  digest: string
}>
export type Rejection = Readonly<{ RecordIndex: number; Reason: string; ExistingVersion?: number }>

const MAX_RECORDS = 100
const MAX_RECORD_BYTES = 2048
const MAX_DIMENSIONS = 128
const MAX_DIMENSION_NAME_BYTES = 60
const MAX_MEASURE_NAME_BYTES = 256
const MAX_VALUE_BYTES = 2048
const MAX_MEASURES = 256
const NS_OF_UNIT: Readonly<Record<string, bigint>> = {
  NANOSECONDS: 1n,
  MICROSECONDS: 1000n,
  MILLISECONDS: 1_000_000n,
  SECONDS: 1_000_000_000n,
}
const RESERVED = /^(time|measure_name|measure_value(::.*)?|ts_non_existent_col)$/i
const MAX_BIGINT = 2n ** 63n

const bytes = (text: string): number => Buffer.byteLength(text)
const shortHash = (value: unknown): string => hash('sha256', JSON.stringify(value), 'base64url').slice(0, 24)

const wholeNumberOf = (text: string, what: string): bigint => {
  if (!/^[+-]?\d{1,19}$/.test(text)) throw invalid(`${what} is not a whole number: ${text}`)
  const value = BigInt(text)
  if (value >= MAX_BIGINT || value < -MAX_BIGINT) throw invalid(`${what} is not a 64-bit number: ${text}`)
  return value
}

const doubleOf = (text: string, what: string): number => {
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN
  if (!Number.isFinite(value)) throw invalid(`${what} is not a DOUBLE: ${text}. NaN and Infinity cannot be stored.`)
  return value
}

const valueOf = (type: string, text: string, { what, unit }: { what: string; unit: bigint }): Measure['value'] => {
  if (bytes(text) > MAX_VALUE_BYTES)
    throw invalid(`${what} has ${bytes(text)} bytes. A value has at most ${MAX_VALUE_BYTES}.`)
  switch (type) {
    case 'DOUBLE':
      return doubleOf(text, what)
    case 'BIGINT':
      return wholeNumberOf(text, what)
    case 'TIMESTAMP':
      return wholeNumberOf(text, what) * unit
    case 'VARCHAR':
      return text
    case 'BOOLEAN':
      if (!/^(true|false)$/i.test(text)) throw invalid(`${what} is not a BOOLEAN: ${text}. Send true or false.`)
      return text.toLowerCase() === 'true'
    default:
      throw invalid(`${what} has the type ${type}. A measure is DOUBLE, BIGINT, VARCHAR, BOOLEAN or TIMESTAMP.`)
  }
}

/** Returns the record with its missing fields taken from CommonAttributes. The result has the dimensions of both. */
const merged = (common: Body, record: Body): Body => {
  const result: Record<string, unknown> = { ...common }
  for (const [field, value] of Object.entries(record)) if (value !== null) result[field] = value
  const [shared, own] = [optionalList(common, 'Dimensions'), optionalList(record, 'Dimensions')]
  if (shared !== undefined && own !== undefined) result['Dimensions'] = [...shared, ...own]
  return result
}

const dimensionsOf = (record: Body, where: string): Point['dimensions'] => {
  const dimensions = (optionalList(record, 'Dimensions') ?? []).map((dimension) => {
    const [name, value] = [optionalText(dimension, 'Name') ?? '', optionalText(dimension, 'Value') ?? '']
    const type = optionalText(dimension, 'DimensionValueType') ?? 'VARCHAR'
    if (name === '' || value === '') throw invalid(`${where} has a dimension without a name or a value.`)
    if (type !== 'VARCHAR') throw invalid(`${where} has a dimension ${name} of type ${type}. Dimensions are VARCHAR.`)
    if (bytes(name) > MAX_DIMENSION_NAME_BYTES)
      throw invalid(`${where} has a dimension whose name is longer than ${MAX_DIMENSION_NAME_BYTES} bytes: ${name}`)
    if (RESERVED.test(name)) throw invalid(`${where} has a dimension with a reserved name: ${name}`)
    if (bytes(value) > MAX_VALUE_BYTES)
      throw invalid(`${where} has a dimension ${name} longer than ${MAX_VALUE_BYTES} bytes.`)
    return [name, value] as const
  })
  const names = dimensions.map(([name]) => name)
  if (dimensions.length > MAX_DIMENSIONS)
    throw invalid(`${where} has ${dimensions.length} dimensions. A record has at most ${MAX_DIMENSIONS}.`)
  if (new Set(names).size < names.length)
    throw invalid(`${where} names a dimension twice, perhaps in CommonAttributes: ${names.join(', ')}`)
  return dimensions.sort(([a], [b]) => (a < b ? -1 : 1))
}

const multiOf = (record: Body, where: string, unit: bigint): readonly Measure[] => {
  const values = optionalList(record, 'MeasureValues') ?? []
  if (values.length === 0) throw invalid(`${where} is of type MULTI and has no MeasureValues.`)
  if (values.length > MAX_MEASURES)
    throw invalid(`${where} has ${values.length} measures. A record has at most ${MAX_MEASURES}.`)
  if (optionalText(record, 'MeasureValue') !== undefined)
    throw invalid(`${where} is of type MULTI and has a MeasureValue. Send MeasureValues only.`)
  const measures = values.map((entry) => {
    const name = optionalText(entry, 'Name') ?? ''
    const type = optionalText(entry, 'Type') ?? ''
    if (name === '' || bytes(name) > MAX_MEASURE_NAME_BYTES)
      throw invalid(`${where} has a measure whose name is empty or longer than ${MAX_MEASURE_NAME_BYTES} bytes.`)
    if (RESERVED.test(name)) throw invalid(`${where} has a measure with a reserved name: ${name}`)
    const value = valueOf(type, optionalText(entry, 'Value') ?? '', { what: `${where}, measure ${name}`, unit })
    return { name, type: type as ColumnType, value }
  })
  if (new Set(measures.map(({ name }) => name)).size < measures.length) throw invalid(`${where} names a measure twice.`)
  return measures.sort((a, b) => (a.name < b.name ? -1 : 1))
}

const singleOf = (record: Body, where: string, measureName: string): readonly Measure[] => {
  const type = optionalText(record, 'MeasureValueType') ?? 'DOUBLE'
  const text = optionalText(record, 'MeasureValue')
  if (type === 'TIMESTAMP')
    throw invalid('TIMESTAMP is an invalid measure value type: it is for measures of MULTI records.')
  if (text === undefined) throw invalid(`${where} has no MeasureValue.`)
  if (optionalList(record, 'MeasureValues') !== undefined)
    throw invalid(`${where} has MeasureValues and is not of type MULTI.`)
  return [
    {
      name: measureName,
      type: type as ColumnType,
      value: valueOf(type, text, { what: `${where}, measure ${measureName}`, unit: 1n }),
    },
  ]
}

const sizeOf = ({
  dimensions,
  measureName,
  measures,
}: Pick<Point, 'dimensions' | 'measureName' | 'measures'>): number =>
  8 +
  bytes(measureName) +
  dimensions.reduce((sum, [name, value]) => sum + bytes(name) + bytes(value), 0) +
  measures.reduce((sum, { name, value }) => sum + bytes(name) + (typeof value === 'string' ? bytes(value) : 8), 0)

const pointOf = (record: Body, index: number): Point | Rejection => {
  const where = `Record ${index}`
  const unit = NS_OF_UNIT[optionalText(record, 'TimeUnit') ?? 'MILLISECONDS']
  if (unit === undefined)
    throw invalid(`${where} has a TimeUnit that is none of ${Object.keys(NS_OF_UNIT).join(', ')}.`)
  const time = optionalText(record, 'Time')
  if (time === undefined || !/^\d{1,19}$/.test(time))
    throw invalid(`${where} has no Time, or one that is not a whole number: ${time ?? '(none)'}`)
  const timeNs = BigInt(time) * unit
  if (timeNs >= MAX_BIGINT) throw invalid(`${where} has a Time beyond 2262-04-11. Check its TimeUnit: ${time}`)
  const measureName = optionalText(record, 'MeasureName') ?? ''
  if (measureName === '' || bytes(measureName) > MAX_MEASURE_NAME_BYTES)
    throw invalid(`${where} has no MeasureName, or one longer than ${MAX_MEASURE_NAME_BYTES} bytes.`)
  const multi = optionalText(record, 'MeasureValueType') === 'MULTI'
  const dimensions = dimensionsOf(record, where)
  const measures = multi ? multiOf(record, where, unit) : singleOf(record, where, measureName)
  const size = sizeOf({ dimensions, measureName, measures })
  if (size > MAX_RECORD_BYTES)
    return { RecordIndex: index, Reason: `The record has ${size} bytes. A record has at most ${MAX_RECORD_BYTES}.` }
  const version = optionalWhole(record, 'Version', [1, Number.MAX_SAFE_INTEGER]) ?? 1
  const digest = shortHash([multi, measures.map(({ name, type, value }) => [name, type, String(value)])])
  return {
    index,
    dimensions,
    measureName,
    multi,
    measures,
    timeNs,
    version,
    series: shortHash([measureName, dimensions]),
    digest,
  }
}

/** Reads a call of WriteRecords: the points to store, and the records that cannot be stored. Throws for a malformed call. */
export const pointsOf = (body: Body): { points: readonly Point[]; rejections: readonly Rejection[] } => {
  const common = optionalBody(body, 'CommonAttributes') ?? {}
  const records = optionalList(body, 'Records') ?? []
  if (records.length === 0 || records.length > MAX_RECORDS)
    throw invalid(`A call has 1 to ${MAX_RECORDS} Records. This one has ${records.length}.`)
  const entries = records.map((record, index) => pointOf(merged(common, record), index))
  return {
    points: entries.filter((entry) => 'series' in entry),
    rejections: entries.filter((entry) => 'Reason' in entry),
  }
}
