import { randomBytes } from 'node:crypto'
import type { Item, Key, Stored } from '../../../projections/item.ts'
import type { TableSpec } from '../../../projections/table.ts'
import { Fault } from '../../../schemas/fault.ts'
import { afterStep, beingForgotten, keysGone, type Founding, type KeyStore, type Person, type Place } from '../../engine/key-store.ts'
import { changeRow } from '../../engine/change-row.ts'
import { replacing, type Store } from '../../engine/store.ts'
import { NO_WRAPPING, type Wrapping } from './wrap.ts'

export const KEYS_TABLE: TableSpec = { name: 'tributary-keys', ttl: 'ttl', indexes: [] }

export interface KeyTableOptions {
  /** The table of keys, as a store opens it: conditional writes, consistent reads. */
  readonly store: Store
  readonly wrapping: Wrapping
  /** How a store that is not there is begun; absent where there was one. */
  readonly found?: () => Promise<Founding>
}

/** A person's row. `key` is the data key, wrapped. */
interface Row extends Omit<Person, 'key'> {
  readonly key: { readonly id: string; readonly wrapped: string; readonly wrapping: string } | undefined
}

const FOUNDING: Key = { PK: 'FOUNDING', SK: 'FOUNDING' }
const keyOf = (subject: string): Key => ({ PK: `PERSON#${subject}`, SK: 'KEY' })
const aboutKey = (subject: string, id: string): string => `${subject} (${id})`

/** The key store as a table of its own, shared by every process: a row a person, changed only by whoever read it as it is. */
export const openKeyTable = async ({ store, wrapping, found }: KeyTableOptions): Promise<KeyStore> => {
  const founding = await foundingIn(store, { wrapping, ...(found && { found }) })
  const rows = async (subjects: readonly string[]) => (await store.load(subjects.map(keyOf))).map((item) => ({ item, row: rowOf(item) }))
  const open = (subject: string, { key, ...row }: Row): Person => ({
    ...row,
    key: key && { id: key.id, bytes: wrappingOf(wrapping, key.wrapping).unwrap(key.wrapped, aboutKey(subject, key.id)) },
  })
  const keepOnce = async (people: ReadonlyMap<string, readonly Place[]>): Promise<ReadonlyMap<string, readonly Place[]>> => {
    const subjects = [...people.keys()]
    const found = await rows(subjects)
    const refused = subjects.filter((_, index) => found[index]?.row.forgetting)
    if (refused.length > 0) throw beingForgotten(refused)
    const changes = subjects.flatMap((subject, index) => {
      const { item, row } = found[index] as (typeof found)[number]
      const kept = keeping(row, { subject, places: people.get(subject) ?? [], wrapping })
      return kept === undefined ? [] : [{ subject, write: replacing(item, itemOf(subject, kept)) }]
    })
    const outcomes = await store.commit(changes.map(({ write }) => [[write]]))
    const behind = changes.filter((_, index) => outcomes[index]?.applied !== 'all')
    return new Map(behind.map(({ subject }) => [subject, people.get(subject) ?? []]))
  }
  return {
    founding,
    shared: true,
    load: async (subjects) => (await rows(subjects)).map(({ item, row }, index) => (item === undefined ? undefined : open(subjects[index] as string, row))),
    keep: async (people) => {
      let behind = people
      while (behind.size > 0) behind = await keepOnce(behind)
    },
    step: async (subject, step) => {
      await changeRow(store, keyOf(subject), (was) => {
        const row = was && afterStep(rowOf(was), step)
        return row && itemOf(subject, row)
      })
    },
    close: () => store.close(),
  }
}

const foundingIn = async (store: Store, { wrapping, found }: Omit<KeyTableOptions, 'store'>): Promise<Founding> => {
  const [kept] = await store.load([FOUNDING])
  if (kept === undefined) {
    if (found === undefined) throw keysGone(`table ${KEYS_TABLE.name}`)
    const { id, plainBefore } = await found()
    // Whoever else began it meanwhile was first.
    await store.commit([[[replacing(undefined, { ...FOUNDING, id, wrapping: wrapping.id, plainBefore: JSON.stringify(plainBefore) })]]])
    return foundingIn(store, { wrapping })
  }
  wrappingOf(wrapping, String(kept['wrapping']))
  return { id: String(kept['id']), plainBefore: JSON.parse(String(kept['plainBefore'])) as Founding['plainBefore'] }
}

/** A key-encryption key may be set later: what lay unwrapped before stays readable. */
const wrappingOf = (wrapping: Wrapping, id: string): Wrapping => {
  if (id === wrapping.id) return wrapping
  if (id === NO_WRAPPING.id) return NO_WRAPPING
  throw new Fault('key-encryption-key-wrong', `The keys in ${KEYS_TABLE.name} are wrapped by another key-encryption key than the one configured. Set TRIBUTARY_KEY_ENCRYPTION_KEY to that one; nothing was changed.`, { retriable: true })
}

const rowOf = (item: Stored | undefined): Row => ({
  key: item?.['wrapped'] === undefined ? undefined : { id: String(item['id']), wrapped: String(item['wrapped']), wrapping: String(item['wrapping']) },
  destroyed: (item?.['destroyed'] ?? []) as readonly string[],
  places: ((item?.['places'] ?? []) as readonly (readonly [string, string])[]).map(([domain, key]) => ({ domain, key })),
  forgetting: item?.['forgetting'] === true,
})

const itemOf = (subject: string, { key, destroyed, places, forgetting }: Row): Item =>
  ({ ...keyOf(subject), ...key, destroyed: [...destroyed], places: places.map(({ domain, key: at }) => [domain, at]), forgetting })

/** With a key and these places; undefined where both are there. */
const keeping = (row: Row, { subject, places, wrapping }: { subject: string; places: readonly Place[]; wrapping: Wrapping }): Row | undefined => {
  const missing = places.filter((place, index) => ![...row.places, ...places.slice(0, index)].some(({ domain, key }) => domain === place.domain && key === place.key))
  if (row.key !== undefined && missing.length === 0) return undefined
  const id = randomBytes(8).toString('hex')
  const key = row.key ?? { id, wrapped: wrapping.wrap(randomBytes(32), aboutKey(subject, id)), wrapping: wrapping.id }
  return { ...row, key, places: [...row.places, ...missing] }
}
