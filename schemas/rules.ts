/** The checks of a single schema. */
import { fullName, isUnion } from './avro.ts'
import type { Field, RecordSchema, Schema } from './avro.ts'
import { createScale } from './weight.ts'
import { ENVELOPE, isEvent } from './sources.ts'
import type { Source } from './sources.ts'

export type Rule =
  | 'documented'
  | 'event-shape'
  | 'nullable-only'
  | 'weighty-items'
  | 'one-type-one-event'
  | 'lock-intact'
  | 'lock-current'
  | 'readable-by-all-versions'

export interface Problem {
  readonly schema: string
  readonly rule: Rule
  readonly detail: string
}

export const docProblems = ({ schema, path }: Source): readonly Problem[] =>
  schema.doc
    ? []
    : [
        {
          schema: fullName(schema),
          rule: 'documented',
          detail: `It has no doc. Write a /** comment */ that explains it before it in schemas/${path}.`,
        },
      ]

/** The problems of an expanded record. */
export const shapeProblems = (schema: RecordSchema): readonly Problem[] => {
  const found: Problem[] = isEvent(schema) ? eventProblems(schema) : []
  visit(schema, createScale(schema), (rule, detail) => void found.push({ schema: schema.name, rule, detail }))
  return found
}

const eventProblems = ({ name, fields }: RecordSchema): Problem[] => {
  const detail =
    'An event begins with meta of type tributary.EventMeta and ends with personal, ["null", "bytes"] with default null.'
  const last = fields.at(-1)
  const sealed = last?.name === 'personal' && JSON.stringify(last.type) === '["null","bytes"]' && last.default === null
  return isEnvelope(fields[0]) && sealed ? [] : [{ schema: name, rule: 'event-shape', detail }]
}

const isEnvelope = (field: Field | undefined): boolean => {
  const type = field?.type
  return typeof type === 'object' && 'name' in type && type.name === ENVELOPE
}

type Found = (rule: Rule, detail: string) => void

const visit = (schema: Schema, weigh: (schema: Schema) => number, found: Found): void => {
  if (typeof schema === 'string') return
  if (isUnion(schema)) {
    if (schema.length !== 2 || schema[0] !== 'null') {
      found('nullable-only', `The union ${JSON.stringify(schema)} is not null and one other type. Use several fields.`)
    }
    return schema.forEach((branch) => visit(branch, weigh, found))
  }
  if (schema.type === 'record') return schema.fields.forEach((field) => visit(field.type, weigh, found))
  if (schema.type !== 'array') return
  if (weigh(schema.items) === 0) {
    found(
      'weighty-items',
      'The items of this array take no bytes, so a short record could claim any number of items. Store their number in a long.',
    )
  }
  visit(schema.items, weigh, found)
}
