import fc from 'fast-check'
import { Check } from 'typebox/schema'
import type { JsonSchema, Route } from '../../producers/http/route.ts'
import type { EdgeRequest } from '../edge/request.ts'
import type { Values } from './case.ts'
import { STRANGE } from './events.ts'

/** An HTTP method. */
export type Method = NonNullable<EdgeRequest['method']>

/** The schemas under a keyword of a JSON Schema, by name. Empty if the schema does not have the keyword. Default: the schemas of the properties. */
export const membersOf = (
  schema: JsonSchema | undefined,
  keyword = 'properties',
): Readonly<Record<string, JsonSchema>> => (schema?.[keyword] ?? {}) as Readonly<Record<string, JsonSchema>>

export const requiredOf = (schema: JsonSchema | undefined): readonly string[] =>
  (schema?.['required'] ?? []) as readonly string[]

const SMALL = 12

const textOf = ({
  pattern,
  minLength = 0,
  maxLength = SMALL,
}: {
  pattern?: string
  minLength?: number
  maxLength?: number
}): fc.Arbitrary<string> => {
  if (pattern !== undefined)
    return fc.stringMatching(new RegExp(pattern, 'u'), { maxLength: Math.min(maxLength, minLength + SMALL) })
  return fc.string({ minLength, maxLength: Math.min(maxLength, minLength + SMALL) })
}

const numberOf = ({ minimum = -1_000, maximum = 1_000_000 }: { minimum?: number; maximum?: number }) =>
  fc.integer({ min: Math.ceil(minimum), max: Math.floor(maximum) })

/**
 * Generates values that fit a JSON Schema. If `values` contains fitting values for the name, generates only these values, and also null if the
 * schema allows null.
 */
export const valueOf = (schema: JsonSchema, values: Values, name = ''): fc.Arbitrary<unknown> => {
  const known = (values[name] ?? []).filter((value) => Check(schema, value))
  if (known.length > 0) return fc.constantFrom(...known, ...[null].filter((none) => Check(schema, none)))
  const options = (schema['oneOf'] ?? schema['anyOf']) as readonly JsonSchema[] | undefined
  if (options !== undefined) return fc.oneof(...options.map((option) => valueOf(option, values, name)))
  if ('const' in schema) return fc.constant(schema['const'])
  if ('enum' in schema) return fc.constantFrom(...(schema['enum'] as readonly unknown[]))
  const { type } = schema
  if (Array.isArray(type))
    return fc.oneof(...type.map((each: unknown) => valueOf({ ...schema, type: each }, values, name)))
  switch (type) {
    case 'string':
      return textOf(schema)
    case 'number':
    case 'integer':
      return numberOf(schema)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return listOf(schema, values, name)
    case 'object':
      return objectOf(schema, values)
    default:
      return fc.jsonValue({ maxDepth: 1 })
  }
}

const listOf = (schema: JsonSchema, values: Values, name: string): fc.Arbitrary<unknown> => {
  const entry = valueOf((schema['items'] ?? {}) as JsonSchema, values, name)
  const lengths = {
    minLength: Number(schema['minItems'] ?? 0),
    maxLength: Math.min(Number(schema['maxItems'] ?? 3), 3),
  }
  return schema['uniqueItems'] === true ? fc.uniqueArray(entry, lengths) : fc.array(entry, lengths)
}

const objectOf = (schema: JsonSchema, values: Values): fc.Arbitrary<unknown> => {
  const members = Object.entries(membersOf(schema)).map(
    ([name, member]) => [name, valueOf(member, values, name)] as const,
  )
  const required = requiredOf(schema)
  // Most rules of domains concern at most two optional fields at once, so a body contains at most two of them.
  const optional = members.filter(([name]) => !required.includes(name))
  const chosen = fc.subarray(
    optional.map(([name]) => name),
    {
      minLength: Math.min(optional.length, Number(schema['minProperties'] ?? 0)),
      maxLength: Math.min(optional.length, 2),
    },
  )
  return fc
    .tuple(fc.record(Object.fromEntries(members)), chosen)
    .map(([all, kept]) =>
      Object.fromEntries(Object.entries(all).filter(([name]) => required.includes(name) || kept.includes(name))),
    )
}

/** Generates values of every type, and texts and numbers that break rules. */
const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.double(),
  fc.constantFrom<unknown>(
    ...STRANGE,
    -0,
    -1,
    0,
    0.1,
    1e300,
    1e30,
    2 ** 53,
    '1e5',
    '0.1',
    '99999999999999999999',
    null,
    true,
    [],
    {},
    '\ud800',
    '1970-01-01T00:00:00Z',
    '2099-01-01T00:00:00Z',
    '2026-02-30',
    '9999-12-31',
  ),
)

const segmentOf = (values: Values, name: string, strange: boolean): fc.Arbitrary<string> => {
  const known = (values[name] ?? []).map(String)
  const others = fc.oneof(
    fc.constantFrom(
      ...STRANGE,
      '+',
      '%00',
      '123',
      ...Object.values(values)
        .flat()
        .filter((value) => typeof value === 'string'),
    ),
    fc.string({ unit: 'grapheme', maxLength: 30 }),
  )
  if (known.length === 0) return others
  return strange ? fc.oneof(fc.constantFrom(...known), others) : fc.constantFrom(...known)
}

/** Generates paths of a route, with values of the scene for its parameters. If `strange` is true, some parameters are arbitrary texts. */
export const pathOf = ({ url }: Pick<Route, 'url'>, values: Values, strange = false): fc.Arbitrary<string> => {
  const parts = url
    .split('/')
    .map((part) =>
      part.startsWith(':') ? segmentOf(values, part.slice(1), strange).map(encodeURIComponent) : fc.constant(part),
    )
  return fc.tuple(...parts).map((segments) => segments.join('/'))
}

/** Returns the path of a route, with the first value of the scene for every parameter. */
export const plainPath = ({ url }: Pick<Route, 'url'>, values: Values): string =>
  url.replace(/:(\w+)/g, (_, name: string) => {
    const [value] = values[name] ?? []
    if (value === undefined) throw new Error(`The scene has no value for :${name} in ${url}: add it to values.`)
    return encodeURIComponent(String(value))
  })

/** Generates query strings with at most three parameters: parameters of the route, and `x`, which no route has. */
export const queryOf = ({ query }: Pick<Route, 'query'>, values: Values): fc.Arbitrary<string> => {
  const known = Object.values(values).flat().map(String)
  return fc
    .dictionary(
      fc.constantFrom(...Object.keys(membersOf(query)), 'x'),
      fc.oneof(
        fc.constantFrom('1', 'true', '2026-11-16', '2026-11-16T00:00:00Z', ...known),
        fc.string({ maxLength: 20 }),
      ),
      { maxKeys: 3, noNullPrototype: true },
    )
    .map((members) => new URLSearchParams(members).toString())
}

/**
 * Generates request bodies. One in four fits the route's schema. In each of the others one member was replaced, added or removed, so the body can be
 * invalid.
 */
export const bodyOf = (body: JsonSchema, values: Values): fc.Arbitrary<unknown> => {
  const names = Object.keys(membersOf(body))
  const good = valueOf(body, values)
  const changed = fc
    .tuple(good, fc.constantFrom(...names, 'more'), fc.option(junk, { nil: undefined, freq: 5 }))
    .map(([value, name, other]) => (typeof value === 'object' && value !== null ? { ...value, [name]: other } : value))
  return fc.oneof({ weight: 1, arbitrary: good }, { weight: 3, arbitrary: changed })
}
