import { describe, expect, test } from 'vitest'
import { meals } from '../../../processors/meals/domain.ts'
import type { PersonForgotten } from '../../../schemas/generated/common.ts'
import { contents, given, tableOf, type Table } from './given.ts'
import { at, chili, deleted, idOf, logged, patIssued } from './events.ts'

const PERSON = 'ada'

const forgotten = (items: PersonForgotten['data']['items'], key = PERSON): PersonForgotten => ({
  type: 'PersonForgotten',
  meta: {
    eventId: 'forget',
    key,
    occurredAt: at('2026-11-18T00:00:00.000Z'),
    recordedAt: at('2026-11-18T00:00:00.000Z'),
    source: 'forget',
    correlationId: null,
    causationId: null,
    actorId: null,
    subjectId: key,
    request: null,
  },
  data: { items },
  personal: null,
})

const held = (table: Table): PersonForgotten['data']['items'] =>
  [...table.values()]
    .filter(
      (item) =>
        meals.personal?.partitions(PERSON, PERSON).includes(item.PK) && meals.personal.hasPersonalData(item, PERSON),
    )
    .map(({ PK, SK }) => ({ pk: PK, sk: SK }))

describe('a person who is forgotten', () => {
  test('loses texts and tokens, and keeps numbers', () => {
    const meal = logged({
      meta: { key: PERSON },
      eatenAt: at('2026-11-16T08:00:00.000Z'),
      uid: 'u1',
      calories: 300_000,
      personal: chili,
    })
    const other = logged({
      meta: { key: PERSON },
      eatenAt: at('2026-11-16T09:00:00.000Z'),
      uid: 'u2',
      calories: 100_000,
      personal: chili,
    })
    const gone = deleted({ meta: { key: PERSON }, mealId: idOf(at('2026-11-16T09:00:00.000Z'), 'u2') })
    const token = patIssued({ meta: { key: PERSON }, patId: 'p1' })
    const events = [meal, other, gone, token]
    const { items, before } = given(...events).when(forgotten(held(tableOf(events))))
    const [mealSk, goneSk] = [
      'MEAL#2026-11-16T08:00:00.000Z#u1',
      `GONE#MEAL#${idOf(at('2026-11-16T09:00:00.000Z'), 'u2')}`,
    ]
    expect(JSON.stringify(before)).toContain(chili.mealSummary)
    for (const text of [chili.mealSummary, chili.notes, chili.emoji]) expect(JSON.stringify(items)).not.toContain(text)
    expect(items[mealSk]).toMatchObject({ mealSummary: null, calories: 300 })
    expect(items[goneSk]).toMatchObject({ state: 'deleted', meal: { mealSummary: null, calories: 100 } })
    expect(items).not.toHaveProperty(['PAT#p1'])
    expect(items).toHaveProperty(['GONE#PAT#p1', 'revokedAt'], '2026-11-18T00:00:00.000Z')
    expect(items['SUMMARY#2026-11-16']).toEqual(before['SUMMARY#2026-11-16'])
  })

  test('loses personal data only from their own existing items', () => {
    const meal = logged({ meta: { key: PERSON }, eatenAt: at('2026-11-16T08:00:00.000Z'), uid: 'u1', personal: chili })
    const names = [
      { pk: `USER#${PERSON}`, sk: 'MEAL#2026-11-16T08:00:00.000Z#u1' },
      { pk: `USER#${PERSON}`, sk: 'MEAL#nowhere' },
      { pk: `USER#${PERSON}`, sk: 'SUMMARY#2026-11-16' },
    ]
    const { items, before } = given(meal).when(forgotten(names, 'bob'))
    expect(items).toEqual(before)
    expect(contents(tableOf([meal, forgotten(names)]))['SUMMARY#2026-11-16']).toEqual(before['SUMMARY#2026-11-16'])
  })
})
