import { describe, expect, test } from 'vitest'
import type { SettlementProposed } from '../../../schemas/generated/expenses.ts'
import { given } from './given.ts'
import {
  at,
  BALANCE,
  claimed,
  confirmed,
  creditName,
  failed,
  HASH,
  left,
  NOW,
  proposed,
  recorded,
  SETTLEMENT,
  trip,
} from './events.ts'

const RECEIVED = 'GROUP#g1 / RECEIVED#s1#ann'
const OTHER = 'cd34'.repeat(16)

describe('SettlementProposed', () => {
  test('E9 E46 E-e: it is pending, both people have an item, and no balance changes', () => {
    const when = given(...trip, recorded()).when(proposed())
    when.then({
      [SETTLEMENT]: {
        GSI2PK: 'SETTLEMENT#s1',
        GSI2SK: 'g1',
        GSI3PK: 'USER#bob',
        GSI3SK: 'SETTLE#2026-11-16T12:00:00.000Z#s1',
        id: 's1',
        groupId: 'g1',
        fromUserId: 'bob',
        fromUserName: 'Bob',
        toUserId: 'ann',
        toUserName: 'Ann',
        amount: 10,
        currency: 'EUR',
        txHash: null,
        status: 'pending',
        createdAt: '2026-11-16T12:00:00.000Z',
      },
      [RECEIVED]: {
        GSI3PK: 'USER#ann',
        GSI3SK: 'RECEIVED#2026-11-16T12:00:00.000Z#s1',
        status: 'pending',
        fromUserName: 'Bob',
        amount: 10,
      },
      'GROUP#g1 / SETTLEMENT#s1': { at: '2026-11-16T12:00:00.000Z' },
    })
    expect(when.items[BALANCE]).toEqual(when.before[BALANCE])
    expect(when.items[RECEIVED]).not.toHaveProperty('GSI2PK')
  })

  test('E-a: two settlements of one millisecond are two items, and a repeated event adds none', () => {
    const { items } = given(...trip, proposed()).when(proposed({ settlementId: 's2' }))
    expect(Object.keys(items).filter((name) => name.includes(' / SETTLE#'))).toHaveLength(2)
    given(...trip, proposed())
      .when(proposed({ amountMinor: 5n }))
      .thenDuplicate()
  })

  test('E-i: a person who left can still pay their debts', () =>
    given(...trip, recorded(), left('bob'))
      .when(proposed())
      .then({ [SETTLEMENT]: { status: 'pending' } }))

  const bad: readonly [string, string, Partial<SettlementProposed['data']>][] = [
    ['to oneself', 'settlement-to-self', { toUserId: 'bob' }],
    ['of nothing', 'amount-invalid', { amountMinor: 0n }],
    ['of 10^30', 'amount-invalid', { amountMinor: 10n ** 30n }],
    ['to a stranger', 'member-unknown', { toUserId: 'eve' }],
    ['in no currency', 'currency-unknown', { currency: '' }],
    ['with other decimals', 'exponent-changed', { exponent: 0 }],
    ['without an id', 'settlement-invalid', { settlementId: '' }],
    ['by no transaction', 'settlement-invalid', { txHash: 'x' }],
  ]
  test.each(bad)('E-c: a settlement %s is refused: %s', (_, code, fields) =>
    given(...trip, recorded())
      .when(proposed(fields))
      .thenRefused(code),
  )
  test('in an unknown group it is refused', () => given().when(proposed()).thenRefused('group-not-found'))
})

describe('SettlementConfirmed', () => {
  const paid = confirmed({ verifiedAt: NOW + 60_000, ...at(1) })

  test('E46 E-d E-j: it is completed, and counts as sent and received', () => {
    given(...trip, recorded(), proposed())
      .when(paid)
      .then({
        [SETTLEMENT]: {
          status: 'completed',
          completedAt: '2026-11-16T12:01:00.000Z',
          confirmedBy: 'manual',
          txHash: null,
        },
        [RECEIVED]: { status: 'completed' },
        [BALANCE]: { members: { ann: { paid: 3000, share: 1000, received: 1000 }, bob: { share: 1000, sent: 1000 } } },
        [creditName('ann')]: { owed: { cy: 1000 } },
        [`GROUP#g1 / LOG#2026-11-16T12:01:00.000Z#${paid.meta.eventId}`]: {
          kind: 'settlement-confirmed',
          settlementId: 's1',
          fromId: 'bob',
          subjectId: 'ann',
          moved: { EUR: { ann: { received: 1000 }, bob: { sent: 1000 } } },
        },
      })
  })

  test('a payer who pays too much gets a credit', () =>
    given(...trip, recorded(), proposed({ amountMinor: 1500n }))
      .when(confirmed())
      .then({ [creditName('ann')]: { owed: { bob: -500, cy: 1000 } } }))

  test('E-j: confirming twice counts once', () => {
    given(...trip, proposed(), paid)
      .when(paid)
      .thenDuplicate()
    given(...trip, proposed(), paid)
      .when(confirmed())
      .thenDuplicate()
    const byTon = confirmed({ txHash: HASH, confirmedBy: 'ton' })
    given(...trip, proposed(), byTon)
      .when(confirmed({ txHash: HASH, confirmedBy: 'ton' }))
      .thenDuplicate()
    given(...trip, proposed(), byTon)
      .when(confirmed({ txHash: OTHER, confirmedBy: 'ton' }))
      .thenRefused('settlement-final', /completed/)
  })

  test('E-j: a failed settlement stays failed', () =>
    given(...trip, proposed(), failed())
      .when(paid)
      .thenRefused('settlement-final', /failed/))

  test('E-j: the transaction that a payer names counts only after its claim', () =>
    given(...trip, proposed({ txHash: HASH }))
      .when(paid)
      .then({ [SETTLEMENT]: { status: 'completed', txHash: null } }))

  test('E-c: other decimals than those of the balance are refused', () =>
    given(...trip, proposed(), recorded({ exponent: 3 }))
      .when(paid)
      .thenRefused('exponent-changed'))

  test('for an unknown settlement it is refused', () => {
    given(...trip)
      .when(paid)
      .thenRefused('settlement-not-found')
    given().when(paid).thenRefused('group-not-found')
    given(...trip, proposed())
      .when(confirmed({ txHash: '?' }))
      .thenRefused('settlement-invalid')
  })
})

describe('SettlementFailed', () => {
  test('E9 E-j: it is failed, and no balance changes', () => {
    const when = given(...trip, recorded(), proposed()).when(failed())
    when.then({ [SETTLEMENT]: { status: 'failed' }, [RECEIVED]: { status: 'failed' } })
    expect(when.items[BALANCE]).toEqual(when.before[BALANCE])
    expect(when.items[SETTLEMENT]).not.toHaveProperty('completedAt')
  })
  test('E-j: a completed settlement is final, and a repeated failure changes nothing', () => {
    given(...trip, proposed(), confirmed())
      .when(failed())
      .thenRefused('settlement-final', /completed/)
    given(...trip, proposed(), failed())
      .when(failed())
      .thenDuplicate()
    given(...trip)
      .when(failed())
      .thenRefused('settlement-not-found')
  })
})

describe('TransactionClaimed', () => {
  test('E-j: a transaction completes the first settlement that claims it, by a derived event of the group', () => {
    const when = given().when(claimed())
    when.then({ [`TXHASH#${HASH} / CLAIM`]: { txHash: HASH, groupId: 'g1', settlementId: 's1' } })
    expect(when.result.derived).toEqual([
      {
        purpose: 'confirmed',
        event: {
          type: 'SettlementConfirmed',
          key: 'g1',
          data: { settlementId: 's1', txHash: HASH, verifiedAt: NOW, confirmedBy: 'ton' },
        },
      },
    ])
  })
  test('E-j: a repeated claim is a duplicate, and another settlement is refused', () => {
    given(claimed()).when(claimed()).thenDuplicate()
    given(claimed())
      .when(claimed({ settlementId: 's2' }))
      .thenRefused('transaction-claimed', /s1/)
    given(claimed())
      .when(claimed({ groupId: 'g2' }))
      .thenRefused('transaction-claimed')
  })
  test('under another key, or for nothing, it is refused', () => {
    for (const bad of [{ txHash: OTHER }, { groupId: '' }, { settlementId: '#' }, { txHash: '', meta: { key: 'tx:' } }])
      given().when(claimed(bad)).thenRefused('transaction-invalid')
  })
})
