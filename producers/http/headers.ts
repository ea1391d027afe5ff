import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { HASHED_KEY, type EventMeta } from '../../schemas/event.ts'
import type { Position } from '../../processors/engine/ports/log.ts'
import { mistake, type Problem } from './problem.ts'

const KEY = /^[\x21-\x7e]{1,128}$/

interface RequestParts {
  readonly headers: IncomingHttpHeaders
  readonly method: string
  /** The path and the query. */
  readonly target: string
  readonly body: unknown
}

/**
 * Returns the caller's Idempotency-Key and a hash of the method, the target and the body. The fold refuses the same key with another hash. Null
 * if the request has no key. Throws if the key is malformed.
 */
export const requestOf = ({ headers, method, target, body }: RequestParts): EventMeta['request'] => {
  const key = headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || !KEY.test(key)) {
    throw mistake(400, {
      pointer: 'header/Idempotency-Key',
      code: 'bad-idempotency-key',
      detail: 'Idempotency-Key must be 1 to 128 visible ASCII characters, for instance a UUID.',
    })
  }
  return { key, hash: hash('sha256', `${method} ${target}\n${JSON.stringify(sortedKeys(body)) ?? ''}`, 'hex') }
}

/** The log and the tables store this hash instead of the Idempotency-Key, because the key can be any text that a person typed. */
export const hashedKey = (user: string, key: string): string =>
  `${HASHED_KEY}${hash('sha256', `${user}\n${key}`, 'hex')}`

const sortedKeys = (value: unknown): unknown => {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(sortedKeys)
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sortedKeys(member)]),
  )
}

export const wantsAsync = (headers: IncomingHttpHeaders): boolean => {
  const prefer = headers['prefer']
  return (
    prefer !== undefined &&
    String(prefer)
      .toLowerCase()
      .split(/[,;]/)
      .some((part) => part.trim() === 'respond-async')
  )
}

/** Returns the value of the header `Tributary-Event`: `partition:offset:id`. */
export const eventReference = ({ partition, offset }: Position, eventId: string): string =>
  `${partition}:${offset}:${eventId}`

const REFERENCE = /^(\d{1,9}):(\d{1,15}):[A-Za-z0-9_.:-]{1,128}$/

/** Reads `Tributary-After`: the position of an event that the answer must include. Undefined if the request does not have this header. */
export const afterOf = (headers: IncomingHttpHeaders): Position | undefined => {
  const after = headers['tributary-after']
  if (after === undefined) return undefined
  const match = typeof after === 'string' ? REFERENCE.exec(after) : null
  if (!match) {
    throw badReference('Tributary-After must be the Tributary-Event of an earlier answer (partition:offset:id).')
  }
  return { partition: Number(match[1]), offset: Number(match[2]) }
}

export const badReference = (detail: string): Problem =>
  mistake(400, { pointer: 'header/Tributary-After', code: 'bad-event-reference', detail })
