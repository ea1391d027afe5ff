import fc from 'fast-check'
import { expect } from 'vitest'
import type { Item } from '../../projections/item.ts'
import type { Change } from '../../projections/projection.ts'
import type { TableSpec } from '../../projections/table.ts'
import type { Event } from '../../schemas/event.ts'
import type { Table } from '../folds.ts'
import { propertyRuns } from '../property-runs.ts'
import type { ContractCase, Rule } from './case.ts'
import { foldDrawn } from './drawn.ts'
import { anyEvents, histories } from './events.ts'
import { isBookkeeping } from '../../processors/engine/generations/bookkeeping.ts'

/** DynamoDB's rule for names of tables and indexes. */
const NAME = /^[A-Za-z0-9_.-]{3,200}$/

/** Returns the attributes in the keys of the table and of its indexes, with their types. DynamoDB allows one type per attribute and table. */
const keyAttributes = ({ indexes }: TableSpec): readonly (readonly [string, 'text' | 'number'])[] => [
  ['PK', 'text'],
  ['SK', 'text'],
  ...indexes.flatMap(
    ({ pk, sk, number }) =>
      [
        [pk, 'text'],
        [sk, number ? 'number' : 'text'],
      ] as const,
  ),
]

const isDeclaredWell: Rule = ({
  record: {
    domain: { table },
  },
}) => {
  const indexes = table.indexes.map(({ name }) => name)
  for (const name of [table.name, ...indexes]) expect(name).toMatch(NAME)
  expect(new Set(indexes).size, `different names of indexes: ${indexes.join(', ')}`).toBe(indexes.length)
  const types = new Map(keyAttributes(table))
  for (const [name, type] of keyAttributes(table))
    expect(types.get(name), `the type of the key attribute ${name}`).toBe(type)
  expect([...types.keys()], 'key attributes, which must not contain the TTL attribute').not.toContain(table.ttl)
  const kinds = (table.kinds ?? []).map(({ name }) => name)
  expect(new Set(kinds).size, `different names of kinds: ${kinds.join(', ')}`).toBe(kinds.length)
}

/** Epoch seconds are below this number until the year 5138. Epoch milliseconds are above this number since 1973. */
const LARGEST_SECONDS = 100_000_000_000

/** Makes a rule that folds the events of `eventsOf` and calls `check` for every item that a fold writes or removes. */
const ofItems =
  (
    check: (item: Change, context: { readonly event: Event; readonly subject: ContractCase }) => void,
    eventsOf: (subject: ContractCase) => fc.Arbitrary<readonly Event[]>,
  ): Rule =>
  (subject) => {
    const fold = foldDrawn(subject.record.domain)
    fc.assert(
      fc.property(eventsOf(subject), (events) => {
        const table: Table = new Map()
        for (const [position, event] of events.entries())
          for (const { items = [] } of fold(table, event, position))
            for (const item of items) check(item, { event, subject })
      }),
      propertyRuns(50),
    )
  }

const expiryIsInSeconds = ofItems(
  (
    item,
    {
      subject: {
        record: {
          domain: {
            table: { ttl },
          },
        },
      },
    },
  ) => {
    const expiry = (item as Item)[ttl]
    if (expiry !== undefined)
      expect(expiry, `${item.PK} ${item.SK}`).toSatisfy(
        (value) => Number.isInteger(value) && Number(value) < LARGEST_SECONDS,
      )
  },
  histories,
)

const keysAreItsOwn = ofItems(
  (
    item,
    {
      event: {
        meta: { key },
      },
      subject: {
        record: {
          domain: {
            partitions: { of },
          },
        },
      },
    },
  ) => {
    expect(`${item.PK} ${item.SK}`, 'a key, which must be made of existing values').not.toMatch(
      /undefined|NaN|\[object/,
    )
    expect(isBookkeeping(item), `a key of the engine: ${item.PK} ${item.SK}`).toBe(false)
    if (of !== undefined) expect(of(key), `the partitions of ${key}`).toContain(item.PK)
  },
  (subject) => fc.tuple(histories(subject), anyEvents(subject)).map((parts) => parts.flat()),
)

export const TABLE_RULES: Readonly<Record<string, Rule>> = {
  'the table, its indexes and its kinds have valid, different names, and each key attribute has one type':
    isDeclaredWell,
  'the TTL attribute is in epoch seconds': expiryIsInSeconds,
  'keys contain values that exist, belong to the partitions of their log key, and are not keys of the engine':
    keysAreItsOwn,
}
