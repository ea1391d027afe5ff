import { PERSONAL_FIELD } from './compile.ts'
import { aim, createCursor, LIMITS } from './cursor.ts'
import type { Cursor } from './cursor.ts'
import { FORGOTTEN } from './event.ts'
import type { Event, EventMeta } from './event.ts'
import { Fault, messageOf } from './fault.ts'
import { HEADER } from './forms.ts'
import type { Form, Forms } from './forms.ts'
import type { Registry } from './registry.ts'
import { boundTo, seal } from './sealing.ts'
import type { Sealing } from './sealing.ts'

export const createEncode = (
  registry: Registry,
  forms: Forms,
  keys?: Pick<Sealing, 'current'>,
): ((event: Event) => Uint8Array) => {
  const scratch = Buffer.alloc(LIMITS.bytes)
  const cursor = createCursor()
  /** Writes `value` in wire format. `ending`: the bytes of the personal field of an event, or null. Absent for a personal record. */
  const write = (form: Form, value: object, ending?: Buffer | null): Buffer => {
    demand(form, value)
    scratch[0] = 0
    scratch.writeInt32BE(form.written.id, 1)
    const end = fitting(form, form.type.encode(value, scratch, HEADER))
    const buf = Buffer.from(
      scratch.subarray(0, ending === undefined ? end : fitting(form, PERSONAL_FIELD.encode(ending, scratch, end))),
    )
    verify(form, { value, buf, cursor })
    return buf
  }
  const writePersonal = (form: Form, { type, meta, personal }: Event): Buffer | null => {
    if (personal === null) return null
    if (personal === FORGOTTEN) throw badEvent(`A ${type} whose personal data was forgotten cannot be written again.`)
    if (form.personal === undefined)
      throw badEvent(`A ${type} has no personal record. Set personal to null, or declare the record ${type}Personal.`)
    return sealed(form, meta, write(forms(form.personal), personal as object))
  }
  const sealed = ({ written }: Form, meta: EventMeta, plain: Buffer): Buffer => {
    if (keys === undefined) return plain
    if (meta.subjectId === null)
      throw badEvent(`A ${written.name} has a personal field without a subject. Set meta.subjectId.`)
    return seal(keys.current(meta), plain, boundTo(written.name, meta))
  }
  return (event) => {
    const schema = registry.event(event.type)
    if (schema === undefined)
      throw badEvent(
        `No schema is named ${event.type}. Declare it in the .avdl file of its domain and run npm run codegen -- --lock.`,
      )
    const form = forms(schema)
    return write(form, { meta: event.meta, data: event.data }, writePersonal(form, event))
  }
}

const badEvent = (message: string, cause?: unknown): Fault => new Fault('bad-event', message, { cause })

const fitting = ({ written }: Form, end: number): number => {
  if (end < 0)
    throw new Fault(
      'event-too-large',
      `A ${written.name} takes more than ${LIMITS.bytes} bytes. Split it into several events.`,
    )
  return end
}

/** Refuses a value that does not match its schema. `avsc` would drop undeclared fields silently. */
const demand = ({ type, written }: Form, value: object): void => {
  if (type.isValid(value, { noUndeclaredFields: true })) return
  const wrong: string[] = []
  type.isValid(value, { noUndeclaredFields: true, errorHook: (path) => void wrong.push(path.join('.')) })
  throw badEvent(
    `A ${written.name} does not match its schema: see ${wrong.join(', ') || 'its shape'}. Compare schemas/generated.`,
  )
}

const REPLACEMENT = Buffer.from('\uFFFD')

/**
 * Checks that the written bytes can be read and give the same value. Compares the values only if `buf` contains a replacement character or a large
 * long: the library replaces lone surrogates, and loses the sign of longs below -(2^52).
 */
const verify = (
  { guard, written }: Form,
  { value, buf, cursor }: { value: object; buf: Buffer; cursor: Cursor },
): void => {
  const read = readBack({ guard, written }, buf, cursor)
  if (!cursor.wide && !buf.includes(REPLACEMENT)) return
  if (same(value, read)) return
  throw badEvent(
    `A ${written.name} contains a lone surrogate or a number below -(2^52), which would be read as another value. Send another one.`,
  )
}

const readBack = ({ guard, written }: Pick<Form, 'guard' | 'written'>, buf: Buffer, cursor: Cursor): unknown => {
  try {
    aim(cursor, buf)
    return guard(cursor, HEADER, buf.length)
  } catch (cause) {
    throw badEvent(`A ${written.name} could not be read again: ${messageOf(cause)}`, cause)
  }
}

/** True if both are equal. A field that `written` does not have is equal to any value, because it was read as its default. */
const same = (written: unknown, read: unknown): boolean => {
  if (written === undefined || written === read) return true
  if (typeof written !== 'object' || written === null || typeof read !== 'object' || read === null) return false
  if (Buffer.isBuffer(written)) return Buffer.isBuffer(read) && written.equals(read)
  return Object.entries(written).every(([name, member]) =>
    same(member, (read as { readonly [name: string]: unknown })[name]),
  )
}
