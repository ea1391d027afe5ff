import { definitionsOf, isUnion } from './avro.ts'
import type { NamedSchema, RecordSchema, Schema } from './avro.ts'

const WEIGHTS: { readonly [name: string]: number } = { null: 0, float: 4, double: 8 }

/** The fewest bytes that a value of a part of the schema takes. */
export const createScale = (whole: NamedSchema): ((part: Schema) => number) => {
  const named = definitionsOf(whole)
  const open = new Set<string>()
  const record = ({ name, fields }: RecordSchema): number => {
    if (open.has(name)) return 0
    open.add(name)
    const weight = fields.reduce((sum, field) => sum + weigh(field.type), 0)
    open.delete(name)
    return weight
  }
  const weigh = (part: Schema): number => {
    if (typeof part === 'string') {
      const target = named.get(part)
      return target === undefined ? (WEIGHTS[part] ?? 1) : weigh(target)
    }
    if (isUnion(part)) return 1 + Math.min(...part.map(weigh))
    if (part.type === 'record') return record(part)
    return part.type === 'fixed' ? part.size : (WEIGHTS[part.type] ?? 1)
  }
  return weigh
}
