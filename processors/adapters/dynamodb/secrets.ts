import type { Key, Stored } from '../../../projections/item.ts'
import { isPart } from '../../../projections/subject.ts'
import { replacing, type Store } from '../../engine/ports/store.ts'
import type { Secret, Secrets } from '../../engine/ports/secrets.ts'
import { NO_SECRET, refusalOf, throwFirst } from '../../engine/people/key-store-rules.ts'
import { changeRow } from '../../engine/rows/change-row.ts'
import { itemOf, partKey, personKey, rowOf, withKey, wrappingOf } from './key-rows.ts'
import type { Wrapping } from './wrap.ts'

export const SECRET = 'SECRET#'
const secretKey = (subject: string, name: string): Key => ({ PK: personKey(subject).PK, SK: `${SECRET}${name}` })
const aboutSecret = (subject: string, name: string): string => JSON.stringify(['secret', subject, name])

/** The secrets in the table of keys: one row per secret, wrapped like a data key. */
export const createTableSecrets = ({
  store,
  wrapping,
}: {
  readonly store: Store
  readonly wrapping: Wrapping
}): Secrets => {
  const open = (row: Stored, subject: string, name: string): Secret => ({
    version: Number(row['version']),
    value: Buffer.from(
      wrappingOf(wrapping, String(row['wrapping'])).unwrap(String(row['wrapped']), aboutSecret(subject, name)),
    ).toString(),
  })
  const write: Secrets['write'] = async (subject, name, { expect, value }) => {
    const wrapped = wrapping.wrap(Buffer.from(value), aboutSecret(subject, name))
    for (;;) {
      const part = isPart(subject) ? [partKey(subject)] : []
      const [person, secret, partRow] = await store.load([personKey(subject), secretKey(subject, name), ...part])
      const row = rowOf(person)
      throwFirst([refusalOf(subject, row)])
      if (Number(secret?.['version'] ?? 0) !== expect)
        return secret === undefined ? NO_SECRET : open(secret, subject, name)
      const stored = { ...secretKey(subject, name), version: expect + 1, wrapped, wrapping: wrapping.id }
      // The commit also writes the row of the person, so that it fails if another process begins to forget the person.
      const writes = [
        replacing(person, itemOf(subject, withKey(row, { subject, wrapping }))),
        replacing(secret, stored),
        ...(partRow === undefined ? part.map((key) => replacing(undefined, key)) : []),
      ]
      const [outcome] = await store.commit([[writes]])
      if (outcome?.applied === 'all') return undefined
    }
  }
  return {
    read: async (subject, name) => {
      const [row] = await store.load([secretKey(subject, name)])
      return row && open(row, subject, name)
    },
    write,
    drop: async (subject, name) => {
      await changeRow(store, secretKey(subject, name), () => null)
    },
  }
}
