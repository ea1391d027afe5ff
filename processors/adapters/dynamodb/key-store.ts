import type { Key } from '../../../projections/item.ts'
import { type Founding, type KeyStore, type Person, type PersonalLogKey } from '../../engine/ports/key-store.ts'
import { changeRow } from '../../engine/rows/change-row.ts'
import { replacing, type Store } from '../../engine/ports/store.ts'
import { KEYS_TABLE, aboutKey, itemOf, personKey, rowOf, withKey, wrappingOf, type PersonRow } from './key-rows.ts'
import { createTableSecrets } from './secrets.ts'
import type { Wrapping } from './wrap.ts'
import { afterStep, beingForgotten, keysGone } from '../../engine/people/key-store-rules.ts'

export interface KeyTableOptions {
  /** The store of the key table. It supports conditional writes and consistent reads. */
  readonly store: Store
  readonly wrapping: Wrapping
  /**
   * Creates the founding (the first entry) of a new store. Pass it only if no store ever existed, because a new store must never replace a lost
   * store. Without `found`, a missing store is an error.
   */
  readonly found?: () => Promise<Founding>
}

const FOUNDING: Key = { PK: 'FOUNDING', SK: 'FOUNDING' }
/** The key store in a DynamoDB table that all processes share: one row per person, and one row per secret. Each change of a row is conditional on the row that was read. */
export const openKeyTable = async ({ store, wrapping, found }: KeyTableOptions): Promise<KeyStore> => {
  const founding = await foundingIn(store, { wrapping, ...(found && { found }) })
  const rows = async (subjects: readonly string[]) =>
    (await store.load(subjects.map(personKey))).map((item) => ({ item, row: rowOf(item) }))
  const open = (subject: string, { key, ...row }: PersonRow): Person => ({
    ...row,
    key: key && {
      id: key.id,
      bytes: wrappingOf(wrapping, key.wrapping).unwrap(key.wrapped, aboutKey(subject, key.id)),
    },
  })
  const tryKeep = async (
    people: ReadonlyMap<string, readonly PersonalLogKey[]>,
  ): Promise<ReadonlyMap<string, readonly PersonalLogKey[]>> => {
    const subjects = [...people.keys()]
    const found = await rows(subjects)
    const refused = subjects.filter((_, index) => found[index]?.row.forgetting)
    if (refused.length > 0) throw beingForgotten(refused)
    const changes = subjects.flatMap((subject, index) => {
      const { item, row } = found[index] as (typeof found)[number]
      const changed = withKeyAndPlaces(row, { subject, places: people.get(subject) ?? [], wrapping })
      return changed === undefined ? [] : [{ subject, write: replacing(item, itemOf(subject, changed)) }]
    })
    const outcomes = await store.commit(changes.map(({ write }) => [[write]]))
    const conflicts = changes.filter((_, index) => outcomes[index]?.applied !== 'all')
    return new Map(conflicts.map(({ subject }) => [subject, people.get(subject) ?? []]))
  }
  const secrets = createTableSecrets({ store, wrapping })
  return {
    founding,
    shared: true,
    secrets,
    load: async (subjects) =>
      (await rows(subjects)).map(({ item, row }, index) =>
        item === undefined ? undefined : open(subjects[index] as string, row),
      ),
    ensureKeys: async (people) => {
      let remaining = people
      while (remaining.size > 0) remaining = await tryKeep(remaining)
    },
    step: async (subject, step) => {
      await changeRow(store, personKey(subject), (item) => {
        const row = item && afterStep(rowOf(item), step)
        return row && itemOf(subject, row)
      })
      if (step === 'destroyed') await secrets.dropAll(subject)
    },
    close: () => store.close(),
  }
}

const foundingIn = async (store: Store, { wrapping, found }: Omit<KeyTableOptions, 'store'>): Promise<Founding> => {
  const [stored] = await store.load([FOUNDING])
  if (stored === undefined) {
    if (found === undefined) throw keysGone(`table ${KEYS_TABLE.name}`)
    const { id, plainBefore } = await found()
    // If another process has stored a founding meanwhile, this write changes nothing, and the stored founding is read below.
    await store.commit([
      [[replacing(undefined, { ...FOUNDING, id, wrapping: wrapping.id, plainBefore: JSON.stringify(plainBefore) })]],
    ])
    return foundingIn(store, { wrapping })
  }
  wrappingOf(wrapping, String(stored['wrapping']))
  return { id: String(stored['id']), plainBefore: JSON.parse(String(stored['plainBefore'])) as Founding['plainBefore'] }
}

/**
 * Returns the row after adding a key and the places (log keys with events about the person) that it does not have yet. Undefined if nothing is
 * missing.
 */
const withKeyAndPlaces = (
  row: PersonRow,
  { subject, places, wrapping }: { subject: string; places: readonly PersonalLogKey[]; wrapping: Wrapping },
): PersonRow | undefined => {
  const missing = places.filter(
    (place, index) =>
      ![...row.places, ...places.slice(0, index)].some(
        ({ domain, key }) => domain === place.domain && key === place.key,
      ),
  )
  if (row.key !== undefined && missing.length === 0) return undefined
  return { ...withKey(row, { subject, wrapping }), places: [...row.places, ...missing] }
}
