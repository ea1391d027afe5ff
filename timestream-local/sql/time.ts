import { refuse, type At } from './lexer.ts'

const SECOND_NS = 1_000_000_000n
export const DAY_NS = 86_400n * SECOND_NS
const MAX_NS = 2n ** 63n

export const NS_OF_UNIT: Readonly<Record<string, bigint>> = {
  nanosecond: 1n,
  ns: 1n,
  microsecond: 1000n,
  us: 1000n,
  millisecond: 1_000_000n,
  ms: 1_000_000n,
  second: SECOND_NS,
  s: SECOND_NS,
  minute: 60n * SECOND_NS,
  m: 60n * SECOND_NS,
  hour: 3600n * SECOND_NS,
  h: 3600n * SECOND_NS,
  day: DAY_NS,
  d: DAY_NS,
  week: 7n * DAY_NS,
}

/** The nanoseconds of an interval such as `15m`, `1d` or `100ms`. */
export const nanosecondsOf = (text: string, at: At): bigint => {
  const [, amount = '', unit = ''] = /^(\d+)([a-z]+)$/i.exec(text) ?? []
  const ns = NS_OF_UNIT[unit.toLowerCase()]
  if (ns === undefined)
    throw refuse(at, `an interval of ${unit || text} is not supported. Use a unit from nanosecond to week.`)
  const total = BigInt(amount) * ns
  if (total >= MAX_NS) throw refuse(at, `the interval ${text} is too long.`)
  return total
}

const FORM = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?\s*(Z|[+-]\d\d:?\d\d)?)?$/

/** Parses an ISO 8601 instant to nanoseconds since 1970. An instant without an offset is in UTC, as everywhere in the service. */
export const parsedTimestamp = (text: string, at: At): bigint => {
  const [, year = '', month = '', day = '', hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] =
    FORM.exec(text) ?? []
  const offset = zone === 'Z' || zone.includes(':') ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`
  const ms = year === '' ? NaN : Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`)
  const realDay = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day)
  if (Number.isNaN(ms) || !realDay)
    throw refuse(at, `'${text}' is not a timestamp. Write, for example, 2026-03-18T12:00:00Z.`)
  return BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0'))
}

/** Formats a timestamp as the service does: `2026-03-18 12:00:00.000000000`. */
export const printedTimestamp = (ns: bigint): string => {
  const rest = ((ns % SECOND_NS) + SECOND_NS) % SECOND_NS
  const text = new Date(Number((ns - rest) / 1_000_000n)).toISOString()
  return `${text.slice(0, 10)} ${text.slice(11, 19)}.${String(rest).padStart(9, '0')}`
}

/** Formats an interval as the service does, with days and time: `0 06:00:00.000000000`. */
export const printedInterval = (ns: bigint): string => {
  const length = ns < 0n ? -ns : ns
  return `${ns < 0n ? '-' : ''}${length / DAY_NS} ${printedTimestamp(length % DAY_NS).slice(11)}`
}
