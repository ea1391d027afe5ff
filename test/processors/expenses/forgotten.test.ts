import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { personalItems } from '../../../processors/expenses/forgotten.ts'
import { canonical } from '../../../projections/item.ts'
import { FORGOTTEN, type Event } from '../../../schemas/event.ts'
import type { PatIssued, PersonForgotten } from '../../../schemas/generated/common.ts'
import type { Table } from '../given.ts'
import { aHistory, GROUPS, PEOPLE } from './arbitrary.ts'
import { foldInto, given, tableOf } from './given.ts'
import { DAY, deleted, joined, metaOf, NOW, profileTold, proposed, recorded, revised, trip, walletSet } from './said.ts'

const forgotten = (subject: string, key: string, items: PersonForgotten['data']['items']): PersonForgotten => ({
  type: 'PersonForgotten', meta: metaOf({ key, subjectId: subject, actorId: null, source: 'forget', occurredAt: NOW + 9 * DAY }), data: { items }, personal: null,
})

const held = (table: Table, subject: string, key: string): PersonForgotten['data']['items'] =>
  [...table.values()].filter((item) => personalItems.partitions(key).includes(item.PK) && personalItems.holds(item, subject)).map(({ PK, SK }) => ({ pk: PK, sk: SK }))

/** As `forget` says it: to every key under which something of the person may lie. */
const forgets = (table: Table, subject: string): readonly PersonForgotten[] => [...GROUPS, subject].map((key) => forgotten(subject, key, held(table, subject, key)))

const blind = (events: readonly Event[], subject: string): readonly Event[] =>
  events.map((event) => (event.meta.subjectId === subject && event.personal !== null ? { ...event, personal: FORGOTTEN } : event))

const bytes = (table: Table): string => [...table.values()].map(canonical).sort().join('\n')

describe('a person who is forgotten', () => {
  test('leaves, in any history, byte for byte what the same events leave when their words cannot be read', () =>
    fc.assert(fc.property(aHistory, aHistory, fc.constantFrom(...PEOPLE), (before, after, subject) => {
      const said = forgets(tableOf(before), subject)
      expect(bytes(tableOf([...before, ...said, ...after]))).toBe(bytes(tableOf([...blind(before, subject), ...said, ...after])))
    })))

  test('is in no item any more, and other people are where they were', () =>
    fc.assert(fc.property(aHistory, fc.constantFrom(...PEOPLE), (events, subject) => {
      const table = tableOf(events)
      const others = PEOPLE.filter((name) => name !== subject)
      const ofOthers = () => others.map((name) => [...GROUPS, name].map((key) => held(table, name, key)))
      const before = ofOthers()
      forgets(table, subject).forEach((event, index) => foldInto(table, event, events.length + index))
      for (const key of [...GROUPS, subject]) expect(held(table, subject, key)).toEqual([])
      expect(ofOthers()).toEqual(before)
    })))

  const tokenOf = (user: string): PatIssued => ({ type: 'PatIssued', meta: metaOf({ key: user, subjectId: user }), data: { patId: 'p1', hash: 'ab'.repeat(32), scopes: ['read'] }, personal: { name: 'phone' } })
  const lived = [
    ...trip, joined('4711', { personal: { name: 'Secret Sue', username: 'ssue', avatarUrl: 'https://t.example/sue.png' } }), walletSet('4711', { personal: { wallet: 'UQ-secret' } }),
    recorded({ payerId: '4711', personal: { description: 'Secret soup' }, meta: { actorId: '4711', subjectId: '4711' } }), recorded({ expenseId: 'e2', payerId: '4711' }),
    revised({ payerId: '4711', personal: { description: 'Secret soup', reason: 'Secret reason' }, meta: { actorId: '4711', subjectId: '4711' } }),
    deleted({ expenseId: 'e2', meta: { actorId: '4711' } }), proposed({ toUserId: '4711' }), proposed({ settlementId: 's2', fromUserId: '4711' }), profileTold({ personal: { name: 'Secret Sue', username: 'ssue', avatarUrl: null } }),
    tokenOf('4711'),
  ]

  test('E-k: loses names, words, wallet and tokens, also in what was deleted; ids and numbers stay', () => {
    const when = given(...lived).when(...['g1', '4711'].map((key) => forgotten('4711', key, held(tableOf(lived), '4711', key))))
    const text = JSON.stringify(when.items, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
    for (const word of ['Secret', 'ssue', 'sue.png', 'UQ-secret', 'phone']) expect(text).not.toContain(word)
    expect(text).toContain('Dinner')
    expect(when.items).toMatchObject({
      'GROUP#g1 / USER#4711': { id: '4711', name: null, wallet: null, telegramId: 4711 }, 'GROUP#g1 / DELETED#2026-11-16T12:00:00.000Z#e2': { expense: { payerId: '4711', payerName: null, amount: 30, description: 'Dinner' } },
      'USER#4711 / PROFILE': { id: '4711', name: null }, 'USER#4711 / GONE#PAT#p1': { revokedAt: expect.any(String) as string }, 'GROUP#g1 / BALANCE#EUR': when.before['GROUP#g1 / BALANCE#EUR'],
    })
    expect(when.items).not.toHaveProperty(['USER#4711 / PAT#p1'])
  })

  test('is named by items of the event’s own key only: others, and what is not there, stay', () => {
    const named = [{ pk: 'GROUP#g1', sk: 'USER#4711' }, { pk: 'GROUP#g1', sk: 'USER#nobody' }]
    given(...lived).when(forgotten('4711', 'g2', named)).thenUnchanged()
    given(...lived).when({ ...forgotten('4711', 'g1', named), meta: metaOf({ subjectId: null }) }).thenUnchanged()
  })

  test('takes no token of another, whose id is the group’s', () => {
    const token = tokenOf('g1')
    given(...trip, token).when(forgotten('dan', 'g1', [{ pk: 'USER#g1', sk: 'PAT#p1' }])).thenUnchanged()
    expect(personalItems.holds({ PK: 'USER#g1', SK: 'PAT#p1' }, 'dan')).toBe(false)
  })
})
