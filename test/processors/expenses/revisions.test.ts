import { describe, expect, test } from 'vitest'
import { given } from './given.ts'
import {
  at,
  BALANCE,
  created,
  creditName,
  DAY,
  deleted,
  DELETED_EXPENSE,
  EXPENSE,
  EXPENSE_NAME,
  joined,
  left,
  metaOf,
  NOW,
  ownerChanged,
  partName,
  profileChanged,
  proposed,
  recorded,
  removed,
  renamed,
  restored,
  revised,
  splits,
  trip,
} from './events.ts'

const entry = (event: { meta: { eventId: string } }, iso = '2026-11-16T12:00:00.000Z') =>
  `GROUP#g1 / LOG#${iso}#${event.meta.eventId}`

describe('ExpenseRevised', () => {
  test('E-g: the new contribution replaces the old one in one movement', () => {
    const event = revised({ amountMinor: 5000n, splits: splits({ ann: 2000n, cy: 3000n }), ...at(5) })
    given(...trip, recorded())
      .when(event)
      .then({
        [EXPENSE]: {
          amount: 50,
          revision: 2,
          description: 'Late dinner',
          createdAt: '2026-11-16T12:00:00.000Z',
          updatedAt: '2026-11-16T12:05:00.000Z',
        },
        [partName('bob')]: null,
        [partName('cy')]: { amount: 30, totalAmount: 50, description: 'Late dinner' },
        [BALANCE]: {
          members: {
            ann: { paid: 5000, share: 2000, sent: 0, received: 0 },
            cy: { paid: 0, share: 3000, sent: 0, received: 0 },
          },
        },
        [creditName('ann')]: { owed: { cy: 3000 } },
        [entry(event, '2026-11-16T12:05:00.000Z')]: {
          kind: 'expense-revised',
          by: 'ann',
          byName: 'Ann',
          expenseId: 'e1',
          revision: 2,
          amountMinor: 5000,
          reason: 'forgot the tip',
          GSI2PK: 'HISTORY#e1',
          moved: { EUR: { ann: { paid: 2000, share: 1000 }, bob: { share: -1000 }, cy: { share: 2000 } } },
          after: {
            payerId: 'ann',
            splits: [
              { userId: 'ann', amountMinor: 2000 },
              { userId: 'cy', amountMinor: 3000 },
            ],
          },
        },
      })
  })

  test('E-g: another payer and another currency move the whole contribution', () => {
    const when = given(...trip, recorded()).when(revised({ payerId: 'bob', currency: 'TON', exponent: 9 }))
    when.then({
      [EXPENSE]: { payerId: 'bob', payerName: 'Bob', GSI3PK: 'USER#bob', createdBy: 'ann' },
      [BALANCE]: { members: {} },
      [creditName('ann')]: null,
      'GROUP#g1 / BALANCE#TON': { members: { bob: { paid: 3000, share: 1000 } } },
      'GROUP#g1 / OWED#TON#bob': { owed: { ann: 1000, cy: 1000 } },
      [partName('ann')]: { payerId: 'bob' },
      [partName('bob')]: null,
    })
    expect(when.items[BALANCE]?.['members']).toEqual({})
  })

  test('E-g: a new date moves the expense, its parts and the payer’s entry; the time of its recording stays', () => {
    const event = revised({ spentAt: NOW - DAY, ...at(5) })
    const when = given(...trip, recorded()).when(event)
    when.then({
      [EXPENSE]: null,
      [EXPENSE_NAME]: { at: '2026-11-15T12:00:00.000Z', state: 'present' },
      [BALANCE]: { changedAt: '2026-11-16T12:05:00.000Z' },
      'GROUP#g1 / TX#2026-11-15T12:00:00.000Z#e1': {
        spentAt: '2026-11-15T12:00:00.000Z',
        createdAt: '2026-11-16T12:00:00.000Z',
        GSI3SK: 'TX#2026-11-15T12:00:00.000Z#e1',
        revision: 2,
      },
      [partName('bob')]: {
        GSI1SK: 'OWES#2026-11-15T12:00:00.000Z#e1',
        spentAt: '2026-11-15T12:00:00.000Z',
        createdAt: '2026-11-16T12:00:00.000Z',
      },
      [entry(event, '2026-11-16T12:05:00.000Z')]: {
        by: 'ann',
        moved: {},
        after: { spentAt: '2026-11-15T12:00:00.000Z' },
      },
    })
    given(...trip, recorded(), event)
      .when(deleted(at(6)))
      .then({ 'GROUP#g1 / TX#2026-11-15T12:00:00.000Z#e1': null })
    given(...trip, recorded(), event, deleted(at(6)))
      .when(restored(at(7)))
      .then({ 'GROUP#g1 / TX#2026-11-15T12:00:00.000Z#e1': { revision: 2 } })
  })

  test('E-g: the date stays if the revision names none', () =>
    given(...trip, recorded())
      .when(revised({ meta: { occurredAt: NOW + DAY } }))
      .then({ [EXPENSE]: { revision: 2 }, [EXPENSE_NAME]: { at: '2026-11-16T12:00:00.000Z' } }))

  test('E-g: changed texts move no balance, and later changes have a later time, whatever the clocks', () => {
    const [words, gone] = [revised(at(5)), deleted(at(1))]
    const when = given(...trip, recorded(), words).when(gone)
    when.then({
      [entry(words, '2026-11-16T12:05:00.000Z')]: { moved: {} },
      [entry(gone, '2026-11-16T12:05:00.000Z')]: { kind: 'expense-deleted' },
    })
    const order = [words, gone].map((event) => String(when.items[entry(event, '2026-11-16T12:05:00.000Z')]?.['GSI2SK']))
    expect(order).toEqual([...order].sort())
  })

  test('E44: one of two concurrent edits is applied, and the refusal of the other names the current revision', () => {
    const [mine, yours] = [revised(), revised({ amountMinor: 1n, splits: splits({ bob: 1n }) })]
    given(...trip, recorded(), mine)
      .when(yours)
      .thenRefused('revision-stale', /revision 2/)
    given(...trip, recorded())
      .when(revised({ revision: 3 }))
      .thenRefused('revision-stale', /revision 1/)
  })

  test('E44: a repeated event changes nothing, also after another revision', () => {
    const first = revised()
    given(...trip, recorded(), first)
      .when(first)
      .thenDuplicate()
    given(...trip, recorded(), first, revised({ revision: 3 }))
      .when(first)
      .thenDuplicate()
    given(...trip, recorded(), first, deleted())
      .when(first)
      .thenDuplicate()
  })

  test('E-l: the payer, the person who recorded it and the owner of the group can correct it; an import can', () => {
    const byDot = [
      created({ meta: { actorId: 'dot', subjectId: 'dot' } }),
      ...['ann', 'bob', 'cy'].map((user) => joined(user)),
      recorded({ payerId: 'bob' }),
    ]
    for (const actorId of ['ann', 'bob', 'dot']) {
      const event = revised({ meta: { actorId } })
      given(...byDot)
        .when(event)
        .then({ [EXPENSE]: { revision: 2 }, [entry(event)]: { kind: 'expense-revised', by: actorId } })
    }
    given(...byDot)
      .when(revised({ meta: { actorId: 'cy' } }))
      .thenRefused('editor-only', /bob/)
    given(...byDot, ownerChanged('cy', { meta: { actorId: 'dot' } }))
      .when(revised({ meta: { actorId: 'dot' } }))
      .thenRefused('editor-only')
    given(...trip, recorded())
      .when(revised({ meta: { actorId: 'bob' } }))
      .thenRefused('editor-only', /ann/)
    given(...trip, recorded())
      .when(revised({ meta: { actorId: 'bob', source: 'import' } }))
      .then({ [EXPENSE]: { revision: 2 } })
    given(...trip, recorded())
      .when(revised({ meta: { actorId: null } }))
      .then({ [EXPENSE]: { revision: 2 } })
  })

  const byBob = { meta: { actorId: 'bob' } }
  const paidByBob = [...trip, recorded({ payerId: 'bob', ...byBob })]

  test('E-i: a person who was removed can neither correct, delete nor restore it', () => {
    given(...paidByBob, removed('bob'))
      .when(revised(byBob))
      .thenRefused('members-only')
    given(...paidByBob, removed('bob'))
      .when(deleted(byBob))
      .thenRefused('members-only')
    given(...paidByBob, deleted(byBob), removed('bob'))
      .when(restored(byBob))
      .thenRefused('members-only')
  })

  test('E-i: a person who recorded it and left cannot correct it, with the code of the edge', () => {
    const spent = [...trip, recorded({ payerId: 'ann', ...byBob })]
    given(...spent, left('bob'))
      .when(revised(byBob))
      .thenRefused('member-left', /^bob/)
    given(...spent, left('bob'), joined('bob'))
      .when(revised(byBob))
      .then({ [EXPENSE]: { revision: 2 } })
  })

  test('E-i: events of a payer who left apply, as when they were acknowledged by the older rules', () => {
    given(...paidByBob, left('bob'))
      .when(revised(byBob))
      .then({ [EXPENSE]: { revision: 2 } })
    given(...paidByBob, left('bob'))
      .when(deleted(byBob))
      .then({ [EXPENSE]: null })
    given(...paidByBob, deleted(byBob), left('bob'))
      .when(restored(byBob))
      .then({ [EXPENSE]: { revision: 1 } })
  })

  test('E-i: people who left can stay in it, and cannot be added', () => {
    given(...trip, recorded(), left('bob'))
      .when(revised())
      .then({ [partName('bob')]: { revision: 2 } })
    given(...trip, recorded({ splits: splits({ ann: 1000n, cy: 2000n }) }), left('bob'))
      .when(revised())
      .thenRefused('member-left', /^bob/)
  })

  test('E-c: other decimals than those of the balance are refused', () =>
    given(...trip, recorded())
      .when(revised({ exponent: 3 }))
      .thenRefused('exponent-changed'))
  test('for a deleted or an unknown expense it is refused', () => {
    given(...trip, recorded(), deleted())
      .when(revised())
      .thenRefused('expense-deleted')
    given(...trip)
      .when(revised())
      .thenRefused('expense-not-found')
    given().when(revised()).thenRefused('group-not-found')
  })
  test('parts that do not sum up are refused', () =>
    given(...trip, recorded())
      .when(revised({ splits: splits({ bob: 1n }) }))
      .thenRefused('splits-mismatch'))
})

describe('ExpenseDeleted', () => {
  test('E43: the expense, its parts and its contribution are removed; the item of a deleted expense contains it', () => {
    const event = deleted(at(5))
    const when = given(...trip, recorded()).when(event)
    when.then({
      [EXPENSE]: null,
      [partName('bob')]: null,
      [partName('cy')]: null,
      [creditName('ann')]: null,
      [EXPENSE_NAME]: { state: 'deleted', deletedAt: '2026-11-16T12:05:00.000Z' },
      'GROUP#g1 / DELETED#2026-11-16T12:05:00.000Z#e1': {
        deletedAt: '2026-11-16T12:05:00.000Z',
        deletedBy: 'ann',
        expense: { amount: 30, description: 'Dinner' },
      },
      [entry(event, '2026-11-16T12:05:00.000Z')]: {
        kind: 'expense-deleted',
        after: null,
        amountMinor: 3000,
        moved: { EUR: { ann: { paid: -3000, share: -1000 } } },
      },
    })
    expect(when.items[BALANCE]?.['members']).toEqual({})
  })

  test('E43: a repeated event changes nothing, also after a restore', () => {
    const first = deleted()
    given(...trip, recorded(), first)
      .when(first)
      .thenDuplicate()
    given(...trip, recorded(), first)
      .when(deleted())
      .thenDuplicate()
    given(...trip, recorded(), first, restored())
      .when(first)
      .thenDuplicate()
  })

  test('E42: an expense that was deleted is not recorded again', () => {
    const first = recorded()
    given(...trip, first, deleted())
      .when(first)
      .thenDuplicate()
    given(...trip, first, deleted())
      .when(recorded({ spentAt: NOW + 1 }))
      .thenDuplicate()
  })

  test('E-l: only the payer deletes, not the person who recorded it and not the owner of the group', () => {
    for (const actorId of ['ann', 'cy'])
      given(...trip, recorded({ payerId: 'bob', meta: { actorId: 'cy' } }))
        .when(deleted({ meta: { actorId } }))
        .thenRefused('payer-only', /bob/)
    given(...trip, recorded())
      .when(deleted({ meta: { actorId: 'bob' } }))
      .thenRefused('payer-only')
    given(...trip)
      .when(deleted())
      .thenRefused('expense-not-found')
  })
})

describe('ExpenseRestored', () => {
  test('E-g: the expense is unchanged, also if people were renamed or left, or the group was renamed', () => {
    const before = given(...trip, recorded()).when(proposed()).items
    const { items } = given(
      ...trip,
      recorded(),
      proposed(),
      deleted(),
      renamed(),
      profileChanged('bob'),
      left('cy'),
    ).when(restored())
    for (const name of [partName('bob'), partName('cy'), creditName('ann')]) expect(items[name]).toEqual(before[name])
    expect({ ...items[EXPENSE], _heard: [] }).toEqual({ ...before[EXPENSE], _heard: [] })
    expect(items[EXPENSE_NAME]).toEqual(before[EXPENSE_NAME])
    expect(items).not.toHaveProperty([DELETED_EXPENSE])
    expect(items[BALANCE]?.['members']).toEqual(before[BALANCE]?.['members'])
  })

  test('E-g: a repeated event changes nothing, also after another delete', () => {
    const first = restored()
    given(...trip, recorded(), deleted(), first)
      .when(first)
      .thenDuplicate()
    given(...trip, recorded(), deleted(), first, deleted())
      .when(first)
      .thenDuplicate()
  })

  test('of an expense that is not deleted, or by another person than the payer, it is refused', () => {
    given(...trip, recorded())
      .when(restored())
      .thenRefused('expense-not-deleted')
    given(...trip, recorded(), deleted())
      .when(restored({ meta: { actorId: 'bob' } }))
      .thenRefused('payer-only')
    given(...trip)
      .when(restored())
      .thenRefused('expense-not-found')
  })
})

test('an actor who is not a member has no name on the statement', () => {
  const event = { ...deleted(), meta: metaOf({ actorId: null }) }
  given(...trip, recorded())
    .when(event)
    .then({ [entry(event)]: { by: null, byName: null } })
})
