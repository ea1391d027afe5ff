import { randomBytes } from 'node:crypto'
import type { Item, Key, Stored } from '../../../projections/item.ts'
import { personOf } from '../../../projections/subject.ts'
import type { TableSpec } from '../../../projections/table.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { Person, PersonalLogKey } from '../../engine/ports/key-store.ts'
import { NO_WRAPPING, type Wrapping } from './wrap.ts'

export const KEYS_TABLE: TableSpec = { name: 'tributary-keys', ttl: 'ttl', indexes: [] }

/** A person's row. `key` is the person's data key, encrypted (wrapped) with the key-encryption key. */
export interface KeyRow extends Omit<Person, 'key'> {
  readonly key: { readonly id: string; readonly wrapped: string; readonly wrapping: string } | undefined
  /** Log keys that an earlier release stored here. Later releases store each log key in a row of its own. */
  readonly places: readonly PersonalLogKey[]
}

export const personKey = (subject: string): Key => ({ PK: `PERSON#${subject}`, SK: 'KEY' })
export const PLACE = 'PLACE#'
export const placeKey = (subject: string, { domain, key }: PersonalLogKey): Key => ({
  PK: personKey(subject).PK,
  SK: `${PLACE}${domain}#${key}`,
})
export const PART = 'PART#'
export const partKey = (subject: string): Key => ({ PK: personKey(personOf(subject)).PK, SK: `${PART}${subject}` })
export const aboutKey = (subject: string, id: string): string => `${subject} (${id})`

/**
 * Returns the wrapping (encryption) with this id, which a stored key names. Keys that were stored unwrapped stay readable after a key-encryption key
 * is configured.
 */
export const wrappingOf = (wrapping: Wrapping, id: string): Wrapping => {
  if (id === wrapping.id) return wrapping
  if (id === NO_WRAPPING.id) return NO_WRAPPING
  throw new Fault(
    'key-encryption-key-wrong',
    `The keys in ${KEYS_TABLE.name} are wrapped by another key-encryption key than the configured one. Nothing was changed. Set TRIBUTARY_KEY_ENCRYPTION_KEY to the key that wrapped them.`,
    { retriable: true },
  )
}

export const rowOf = (item: Stored | undefined): KeyRow => ({
  key:
    item?.['wrapped'] === undefined
      ? undefined
      : { id: String(item['id']), wrapped: String(item['wrapped']), wrapping: String(item['wrapping']) },
  destroyed: (item?.['destroyed'] ?? []) as readonly string[],
  places: ((item?.['places'] ?? []) as readonly (readonly [string, string])[]).map(([domain, key]) => ({
    domain,
    key,
  })),
  forgetting: item?.['forgetting'] === true,
})

export const itemOf = (subject: string, { key, destroyed, places, forgetting }: KeyRow): Item => ({
  ...personKey(subject),
  ...key,
  destroyed: [...destroyed],
  ...(places.length > 0 && { places: places.map(({ domain, key: at }) => [domain, at]) }),
  forgetting,
})

/** The row with a data key: its own, or a new one. */
export const withKey = (
  row: KeyRow,
  { subject, wrapping }: { readonly subject: string; readonly wrapping: Wrapping },
): KeyRow => {
  const id = randomBytes(8).toString('hex')
  return {
    ...row,
    key: row.key ?? { id, wrapped: wrapping.wrap(randomBytes(32), aboutKey(subject, id)), wrapping: wrapping.id },
  }
}
