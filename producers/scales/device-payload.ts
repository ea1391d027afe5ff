import { aim, createCursor } from '../../schemas/cursor.ts'
import { Fault, isFault } from '../../schemas/fault.ts'
import { createGuard } from '../../schemas/guard.ts'
import { parseBody } from '../http/json.ts'
import { Problem } from '../http/problem.ts'
import { ENVELOPE } from './device-envelope.ts'

/** The maximum size of a payload. An outside broker may accept longer payloads. These are quarantined. */
const MOST_BYTES = 64 * 1024

const EMPTY = 0xc15d213aa4d7a795n

const TABLE = Array.from({ length: 256 }, (_, index) => {
  let value = BigInt(index)
  for (let bit = 0; bit < 8; bit += 1) value = (value >> 1n) ^ (value & 1n ? EMPTY : 0n)
  return value
})

/** CRC-64-AVRO of Avro's specification. `canonical`: a schema in canonical form. */
export const avroFingerprint = (canonical: string): Buffer => {
  let value = EMPTY
  for (const byte of Buffer.from(canonical))
    value = (value >> 8n) ^ (TABLE[Number((value ^ BigInt(byte)) & 0xffn)] ?? 0n)
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

/** The header of Avro's single-object encoding: two bytes that JSON never begins with, then the fingerprint of the writer's schema. */
export const AVRO_HEADER = Buffer.concat([Buffer.from([0xc3, 0x01]), avroFingerprint(JSON.stringify(ENVELOPE))])

const guard = createGuard(ENVELOPE)
const cursor = createCursor()

/** Parses a payload in JSON or Avro. Throws the Fault `malformed-payload` with the reason if it is neither. */
export const parsePayload = (bytes: Buffer): unknown => {
  if (bytes.length === 0) throw malformed('The payload is empty.')
  if (bytes.length > MOST_BYTES)
    throw malformed(`The payload has ${bytes.length} bytes. At most ${MOST_BYTES} are allowed.`)
  try {
    return bytes[0] === AVRO_HEADER[0] ? parseAvro(bytes) : parseBody(bytes)
  } catch (error) {
    if (error instanceof Problem || isFault(error)) throw malformed(error.message)
    throw error
  }
}

const parseAvro = (bytes: Buffer): unknown => {
  if (!bytes.subarray(0, AVRO_HEADER.length).equals(AVRO_HEADER))
    throw malformed('The payload is Avro with another schema than the envelope of docs/devices.md.')
  aim(cursor, bytes)
  return guard(cursor, AVRO_HEADER.length, bytes.length)
}

const malformed = (message: string) => new Fault('malformed-payload', message)
