import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { personalItems } from '../../../processors/meals/forgotten.ts'
import { canonical } from '../../../projections/item.ts'
import { FORGOTTEN, type Event } from '../../../schemas/event.ts'
import type { PersonForgotten } from '../../../schemas/generated/common.ts'
import { aHistory } from './arbitrary.ts'
import { contents, foldInto, given, tableOf, type Table } from './given.ts'
import { at, chili, deleted, idOf, logged, patIssued } from './said.ts'

const PERSON = 'ada'

const forgotten = (items: PersonForgotten['data']['items'], key = PERSON): PersonForgotten => ({
  type: 'PersonForgotten',
  meta: { eventId: 'forget', key, occurredAt: at('2026-11-18T00:00:00.000Z'), recordedAt: at('2026-11-18T00:00:00.000Z'), source: 'forget', correlationId: null, causationId: null, actorId: null, subjectId: key, request: null },
  data: { items },
  personal: null,
})

const held = (table: Table): PersonForgotten['data']['items'] =>
  [...table.values()].filter((item) => personalItems.partitions(PERSON).includes(item.PK) && personalItems.holds(item, PERSON)).map(({ PK, SK }) => ({ pk: PK, sk: SK }))

const blind = (events: readonly Event[]): readonly Event[] =>
  events.map((event) => (event.meta.key === PERSON && event.personal !== null ? { ...event, personal: FORGOTTEN } : event))

const bytes = (table: Table): string => [...table.values()].map(canonical).sort().join('\n')

describe('a person who is forgotten', () => {
  test('leaves, in any history, byte for byte what the same events leave when their words cannot be read', () =>
    fc.assert(fc.property(aHistory, aHistory, (before, after) => {
      const live = tableOf(before)
      const said = forgotten(held(live))
      foldInto(live, said, before.length)
      const later = [...before, said, ...after]
      after.forEach((event, index) => foldInto(live, event, before.length + 1 + index))
      const replayed = tableOf([...blind(before), said, ...after])
      expect(bytes(live)).toBe(bytes(replayed))
      expect(later).toHaveLength(before.length + 1 + after.length)
    })))

  test('holds nothing any more, and other people hold what they held', () =>
    fc.assert(fc.property(aHistory, (events) => {
      const table = tableOf(events)
      const others = bytes(new Map([...table].filter(([, { PK }]) => PK !== `USER#${PERSON}`)))
      foldInto(table, forgotten(held(table)), events.length)
      expect(held(table)).toEqual([])
      expect(bytes(new Map([...table].filter(([, { PK }]) => PK !== `USER#${PERSON}`)))).toBe(others)
    })))

  test('loses words and tokens, and keeps numbers', () => {
    const meal = logged({ meta: { key: PERSON }, eatenAt: at('2026-11-16T08:00:00.000Z'), uid: 'u1', calories: 300_000, personal: chili })
    const other = logged({ meta: { key: PERSON }, eatenAt: at('2026-11-16T09:00:00.000Z'), uid: 'u2', calories: 100_000, personal: chili })
    const gone = deleted({ meta: { key: PERSON }, mealId: idOf(at('2026-11-16T09:00:00.000Z'), 'u2') })
    const token = patIssued({ meta: { key: PERSON }, patId: 'p1' })
    const events = [meal, other, gone, token]
    const { items, before } = given(...events).when(forgotten(held(tableOf(events))))
    const [mealSk, goneSk] = ['MEAL#2026-11-16T08:00:00.000Z#u1', `GONE#MEAL#${idOf(at('2026-11-16T09:00:00.000Z'), 'u2')}`]
    expect(JSON.stringify(before)).toContain(chili.mealSummary)
    for (const text of [chili.mealSummary, chili.notes, chili.emoji]) expect(JSON.stringify(items)).not.toContain(text)
    expect(items[mealSk]).toMatchObject({ mealSummary: null, calories: 300 })
    expect(items[goneSk]).toMatchObject({ state: 'deleted', meal: { mealSummary: null, calories: 100 } })
    expect(items).not.toHaveProperty(['PAT#p1'])
    expect(items).toHaveProperty(['GONE#PAT#p1', 'revokedAt'], '2026-11-18T00:00:00.000Z')
    expect(items['SUMMARY#2026-11-16']).toEqual(before['SUMMARY#2026-11-16'])
  })

  test('is named by items of their own only: others, and what is not there, stay', () => {
    const meal = logged({ meta: { key: PERSON }, eatenAt: at('2026-11-16T08:00:00.000Z'), uid: 'u1', personal: chili })
    const names = [{ pk: `USER#${PERSON}`, sk: 'MEAL#2026-11-16T08:00:00.000Z#u1' }, { pk: `USER#${PERSON}`, sk: 'MEAL#nowhere' }, { pk: `USER#${PERSON}`, sk: 'SUMMARY#2026-11-16' }]
    const { items, before } = given(meal).when(forgotten(names, 'bob'))
    expect(items).toEqual(before)
    expect(contents(tableOf([meal, forgotten(names)]))['SUMMARY#2026-11-16']).toEqual(before['SUMMARY#2026-11-16'])
  })
})
