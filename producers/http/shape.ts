import type { XStatic } from 'typebox/schema'
import type { JsonSchema } from './route.ts'

type Context = readonly unknown[]

/** A field of an answer: its JSON Schema with two more keywords. */
interface Field<I, C extends Context> {
  /** Computes the value. Default: a copy of the item's property of the same name. */
  readonly from?: (item: I, ...context: C) => unknown
  /** The answer can lack the field. Default: the field is required. */
  readonly optional?: true
  readonly [keyword: string]: unknown
}

/** One kind of answer: its JSON Schema, and its view (the function from an item to the answer). */
export interface Shape<I, C extends Context = [], F = unknown> {
  readonly schema: ObjectSchema
  readonly view: (item: I, ...context: C) => Answer
  /** The declaration, so that another shape can contain the same fields. */
  readonly fields: F
}

export type Answer = Readonly<Record<string, unknown>>

type ObjectSchema = JsonSchema & {
  readonly type: 'object'
  readonly required?: readonly string[]
  readonly properties: Readonly<Record<string, JsonSchema>>
}

/** True if `from` computes the field, or if the item's property has the type of the schema. Arrays and objects are not compared. */
type Fits<I, N, F> = F extends { readonly from: unknown }
  ? true
  : N extends keyof I
    ? [I[N]] extends [XStatic<F> | object | (F extends { readonly optional: true } ? undefined : never)]
      ? true
      : false
    : false

/** The fields that the item does not have, or has with another type than the schema. */
type Misfits<I, F> = { readonly [N in keyof F]: Fits<I, N, F[N]> extends true ? never : N }[keyof F]

/** The shape, if all fields fit the item. Otherwise a type that names the wrong fields. The compiler then reports these where the shape is used. */
type Checked<I, C extends Context, F> = [Misfits<I, F>] extends [never]
  ? Shape<I, C, F>
  : { readonly [N in Misfits<I, F>]: 'does not fit the item' }

/**
 * Declares an answer once, for its schema and for its view:
 * `shape<Item>()({ id: text, note: optional(text), amount: { ...text, from: ({ cents }) => decimalText(cents, 2) } })`.
 * `C` lists further arguments of the view. `from` receives them after the item.
 * The first call names the type of the item, the second call infers the type of the fields.
 */
export const shape =
  <I, C extends Context = []>() =>
  <const F extends Readonly<Record<string, Field<I, C>>>>(fields: F): Checked<I, C, F> => {
    const declared = Object.entries<Field<I, C>>(fields)
    const required = declared.filter(([, field]) => field.optional !== true).map(([name]) => name)
    const made: Shape<I, C, F> = {
      schema: {
        type: 'object',
        ...(required.length > 0 && { required }),
        properties: Object.fromEntries(
          declared.map(([name, { from: _from, optional: _optional, ...schema }]) => [name, schema]),
        ),
      },
      view: viewOf(declared),
      fields,
    }
    return made as Checked<I, C, F> & Shape<I, C, F>
  }

/** Returns the view. The view uses a plain loop, because lists call it for every item and `Object.fromEntries` takes about four times as long. */
const viewOf = <I, C extends Context>(declared: readonly (readonly [string, Field<I, C>])[]) => {
  const reads = declared.map(([name, { from }]) => ({ name, from }))
  return (item: I, ...context: C): Answer => {
    const answer: Record<string, unknown> = {}
    for (const { name, from } of reads)
      answer[name] = from === undefined ? item[name as keyof I] : from(item, ...context)
    return answer
  }
}

/** A field that the answer can lack. */
export const optional = <const S extends JsonSchema>(schema: S): S & { readonly optional: true } => ({
  ...schema,
  optional: true,
})

export const arrayOf = <const S extends JsonSchema>(items: S) => ({ type: 'array', items }) as const

/** The schema of an object that can be null. */
export const orNull = (schema: ObjectSchema): JsonSchema => ({ ...schema, type: ['object', 'null'] })
