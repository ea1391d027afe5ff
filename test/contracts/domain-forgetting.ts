import fc from 'fast-check'
import { expect } from 'vitest'
import { canonical } from '../../projections/item.ts'
import { FORGOTTEN, type Event } from '../../schemas/event.ts'
import type { PersonForgotten } from '../../schemas/generated/common.ts'
import { foldsOf, type Table } from '../processors/given.ts'
import { tries } from '../services/available.ts'
import type { DomainCase, Rule } from './domain-case.ts'
import { lastOf, personalHistories } from './domain-events.ts'

const DAY_MS = 86_400_000

/** The items of a log key that contain something personal of the person. */
const heldBy = ({ domain: { personal } }: DomainCase, table: Table, person: string, key: string): PersonForgotten['data']['items'] =>
  personal === undefined ? [] : [...table.values()].filter((item) => personal.partitions(key, person).includes(item.PK) && personal.holds(item, person)).map(({ PK, SK }) => ({ pk: PK, sk: SK }))

/** The log keys to which `forget` appends: those of events with personal fields of the person, and the person's own. */
const keysOf = (events: readonly Event[], person: string): readonly string[] =>
  [...new Set([...events.filter(({ meta, personal }) => meta.subjectId === person && personal !== null).map(({ meta }) => meta.key), person])]

/** The events that `forget` appends after a history. */
const forgotten = (subject: DomainCase, table: Table, events: readonly Event[], person: string): readonly PersonForgotten[] => {
  const at = lastOf(events) + DAY_MS
  return keysOf(events, person).map((key) => ({
    type: 'PersonForgotten',
    meta: { eventId: `forget-${key}`, key, occurredAt: at, recordedAt: at, source: 'forget', correlationId: null, causationId: null, actorId: null, subjectId: person, request: null },
    data: { items: heldBy(subject, table, person, key) },
    personal: null,
  }))
}

const ofPerson = (events: readonly Event[], person: string, change: (personal: unknown) => unknown): readonly Event[] =>
  events.map((event) => (event.meta.subjectId === person && event.personal !== null ? { ...event, personal: change(event.personal) } : event))

const unreadable = (events: readonly Event[], person: string): readonly Event[] => ofPerson(events, person, () => FORGOTTEN)

const exact = (table: Table): string => [...table.values()].map(canonical).sort().join('\n')

const personIn = ({ pools: { keys, people = keys } }: DomainCase) => fc.constantFrom(...people)

const equalsUnreadable: Rule = (subject) => {
  const { tableOf } = foldsOf(subject.domain, subject.partition.keyIn)
  const aHistory = personalHistories(subject)
  fc.assert(fc.property(aHistory, aHistory, personIn(subject), (before, after, person) => {
    const then = [...forgotten(subject, tableOf(before), before, person), ...after]
    expect(exact(tableOf([...before, ...then]))).toBe(exact(tableOf([...unreadable(before, person), ...then])))
  }), { numRuns: tries(75) })
}

const markOf = (person: string): string => `a text of ${person}.`

/** The value with every text in it replaced. */
const marked = (value: unknown, mark: string): unknown => {
  if (typeof value === 'string') return value === FORGOTTEN ? value : mark
  if (Array.isArray(value)) return value.map((member) => marked(member, mark))
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, marked(member, mark)])) : value
}

const nothingIsLeft: Rule = (subject) => {
  const { foldInto, tableOf } = foldsOf(subject.domain, subject.partition.keyIn)
  const { pools: { keys, people = keys } } = subject
  let written = 0
  fc.assert(fc.property(personalHistories(subject), personIn(subject), (history, person) => {
    const events = people.reduce((all, each) => ofPerson(all, each, (personal) => marked(personal, markOf(each))), history)
    const table = tableOf(events)
    const withTextOf = (each: string): readonly string[] => [...table.values()].filter((item) => canonical(item).includes(markOf(each))).map(({ PK, SK }) => `${PK} ${SK}`).sort()
    const others = people.filter((each) => each !== person)
    const before = others.map(withTextOf)
    written += withTextOf(person).length
    for (const [index, event] of forgotten(subject, table, events, person).entries()) foldInto(table, event, events.length + index)
    expect(withTextOf(person), `items that contain a text of ${person}`).toEqual([])
    expect(keysOf(events, person).flatMap((key) => heldBy(subject, table, person, key)), `items that are listed as containing something of ${person}`).toEqual([])
    expect(others.map(withTextOf), 'items that contain texts of others').toEqual(before)
  }), { numRuns: tries(75) })
  expect(written, 'items of the histories that contain a text of the person').toBeGreaterThan(0)
}

/** For domains that keep something personal. */
export const FORGETTING_RULES: Readonly<Record<string, Rule>> = {
  'the items of a forgotten person equal those of the same events with their personal fields unreadable': equalsUnreadable,
  'no item contains a text of a forgotten person, and other people lose nothing': nothingIsLeft,
}
