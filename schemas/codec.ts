/**
 * Encodes and decodes events in Confluent's wire format: a zero byte, the id of the schema in four bytes, and the Avro data. lock.json contains
 * the ids.
 */
import { createDecode } from './decode.ts'
import { createEncode } from './encode.ts'
import { FORGOTTEN, SEALED_PERSONAL } from './event.ts'
import type { Event } from './event.ts'
import { isFault } from './fault.ts'
import { createForms } from './forms.ts'
import type { Forms } from './forms.ts'
import { lockOf } from './lock.ts'
import type { Lock, Locked } from './lock.ts'
import { createRegistry } from './registry.ts'
import type { ExtraSchemas, Registry } from './registry.ts'
import type { LogPosition, Sealing } from './sealing.ts'

export interface Codec {
  encode(event: Event): Uint8Array
  /**
   * Decodes an event. Faults: `not-wire-format`, `unknown-schema`, `hostile-payload`, `bad-payload`,
   * `personal-unreadable`, `personal-not-sealed`. `at`: the position in the log. Before the first key was created, events were written with plain
   * personal data. At a later position, plain personal data is a fault.
   */
  decode(value: Uint8Array, at?: LogPosition): Event
  /**
   * Returns the envelope and the schema of an encoded event, without its personal field. Needs no keys. Same faults as `decode`.
   * `event`: the event that was encoded, if the caller has it. Without `event`, decodes `value`.
   */
  readonly head?: (value: Uint8Array, event?: Pick<Event, 'type' | 'meta'>) => Head
  /** Creates the keys that `encode` needs for these events. Returns undefined if all these keys exist. */
  readonly keysFor?: (events: readonly Event[]) => Promise<void> | undefined
  /** Fetches the keys that `decode` needs for these values. To be called after `decode` threw `key-not-loaded`. */
  readonly keysOf?: (values: Iterable<Uint8Array>) => Promise<void>
  /**
   * Decodes without keys: `personal` is `SEALED_PERSONAL` if the event has a sealed field. For people who read the
   * log, never for folds.
   */
  readonly decodeSealed?: (value: Uint8Array) => Event
}

export interface Head extends Pick<Event, 'type' | 'meta'> {
  readonly schema: Pick<Locked, 'name' | 'version'>
}

export interface CodecOptions extends ExtraSchemas {
  /** The folder with the schemas of a domain in a package of its own. */
  readonly folder?: URL | undefined
  readonly lock?: Lock
  /** Seals and opens personal fields. Absent: personal fields are written plain, for tests and tutorials. */
  readonly sealing?: Sealing
}

export const openCodec = (options: CodecOptions = {}): Codec => {
  const { sealing } = options
  const registry = createRegistry(options.lock ?? lockOf(options.folder), options)
  const forms = createForms(registry)
  const skim = createDecode(registry, forms, { isPlain: () => true, opening: () => FORGOTTEN })
  const codec = {
    encode: createEncode(registry, forms, sealing),
    decode: createDecode(registry, forms, sealing),
    head: headOf(registry, skim),
  }
  if (sealing === undefined) return codec
  return {
    ...codec,
    keysFor: (events) => sealing.createKeys(events.filter(({ personal }) => personal !== null).map(({ meta }) => meta)),
    keysOf: keysOf({ registry, forms }, sealing),
    decodeSealed: decodeSealed(skim),
  }
}

/** Decodes an event without opening its sealed field: `personal` is then `FORGOTTEN`. */
type Skim = (value: Uint8Array) => Event

const decodeSealed =
  (skim: Skim): NonNullable<Codec['decodeSealed']> =>
  (value) => {
    const event = skim(value)
    return event.personal === FORGOTTEN ? { ...event, personal: SEALED_PERSONAL } : event
  }

/**
 * Runs `work`. If `work` throws `key-not-loaded`, fetches the keys for `values` and runs it once more. A `work` that throws must have changed
 * nothing.
 */
export const withKeys = async <T>({ keysOf }: Codec, values: () => Iterable<Uint8Array>, work: () => T): Promise<T> => {
  try {
    return work()
  } catch (error) {
    if (keysOf === undefined || !isFault(error, 'key-not-loaded')) throw error
    await keysOf(values())
    return work()
  }
}

const headOf =
  (registry: Registry, skim: Skim): NonNullable<Codec['head']> =>
  (value, event) => {
    const { type, meta } = event ?? skim(value)
    const { name, version } = registry.byId(
      Buffer.from(value.buffer, value.byteOffset, value.byteLength).readInt32BE(1),
    ) as Locked
    return { type, meta, schema: { name, version } }
  }

/** Returns `Codec.keysOf`: decodes the values to collect the subjects whose keys are needed, and fetches these keys. */
const keysOf = ({ registry, forms }: { registry: Registry; forms: Forms }, sealing: Sealing) => {
  const subjects = new Set<string>()
  const skim = createDecode(registry, forms, {
    isPlain: () => true,
    opening: (subject) => {
      subjects.add(subject)
      return FORGOTTEN
    },
  })
  return async (values: Iterable<Uint8Array>): Promise<void> => {
    for (const value of values) {
      try {
        skim(value)
      } catch {
        // A value that cannot be decoded needs no key. `decode` reports the reason.
      }
    }
    const wanted = [...subjects]
    subjects.clear()
    await sealing.load(wanted)
  }
}
