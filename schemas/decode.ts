import { aim, createCursor } from './cursor.ts'
import { FORGOTTEN } from './event.ts'
import type { Event, EventMeta } from './event.ts'
import { Fault, messageOf } from './fault.ts'
import { HEADER } from './forms.ts'
import type { Form, Forms } from './forms.ts'
import type { Registry } from './registry.ts'
import { boundTo, keyIdOf, SEALED, unseal } from './sealing.ts'
import type { LogPosition, Sealing } from './sealing.ts'

/** The keys that open personal fields. `keysOf` of the codec passes another implementation, which only collects the people whose keys are needed. */
export type Opening = Pick<Sealing, 'opening' | 'isPlain'>

export const createDecode = (
  registry: Registry,
  forms: Forms,
  keys?: Opening,
): ((value: Uint8Array, at?: LogPosition) => Event) => {
  const cursor = createCursor()
  const formAt = (buf: Buffer, from: number): Form => {
    if (buf.length - from < HEADER || buf[from] !== 0) throw notWireFormat(buf.subarray(from))
    const id = buf.readInt32BE(from + 1)
    const schema = registry.byId(id)
    if (schema === undefined) throw unknownSchema(id)
    return forms(schema)
  }
  /** Reads the personal record that begins at `from`: a plain record from `buf`, a sealed record from the decrypted bytes. */
  const openPersonal = (
    event: Form,
    { buf, from, meta }: { buf: Buffer; from: number; meta: EventMeta },
    at: LogPosition | undefined,
  ): unknown => {
    if (buf[from] !== SEALED) {
      if (keys !== undefined && !keys.isPlain(at)) throw notSealed(event)
      return readPersonal(event, buf, from)
    }
    if (keys === undefined) throw withoutKeys(event)
    const sealed = buf.subarray(from)
    const key = keys.opening(meta.subjectId ?? '', keyIdOf(sealed))
    if (key === FORGOTTEN) return FORGOTTEN
    const plain = unseal(key, sealed, boundTo(event.written.name, meta))
    aim(cursor, plain)
    return readPersonal(event, plain, 0)
  }
  /** Reads a personal record up to the end of `buf`, because the personal field is the last field of an event. */
  const readPersonal = (event: Form, buf: Buffer, from: number): unknown => {
    const form = formAt(buf, from)
    if (event.personal === undefined || registry.reader(form.written) !== event.personal) {
      throw badPayload(`The personal field of a ${event.written.name} contains a ${form.written.name}.`)
    }
    const value = form.guard(cursor, from + HEADER, buf.length)
    return form.resolver === undefined ? value : resolve(form, buf, from)
  }
  return (value, at) => {
    const buf = Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    const form = formAt(buf, 0)
    if (form.event === null) throw badPayload(`A ${form.written.name} is not an event.`)
    aim(cursor, buf)
    const framed = form.guard(cursor, HEADER, buf.length) as Head & { readonly personal: number | null }
    const { meta, data } = form.resolver === undefined ? framed : (resolve(form, buf, 0) as Head)
    return {
      type: form.event,
      meta,
      data,
      personal: framed.personal === null ? null : openPersonal(form, { buf, from: framed.personal, meta }, at),
    }
  }
}

interface Head {
  readonly meta: EventMeta
  readonly data: unknown
}

/** Reads a record of an older version as the newest version. The guard has checked the bytes. */
const resolve = ({ type, resolver, written }: Form, buf: Buffer, from: number): unknown => {
  try {
    return type.decode(buf, from + HEADER, resolver).value
  } catch (cause) {
    throw badPayload(`Cannot read a ${written.name} of version ${written.version}: ${messageOf(cause)}.`, cause)
  }
}

const badPayload = (what: string, cause?: unknown): Fault =>
  new Fault('bad-payload', `${what} Correct the producer that wrote it.`, { cause })

const notSealed = ({ written }: Form): Fault =>
  new Fault(
    'personal-not-sealed',
    `The personal field of a ${written.name} is plain text, and was written after sealing began. Find out which other producer writes to this topic.`,
  )

const withoutKeys = ({ written }: Form): Fault =>
  new Fault(
    'personal-without-keys',
    `The personal field of a ${written.name} is sealed, and no key store was opened. Open the codec with one.`,
    { retriable: true },
  )

const unknownSchema = (id: number): Fault =>
  new Fault(
    'unknown-schema',
    `No schema has the id ${id}. Upgrade to a version that has it, then retry the parked keys.`,
  )

const notWireFormat = (buf: Buffer): Fault => {
  const what = `${buf.length} bytes that begin with 0x${buf.toString('hex', 0, 1)} are not in wire format (a zero, a schema id, Avro).`
  return new Fault('not-wire-format', `${what} Find out which other producer writes to this topic.`)
}
