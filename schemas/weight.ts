import { definitionsOf, isUnion } from './avro.ts'
import type { NamedSchema, Schema } from './avro.ts'

const WEIGHTS: { readonly [name: string]: number } = { null: 0, double: 8 }

/** Returns a function that returns the minimum number of bytes of a value of a type in the schema. */
export const createScale = (whole: NamedSchema): ((part: Schema) => number) => {
  const named = definitionsOf(whole)
  const weigh = (part: Schema): number => {
    if (typeof part === 'string') {
      const target = named.get(part)
      return target === undefined ? (WEIGHTS[part] ?? 1) : weigh(target)
    }
    if (isUnion(part)) return 1 + Math.min(...part.map(weigh))
    if (part.type === 'record') return part.fields.reduce((sum, field) => sum + weigh(field.type), 0)
    return WEIGHTS[part.type] ?? 1
  }
  return weigh
}
