import fc from 'fast-check'
import { expect } from 'vitest'
import { canonical } from '../../projections/item.ts'
import { FORGOTTEN, type Event } from '../../schemas/event.ts'
import type { PersonForgotten } from '../../schemas/generated/common.ts'
import { metaOf } from '../event.ts'
import { foldsOf, type Table } from '../folds.ts'
import { propertyRuns } from '../property-runs.ts'
import type { ContractCase, Rule } from './case.ts'
import { lastOf, personalHistories } from './events.ts'

const DAY_MS = 86_400_000

/** Returns the keys of the items that contain personal data of the person, among the items of one log key. */
const personalItems = (
  {
    record: {
      domain: { personal },
    },
  }: ContractCase,
  table: Table,
  person: string,
  key: string,
): PersonForgotten['data']['items'] =>
  personal === undefined
    ? []
    : [...table.values()]
        .filter((item) => personal.partitions(key, person).includes(item.PK) && personal.hasPersonalData(item, person))
        .map(({ PK, SK }) => ({ pk: PK, sk: SK }))

/** The log keys to which `forget` appends an event: the keys of events with a personal field of the person, and the person's own key. */
const keysOf = (events: readonly Event[], person: string): readonly string[] => [
  ...new Set([
    ...events
      .filter(({ meta, personal }) => meta.subjectId === person && personal !== null)
      .map(({ meta }) => meta.key),
    person,
  ]),
]

/** The events that `forget` appends after a history. */
const forgetEvents = (
  subject: ContractCase,
  table: Table,
  events: readonly Event[],
  person: string,
): readonly PersonForgotten[] => {
  const at = lastOf(events) + DAY_MS
  return keysOf(events, person).map((key) => ({
    type: 'PersonForgotten',
    meta: metaOf({ eventId: `forget-${key}`, key, occurredAt: at, source: 'forget', actorId: null, subjectId: person }),
    data: { items: personalItems(subject, table, person, key) },
    personal: null,
  }))
}

const ofPerson = (events: readonly Event[], person: string, change: (personal: unknown) => unknown): readonly Event[] =>
  events.map((event) =>
    event.meta.subjectId === person && event.personal !== null ? { ...event, personal: change(event.personal) } : event,
  )

const unreadable = (events: readonly Event[], person: string): readonly Event[] =>
  ofPerson(events, person, () => FORGOTTEN)

const exact = (table: Table): string => [...table.values()].map(canonical).sort().join('\n')

const personIn = ({ pools: { keys, people = keys } }: ContractCase) => fc.constantFrom(...people)

const equalsUnreadable: Rule = (subject) => {
  const { tableOf } = foldsOf(subject.record.domain)
  const aHistory = personalHistories(subject)
  fc.assert(
    fc.property(aHistory, aHistory, personIn(subject), (before, after, person) => {
      const then = [...forgetEvents(subject, tableOf(before), before, person), ...after]
      expect(exact(tableOf([...before, ...then]))).toBe(exact(tableOf([...unreadable(before, person), ...then])))
    }),
    propertyRuns(75),
  )
}

const markOf = (person: string): string => `a text of ${person}.`

/** Returns the value with `mark` in place of every text except `FORGOTTEN`. */
const marked = (value: unknown, mark: string): unknown => {
  if (typeof value === 'string') return value === FORGOTTEN ? value : mark
  if (Array.isArray(value)) return value.map((member) => marked(member, mark))
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, marked(member, mark)]))
    : value
}

const nothingIsLeft: Rule = (subject) => {
  const { foldInto, tableOf } = foldsOf(subject.record.domain)
  const {
    pools: { keys, people = keys },
  } = subject
  let written = 0
  fc.assert(
    fc.property(personalHistories(subject), personIn(subject), (history, person) => {
      const events = people.reduce(
        (all, each) => ofPerson(all, each, (personal) => marked(personal, markOf(each))),
        history,
      )
      const table = tableOf(events)
      const withTextOf = (each: string): readonly string[] =>
        [...table.values()]
          .filter((item) => canonical(item).includes(markOf(each)))
          .map(({ PK, SK }) => `${PK} ${SK}`)
          .sort()
      const others = people.filter((each) => each !== person)
      const before = others.map(withTextOf)
      written += withTextOf(person).length
      for (const [index, event] of forgetEvents(subject, table, events, person).entries())
        foldInto(table, event, events.length + index)
      expect(withTextOf(person), `items that contain a text of ${person}`).toEqual([])
      expect(
        keysOf(events, person).flatMap((key) => personalItems(subject, table, person, key)),
        `items that are listed as containing something of ${person}`,
      ).toEqual([])
      expect(others.map(withTextOf), 'items that contain texts of others').toEqual(before)
    }),
    propertyRuns(75),
  )
  const texts = expect(written, 'items of the histories that contain a text of the person')
  if (subject.storesNoTexts) texts.toBe(0)
  else texts.toBeGreaterThan(0)
}

/** The rules for domains that store personal data. */
export const FORGETTING_RULES: Readonly<Record<string, Rule>> = {
  'the items of a forgotten person equal those of the same events with their personal fields unreadable':
    equalsUnreadable,
  'no item contains a text of a forgotten person, and other people lose nothing': nothingIsLeft,
}
