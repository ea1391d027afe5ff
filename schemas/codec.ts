/** Events to bytes and back: Confluent's wire format (a zero, the schema's id in four bytes, Avro), ids from lock.json. */
import { createDecode } from './decode.ts'
import { createEncode } from './encode.ts'
import type { Event } from './event.ts'
import { createForms } from './forms.ts'
import { readLock } from './lock.ts'
import type { Lock } from './lock.ts'
import { createRegistry } from './registry.ts'
import type { ExtraSchemas } from './registry.ts'

export interface Codec {
  encode(event: Event): Uint8Array
  /** Refuses with `not-wire-format`, `unknown-schema`, `hostile-payload` or `bad-payload`. */
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
