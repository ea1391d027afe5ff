import { describe, expect, test } from 'vitest'
import { expenses } from '../../../processors/expenses/domain.ts'
import type { PatIssued, PersonForgotten } from '../../../schemas/generated/common.ts'
import type { Table } from '../../../testing/folds.ts'
import { given, tableOf } from './given.ts'
import {
  DAY,
  deleted,
  joined,
  metaOf,
  NOW,
  profileTold,
  proposed,
  recorded,
  revised,
  trip,
  walletSet,
} from './events.ts'

const forgotten = (subject: string, key: string, items: PersonForgotten['data']['items']): PersonForgotten => ({
  type: 'PersonForgotten',
  meta: metaOf({ key, subjectId: subject, actorId: null, source: 'forget', occurredAt: NOW + 9 * DAY }),
  data: { items },
  personal: null,
})

const held = (table: Table, subject: string, key: string): PersonForgotten['data']['items'] =>
  [...table.values()]
    .filter(
      (item) =>
        expenses.personal?.partitions(key, subject).includes(item.PK) &&
        expenses.personal.hasPersonalData(item, subject),
    )
    .map(({ PK, SK }) => ({ pk: PK, sk: SK }))

describe('a person who is forgotten', () => {
  const tokenOf = (user: string): PatIssued => ({
    type: 'PatIssued',
    meta: metaOf({ key: user, subjectId: user }),
    data: { patId: 'p1', hash: 'ab'.repeat(32), scopes: ['read'] },
    personal: { name: 'phone' },
  })
  const lived = [
    ...trip,
    joined('4711', { personal: { name: 'Secret Sue', username: 'ssue', avatarUrl: 'https://t.example/sue.png' } }),
    walletSet('4711', { personal: { wallet: 'UQ-secret' } }),
    recorded({
      payerId: '4711',
      personal: { description: 'Secret soup' },
      meta: { actorId: '4711', subjectId: '4711' },
    }),
    recorded({ expenseId: 'e2', payerId: '4711' }),
    revised({
      payerId: '4711',
      personal: { description: 'Secret soup', reason: 'Secret reason' },
      meta: { actorId: '4711', subjectId: '4711' },
    }),
    deleted({ expenseId: 'e2', meta: { actorId: '4711' } }),
    proposed({ toUserId: '4711' }),
    proposed({ settlementId: 's2', fromUserId: '4711' }),
    profileTold({ personal: { name: 'Secret Sue', username: 'ssue', avatarUrl: null } }),
    tokenOf('4711'),
  ]

  test('E-k: loses names, texts, wallet and tokens, also in deleted expenses; ids and numbers stay', () => {
    const when = given(...lived).when(
      ...['g1', '4711'].map((key) => forgotten('4711', key, held(tableOf(lived), '4711', key))),
    )
    const text = JSON.stringify(when.items, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
    for (const word of ['Secret', 'ssue', 'sue.png', 'UQ-secret', 'phone']) expect(text).not.toContain(word)
    expect(text).toContain('Dinner')
    expect(when.items).toMatchObject({
      'GROUP#g1 / USER#4711': { id: '4711', name: null, wallet: null, telegramId: 4711 },
      'GROUP#g1 / DELETED#2026-11-16T12:00:00.000Z#e2': {
        expense: { payerId: '4711', payerName: null, amount: 30, description: 'Dinner' },
      },
      'USER#4711 / PROFILE': { id: '4711', name: null },
      'USER#4711 / GONE#PAT#p1': { revokedAt: expect.any(String) as string },
      'GROUP#g1 / BALANCE#EUR': when.before['GROUP#g1 / BALANCE#EUR'],
    })
    expect(when.items).not.toHaveProperty(['USER#4711 / PAT#p1'])
  })

  test('loses personal data only from existing items of the event’s own key', () => {
    const named = [
      { pk: 'GROUP#g1', sk: 'USER#4711' },
      { pk: 'GROUP#g1', sk: 'USER#nobody' },
    ]
    given(...lived)
      .when(forgotten('4711', 'g2', named))
      .thenUnchanged()
    given(...lived)
      .when({ ...forgotten('4711', 'g1', named), meta: metaOf({ subjectId: null }) })
      .thenUnchanged()
  })

  test('keeps the tokens of a person whose id is that of the group', () => {
    const token = tokenOf('g1')
    given(...trip, token)
      .when(forgotten('dan', 'g1', [{ pk: 'USER#g1', sk: 'PAT#p1' }]))
      .thenUnchanged()
    expect(held(tableOf([...trip, token]), 'dan', 'g1')).toEqual([])
  })
})
