import type { Key, Stored } from '../../../projections/item.ts'
import { pages } from '../../../projections/table.ts'
import { removing, replacing, type Store } from '../../engine/ports/store.ts'
import type { Secret, Secrets } from '../../engine/ports/secrets.ts'
import { beingForgotten, NO_SECRET } from '../../engine/people/key-store-rules.ts'
import { changeRow } from '../../engine/rows/change-row.ts'
import { itemOf, personKey, rowOf, withKey, wrappingOf } from './key-rows.ts'
import type { Wrapping } from './wrap.ts'

export interface TableSecrets extends Secrets {
  /** Removes all secrets of a person who is being forgotten, so that no process can write one at the same time. */
  dropAll(subject: string): Promise<void>
}

const PREFIX = 'SECRET#'
const PAGE = 100
const secretKey = (subject: string, name: string): Key => ({ PK: personKey(subject).PK, SK: `${PREFIX}${name}` })
const aboutSecret = (subject: string, name: string): string => JSON.stringify(['secret', subject, name])

/** The secrets in the table of keys: one row per secret, wrapped like a data key. */
export const createTableSecrets = ({
  store,
  wrapping,
}: {
  readonly store: Store
  readonly wrapping: Wrapping
}): TableSecrets => {
  const open = (row: Stored, subject: string, name: string): Secret => ({
    version: Number(row['version']),
    value: Buffer.from(
      wrappingOf(wrapping, String(row['wrapping'])).unwrap(String(row['wrapped']), aboutSecret(subject, name)),
    ).toString(),
  })
  const write: Secrets['write'] = async (subject, name, { expect, value }) => {
    const wrapped = wrapping.wrap(Buffer.from(value), aboutSecret(subject, name))
    for (;;) {
      const [person, secret] = await store.load([personKey(subject), secretKey(subject, name)])
      const row = rowOf(person)
      if (row.forgetting) throw beingForgotten([subject])
      if (Number(secret?.['version'] ?? 0) !== expect)
        return secret === undefined ? NO_SECRET : open(secret, subject, name)
      const stored = { ...secretKey(subject, name), version: expect + 1, wrapped, wrapping: wrapping.id }
      // The commit also writes the row of the person, so that it fails if another process begins to forget the person.
      const writes = [
        replacing(person, itemOf(subject, withKey(row, { subject, wrapping }))),
        replacing(secret, stored),
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
    dropAll: async (subject) => {
      const reader = store.reader(() => 0)
      for await (const rows of pages(reader, { pk: personKey(subject).PK, prefix: PREFIX, limit: PAGE }))
        await store.commit(rows.map((row) => [[removing(row as Stored)]]))
    },
  }
}
