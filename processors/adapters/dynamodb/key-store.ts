import type { Key, Stored } from '../../../projections/item.ts'
import { isPart } from '../../../projections/subject.ts'
import { pages } from '../../../projections/table.ts'
import { keysGone, refusalOf, throwFirst, afterStep } from '../../engine/people/key-store-rules.ts'
import {
  PLACES_PER_PAGE,
  type Founding,
  type KeyStore,
  type Person,
  type PersonalLogKey,
} from '../../engine/ports/key-store.ts'
import { MAX_ACTIONS, removing, replacing, type Store, type Write } from '../../engine/ports/store.ts'
import { changeRow } from '../../engine/rows/change-row.ts'
import {
  aboutKey,
  itemOf,
  KEYS_TABLE,
  PART,
  partKey,
  personKey,
  PLACE,
  placeKey,
  rowOf,
  withKey,
  wrappingOf,
  type KeyRow,
} from './key-rows.ts'
import { createTableSecrets, SECRET } from './secrets.ts'
import type { Wrapping } from './wrap.ts'

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
const PAGE = 100

/**
 * The key store in a DynamoDB table that all processes share: one row per person, and one row per log key, per part and per secret of a person.
 * Each change is conditional on the person's row that was read.
 */
export const openKeyTable = async ({ store, wrapping, found }: KeyTableOptions): Promise<KeyStore> => {
  const founding = await foundingIn(store, { wrapping, ...(found && { found }) })
  const parts = { store, wrapping }
  return {
    founding,
    shared: true,
    secrets: createTableSecrets(parts),
    load: async (subjects) =>
      (await store.load(subjects.map(personKey))).map((item, index) =>
        item === undefined ? undefined : openPerson(parts, subjects[index] as string, rowOf(item)),
      ),
    ensureKeys: async (people) => {
      const entries = new Map<string, Person>()
      let remaining = people
      while (remaining.size > 0) remaining = await tryKeep(parts, remaining, entries)
      return entries
    },
    places: (subject) => placesIn(store, subject),
    parts: async (person) => {
      const found: string[] = []
      for await (const rows of pages(readerOf(store), { pk: personKey(person).PK, prefix: PART, limit: PAGE }))
        found.push(...rows.map(({ SK }) => SK.slice(PART.length)))
      return found
    },
    step: async (subject, step) => {
      if (step === 'forgotten') await removeWhileForgetting(store, subject, PLACE)
      await changeRow(store, personKey(subject), (item) => {
        const row = item && afterStep(rowOf(item), step)
        return row && itemOf(subject, step === 'forgotten' ? { ...row, places: [] } : row)
      })
      if (step === 'destroyed') await removeWhileForgetting(store, subject, SECRET)
    },
    close: () => store.close(),
  }
}

interface Parts {
  readonly store: Store
  readonly wrapping: Wrapping
}

const readerOf = (store: Store) => store.reader(() => 0)

const openPerson = (
  { wrapping }: Pick<Parts, 'wrapping'>,
  subject: string,
  { key, destroyed, forgetting }: KeyRow,
): Person => ({
  destroyed,
  forgetting,
  key: key && { id: key.id, bytes: wrappingOf(wrapping, key.wrapping).unwrap(key.wrapped, aboutKey(subject, key.id)) },
})

type People = ReadonlyMap<string, readonly PersonalLogKey[]>

/** Adds the entries of the people who have all keys and log keys to `entries`. Returns the other people: another process changed their rows. */
const tryKeep = async (parts: Parts, people: People, entries: Map<string, Person>): Promise<People> => {
  const { store } = parts
  const subjects = [...people.keys()]
  const remaining = new Map<string, readonly PersonalLogKey[]>()
  const loaded = await loadRows(store, people)
  throwFirst(subjects.map((subject) => refusalOf(subject, rowOf(loaded.get(personKey(subject))))))
  const changes = subjects.flatMap((subject) => {
    const places = people.get(subject) ?? []
    const { row, writes, isComplete } = missingWrites(parts, { subject, places }, loaded)
    if (!isComplete) remaining.set(subject, places)
    else entries.set(subject, openPerson(parts, subject, row))
    return writes.length === 0 ? [] : [{ subject, places, writes }]
  })
  const outcomes = await store.commit(changes.map(({ writes }) => [writes]))
  for (const [index, { subject, places }] of changes.entries())
    if (outcomes[index]?.applied !== 'all') remaining.set(subject, places)
  return remaining
}

interface LoadedRows {
  get(key: Key): Stored | undefined
}

const nameOf = ({ PK, SK }: Key): string => JSON.stringify([PK, SK])

const loadRows = async (store: Store, people: People): Promise<LoadedRows> => {
  const keys = [...people].flatMap(([subject, places]) => [
    personKey(subject),
    ...(isPart(subject) ? [partKey(subject)] : []),
    ...places.map((place) => placeKey(subject, place)),
  ])
  const wanted = new Map(keys.map((key) => [nameOf(key), key]))
  const rows = await store.load([...wanted.values()])
  const byName = new Map([...wanted.keys()].map((name, index) => [name, rows[index]]))
  return { get: (key) => byName.get(nameOf(key)) }
}

/** The writes that add a missing key, log keys and the row of a part. One commit adds as many log keys as it can contain. */
const missingWrites = (
  { wrapping }: Pick<Parts, 'wrapping'>,
  { subject, places }: { readonly subject: string; readonly places: readonly PersonalLogKey[] },
  loaded: LoadedRows,
): { readonly row: KeyRow; readonly writes: readonly Write[]; readonly isComplete: boolean } => {
  const item = loaded.get(personKey(subject))
  const stored = rowOf(item)
  const row = withKey(stored, { subject, wrapping })
  const missing = new Map<string, Key>()
  for (const place of places) {
    const key = placeKey(subject, place)
    const isStored =
      loaded.get(key) !== undefined ||
      stored.places.some(({ domain, key: logKey }) => domain === place.domain && logKey === place.key)
    if (!isStored) missing.set(nameOf(key), key)
  }
  const rows: Key[] = [...missing.values()]
  if (isPart(subject) && loaded.get(partKey(subject)) === undefined) rows.unshift(partKey(subject))
  if (stored.key !== undefined && rows.length === 0) return { row, writes: [], isComplete: true }
  const added = rows.slice(0, MAX_ACTIONS - 1)
  return {
    row,
    writes: [replacing(item, itemOf(subject, row)), ...added.map((key) => replacing(undefined, key))],
    isComplete: added.length === rows.length,
  }
}

const placesIn = async function* (store: Store, subject: string): AsyncGenerator<readonly PersonalLogKey[]> {
  const [item] = await store.load([personKey(subject)])
  const { places } = rowOf(item)
  for (let at = 0; at < places.length; at += PLACES_PER_PAGE) yield places.slice(at, at + PLACES_PER_PAGE)
  for await (const rows of pages(readerOf(store), { pk: personKey(subject).PK, prefix: PLACE, limit: PLACES_PER_PAGE }))
    yield rows.map(({ SK }) => placeFrom(SK))
}

/** No name of a domain contains `#`. */
const placeFrom = (sk: string): PersonalLogKey => {
  const end = sk.indexOf('#', PLACE.length)
  return { domain: sk.slice(PLACE.length, end), key: sk.slice(end + 1) }
}

/**
 * Removes the rows of a person with this prefix. Each commit requires that the person is still being forgotten, so that rows of a person who has
 * returned stay.
 */
const removeWhileForgetting = async (store: Store, subject: string, prefix: string): Promise<void> => {
  for (;;) {
    const [item] = await store.load([personKey(subject)])
    const row = rowOf(item)
    if (item === undefined || !row.forgetting) return
    const { items } = await readerOf(store).query({ pk: personKey(subject).PK, prefix, limit: MAX_ACTIONS - 1 })
    if (items.length === 0) return
    await store.commit([[[replacing(item, itemOf(subject, row)), ...items.map((each) => removing(each as Stored))]]])
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
