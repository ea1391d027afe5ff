/** Events to bytes and back: Confluent's wire format (a zero, the schema's id in four bytes, Avro), ids from lock.json. */
import type { Type } from 'avsc'
import { shortName } from './avro.ts'
import { compileType, framedOf, headOf, PERSONAL_FIELD } from './compile.ts'
import { aim, createCursor, LIMITS } from './cursor.ts'
import type { Cursor } from './cursor.ts'
import { FORGOTTEN } from './event.ts'
import type { Event, EventMeta } from './event.ts'
import { Fault } from './fault.ts'
import { createGuard } from './guard.ts'
import type { Guard } from './guard.ts'
import { readLock } from './lock.ts'
import type { Lock, Locked } from './lock.ts'
import { createRegistry } from './registry.ts'
import type { ExtraSchemas, Registry } from './registry.ts'
import { isEvent } from './sources.ts'

export interface Codec {
  encode(event: Event): Uint8Array
  decode(value: Uint8Array): Event
}

export interface CodecOptions extends ExtraSchemas {
  readonly lock?: Lock
}

export const openCodec = (options: CodecOptions = {}): Codec => {
  const registry = createRegistry(options.lock ?? readLock(), options)
  const forms = createForms(registry)
  return { encode: createEncode(registry, forms), decode: createDecode(registry, forms) }
}

/** What is needed to read what one schema wrote, and to write it if it is the newest. */
interface Form {
  readonly written: Locked
  /** The event's type, or null for a personal record. */
  readonly event: string | null
  /** The newest schema of the event's personal record. */
  readonly personal: Locked | undefined
  readonly guard: Guard
  readonly type: Type
  /** Absent where the writer's schema is the newest. */
  readonly resolver: ReturnType<Type['createResolver']> | undefined
}

type Forms = (schema: Locked) => Form

/** Compiled when first used, and once. */
const createForms = (registry: Registry): Forms => {
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

const HEADER = 5

const createDecode = (registry: Registry, forms: Forms): Codec['decode'] => {
  const cursor = createCursor()
  const formAt = (buf: Buffer, from: number): Form => {
    if (buf.length - from < HEADER || buf[from] !== 0) throw notWireFormat(buf.subarray(from))
    const id = buf.readInt32BE(from + 1)
    const schema = registry.byId(id)
    if (schema === undefined) throw new Fault('unknown-schema', `No schema has the id ${id}. Upgrade to a version that knows it, then retry what was parked.`)
    return forms(schema)
  }
  /** The personal field ends its event, so both end where the bytes do. */
  const readPersonal = (event: Form, buf: Buffer, from: number): unknown => {
    const form = formAt(buf, from)
    if (event.personal === undefined || registry.reader(form.written) !== event.personal) {
      throw new Fault('bad-payload', `The personal field of a ${event.written.name} holds a ${form.written.name}. Mend the producer that wrote it.`)
    }
    const value = form.guard(cursor, from + HEADER, buf.length)
    return form.resolver === undefined ? value : resolve(form, buf, from)
  }
  return (value) => {
    const buf = Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    const form = formAt(buf, 0)
    if (form.event === null) throw new Fault('bad-payload', `A ${form.written.name} is not an event. Mend the producer that wrote it.`)
    aim(cursor, buf)
    const framed = form.guard(cursor, HEADER, buf.length) as Head & { readonly personal: number | null }
    const { meta, data } = form.resolver === undefined ? framed : (resolve(form, buf, 0) as Head)
    return { type: form.event, meta, data, personal: framed.personal === null ? null : readPersonal(form, buf, framed.personal) }
  }
}

interface Head {
  readonly meta: EventMeta
  readonly data: unknown
}

/** What an older version wrote, as the newest reads it; the guard has let it pass. */
const resolve = ({ type, resolver, written }: Form, buf: Buffer, from: number): unknown => {
  try {
    return type.decode(buf, from + HEADER, resolver).value
  } catch (cause) {
    throw new Fault('bad-payload', `Cannot read a ${written.name} of version ${written.version}: ${reasonOf(cause)}. Mend the producer that wrote it.`, { cause })
  }
}

const notWireFormat = (buf: Buffer): Fault =>
  new Fault('not-wire-format', `${buf.length} bytes that begin with 0x${buf.toString('hex', 0, 1)} are not in wire format (a zero, a schema id, Avro). Find who else writes to this topic.`)

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const createEncode = (registry: Registry, forms: Forms): Codec['encode'] => {
  const scratch = Buffer.alloc(LIMITS.bytes)
  const cursor = createCursor()
  const write = (form: Form, value: object): number => {
    demand(form, value)
    scratch[0] = 0
    scratch.writeInt32BE(form.written.id, 1)
    return fitting(form, form.type.encode(value, scratch, HEADER))
  }
  const take = (form: Form, value: object, end: number): Buffer => {
    const buf = Buffer.from(scratch.subarray(0, end))
    verify(form, { value, buf, cursor })
    return buf
  }
  const writePersonal = (form: Form, { type, personal }: Event): Buffer | null => {
    if (personal === null) return null
    if (personal === FORGOTTEN) throw new Fault('bad-event', `A ${type} whose personal data was forgotten cannot be written again.`)
    if (form.personal === undefined) throw new Fault('bad-event', `A ${type} has no personal record. Set personal to null, or add ${type}Personal.avsc.`)
    const about = forms(form.personal)
    return take(about, personal as object, write(about, personal as object))
  }
  return (event) => {
    const schema = registry.event(event.type)
    if (schema === undefined) throw new Fault('bad-event', `No schema is named ${event.type}. Add its .avsc file and run npm run codegen -- --lock.`)
    const form = forms(schema)
    const personal = writePersonal(form, event)
    const head = { meta: event.meta, data: event.data }
    return take(form, head, fitting(form, PERSONAL_FIELD.encode(personal, scratch, write(form, head))))
  }
}

const fitting = ({ written }: Form, end: number): number => {
  if (end < 0) throw new Fault('event-too-large', `A ${written.name} takes more than ${LIMITS.bytes} bytes. Say it in several events.`)
  return end
}

/** What the schema does not say would be dropped in silence. */
const demand = ({ type, written }: Form, value: object): void => {
  if (type.isValid(value, { noUndeclaredFields: true })) return
  const wrong: string[] = []
  type.isValid(value, { noUndeclaredFields: true, errorHook: (path) => void wrong.push(path.join('.')) })
  throw new Fault('bad-event', `A ${written.name} is not what its schema says: see ${wrong.join(', ') || 'its shape'}. Compare schemas/generated.`)
}

const REPLACEMENT = Buffer.from('\uFFFD')

/** What is written can be read, and says the same. The library replaces lone surrogates, and loses the sign of longs below -(2^52). */
const verify = ({ guard, written }: Form, { value, buf, cursor }: { value: object; buf: Buffer; cursor: Cursor }): void => {
  const read = readBack({ guard, written }, buf, cursor)
  if (!cursor.wide && !buf.includes(REPLACEMENT)) return
  if (!same(value, read)) throw new Fault('bad-event', `A ${written.name} holds a lone surrogate, or a number below -(2^52): it would not come back as it is.`)
}

const readBack = ({ guard, written }: Pick<Form, 'guard' | 'written'>, buf: Buffer, cursor: Cursor): unknown => {
  try {
    aim(cursor, buf)
    return guard(cursor, HEADER, buf.length)
  } catch (cause) {
    throw new Fault('bad-event', `A ${written.name} could not be read again: ${reasonOf(cause)}`, { cause })
  }
}

/** What was left out came back as its default. */
const same = (said: unknown, read: unknown): boolean => {
  if (said === undefined || said === read) return true
  if (typeof said !== 'object' || said === null || typeof read !== 'object' || read === null) return false
  if (Buffer.isBuffer(said)) return Buffer.isBuffer(read) && said.equals(read)
  return Object.entries(said).every(([name, member]) => same(member, (read as { readonly [name: string]: unknown })[name]))
}
