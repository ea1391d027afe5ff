/** Compiles each schema once, when the schema is first used. */
import type { Type } from 'avsc'
import { shortName } from './avro.ts'
import { compileType, framedOf, headOf } from './compile.ts'
import { createGuard } from './guard.ts'
import type { Guard } from './guard.ts'
import type { Locked } from './lock.ts'
import type { Registry } from './registry.ts'
import { isEvent } from './sources.ts'

/** The number of bytes before the Avro data: a zero byte and the id of the schema in four bytes. */
export const HEADER = 5

/** One compiled schema. It reads the records of this schema, and writes records if this schema is the newest version. */
export interface Form {
  readonly written: Locked
  /** The event's type, or null for a personal record. */
  readonly event: string | null
  /** The newest schema of the personal record of the event. Undefined if the event has no personal record. */
  readonly personal: Locked | undefined
  readonly guard: Guard
  readonly type: Type
  /** Converts a record of an older version to the newest version. Undefined if `written` is the newest version. */
  readonly resolver: ReturnType<Type['createResolver']> | undefined
}

export type Forms = (schema: Locked) => Form

export const createForms = (registry: Registry): Forms => {
  const types = new Map<number, Type>()
  const typeOf = (schema: Locked): Type => {
    const known = types.get(schema.id)
    if (known !== undefined) return known
    const type = compileType(isEvent(schema.schema) ? headOf(schema.schema) : schema.schema)
    types.set(schema.id, type)
    return type
  }
  const forms = new Map<number, Form>()
  const build = (written: Locked): Form => {
    const reader = registry.reader(written)
    const form: Form = {
      written,
      event: isEvent(reader.schema) ? shortName(reader.name) : null,
      personal: registry.personal(reader),
      guard: createGuard(isEvent(written.schema) ? framedOf(written.schema) : written.schema),
      type: typeOf(reader),
      resolver: reader === written ? undefined : typeOf(reader).createResolver(typeOf(written)),
    }
    forms.set(written.id, form)
    return form
  }
  return (schema) => forms.get(schema.id) ?? build(schema)
}
