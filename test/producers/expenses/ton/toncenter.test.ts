import { hash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { TonMismatch, TonPayment } from '../../../../producers/expenses/ton.ts'
import { createTonCheck } from '../../../../producers/expenses/ton/toncenter.ts'
import { oneTxHash } from '../../../../projections/expenses/keys.ts'
import {
  contentOf,
  paid,
  startTon,
  type TonMessage,
  type TonService,
  type TonTransaction,
} from '../../../services/ton.ts'

const ANN = `0:${'A'.repeat(64)}`
const BOB = '0:83DFD552E63729B472FCBCC8C45EBCC6691702558B68EC7527E1BA403A0F31A8'
const BOB_FRIENDLY = 'UQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqEBI'
const EVE = `0:${'E'.repeat(64)}`

const base64 = (what: string): string => hash('sha256', what, 'base64')
const hex = (what: string): string => hash('sha256', what, 'hex')

const COMMENT = 'K7Q2M9X4TB'
const AFTER = Date.parse('2026-11-16T12:00:00.000Z')

const message = (more: Partial<TonMessage> = {}): TonMessage => ({
  hash: base64('message'),
  source: ANN,
  destination: BOB,
  value: '1500000000',
  bounce: true,
  bounced: false,
  ...contentOf(COMMENT),
  ...more,
})

/** A transaction on Bob's account: a payment of 1.5 TON from Ann. */
const arrived = (more: Partial<TonTransaction> = {}): TonTransaction =>
  paid({ name: 'arrived', from: ANN, to: BOB, nano: 1_500_000_000n, comment: COMMENT, ...more })

const payment: TonPayment = {
  txHash: hex('arrived'),
  to: BOB_FRIENDLY,
  amountMinor: 1_500_000_000n,
  comment: COMMENT,
  after: AFTER,
}
const NO_STATE = { skipped: true, reason: 'no_state' }

let ton: TonService
const errors: unknown[] = []
const checking = (more: { readonly key?: string; readonly timeoutMs?: number; readonly api?: string } = {}) =>
  createTonCheck({ api: ton.url, failed: (error) => errors.push(error), ...more })

beforeEach(async () => {
  errors.length = 0
  ton = await startTon()
})
afterEach(() => ton.stop())

describe('E-j a TON transaction', () => {
  test('E-j that transferred the amount with the comment is confirmed, in every spelling of its hash', async () => {
    ton.add(arrived())
    for (const txHash of [
      hex('arrived'),
      hex('arrived').toUpperCase(),
      base64('arrived'),
      Buffer.from(hex('arrived'), 'hex').toString('base64url'),
    ]) {
      expect(await checking().check({ ...payment, txHash }), txHash).toBe('confirmed')
    }
    expect(new Set(ton.requests)).toEqual(new Set([`GET /api/v3/transactions?limit=1&hash=${hex('arrived')}`]))
  })

  test('E-j has one spelling, so that it is claimed once', () => {
    const spellings = [
      hex('x'),
      hex('x').toUpperCase(),
      base64('x'),
      Buffer.from(hex('x'), 'hex').toString('base64url'),
    ]
    expect(new Set(spellings.map(oneTxHash))).toEqual(new Set([hex('x')]))
    expect(oneTxHash('not-a-hash-of-the-chain')).toBe('not-a-hash-of-the-chain')
  })

  const mismatches: readonly (readonly [what: string, mismatch: TonMismatch, transaction: TonTransaction])[] = [
    ['brought less', 'amount', arrived({ in_msg: message({ value: '1499999999' }) })],
    ['brought more', 'amount', arrived({ in_msg: message({ value: '15000000000' }) })],
    ['went to another wallet', 'receiver', arrived({ account: EVE, in_msg: message({ destination: EVE }) })],
    ['went the other way', 'receiver', arrived({ account: ANN, in_msg: message({ source: BOB, destination: ANN }) })],
    ['carries no comment', 'comment', arrived({ in_msg: message(contentOf()) })],
    ['carries the comment of another settlement', 'comment', arrived({ in_msg: message(contentOf('K7Q2M9X4TC')) })],
    ['carries the comment among other words', 'comment', arrived({ in_msg: message(contentOf(`for ${COMMENT}`)) })],
    [
      'calls a contract with an argument that reads like the comment',
      'comment',
      arrived({ in_msg: message({ opcode: '0x0f8a7ea5' }) }),
    ],
    [
      'carries an encrypted comment',
      'comment',
      arrived({
        in_msg: message({
          opcode: '0x2167da4b',
          message_content: { ...contentOf(COMMENT).message_content, decoded: null },
        }),
      }),
    ],
    ['is as old as the settlement', 'early', arrived({ now: AFTER / 1000 })],
    ['is older than the settlement', 'early', arrived({ now: AFTER / 1000 - 3600 })],
    ['returned an earlier payment', 'bounced', arrived({ in_msg: message({ bounced: true }) })],
    [
      'the account could not take',
      'bounced',
      arrived({ description: { type: 'ord', aborted: true, compute_ph: NO_STATE, bounce: { type: 'ok' } } }),
    ],
  ]
  test.each(mismatches)('E-j that %s does not complete the settlement: %s', async (_what, mismatch, transaction) => {
    ton.add(transaction)
    expect(await checking().check(payment)).toBe(mismatch)
  })

  test("E-j from another wallet than the payer's is confirmed by its comment", async () => {
    ton.add(arrived({ in_msg: message({ source: EVE }) }))
    expect(await checking().check(payment)).toBe('confirmed')
  })

  test('E-j with spaces around the comment, or in small letters, is confirmed', async () => {
    ton.add(arrived({ in_msg: message(contentOf(` ${COMMENT.toLowerCase()}\n`)) }))
    expect(await checking().check(payment)).toBe('confirmed')
  })

  test('to an account without a contract that keeps the amount is confirmed', async () => {
    ton.add(
      arrived({
        in_msg: message({ bounce: false }),
        description: { type: 'ord', aborted: true, compute_ph: NO_STATE },
      }),
    )
    expect(await checking().check(payment)).toBe('confirmed')
  })

  const unknown: readonly (readonly [what: string, transaction: TonTransaction])[] = [
    [
      "the sender's own, which only shows that a message was sent",
      arrived({
        account: ANN,
        in_msg: message({ source: null, destination: ANN, value: null, bounce: null }),
        out_msgs: [message()],
      }),
    ],
    ['in no block of the masterchain yet', arrived({ mc_block_seqno: null })],
    ['only a guess', arrived({ emulated: true })],
    ['another than was asked for', arrived({ hash: base64('another') })],
  ]
  test.each(unknown)('E-j that is %s returns unknown', async (_what, transaction) => {
    ton.add(transaction)
    expect(await checking().check(payment)).toBe('unknown')
    expect(errors).toEqual([])
  })

  test('is not looked up if the payee has no wallet, or if it is no hash', async () => {
    ton.add(arrived())
    for (const to of [null, 'bob']) expect(await checking().check({ ...payment, to })).toBe('no-wallet')
    for (const txHash of ['not-a-hash-of-the-chain', '../../../secret/files'])
      expect(await checking().check({ ...payment, txHash })).toBe('hash')
    expect(ton.requests).toEqual([])
  })
})

describe('the API for transactions', () => {
  test('can require a key', async () => {
    const guarded = await startTon('s3cret')
    guarded.add(arrived())
    expect(await checking({ api: guarded.url, key: 's3cret' }).check(payment)).toBe('confirmed')
    expect(await checking({ api: guarded.url }).check(payment)).toBe('unknown')
    expect(String(errors[0])).toContain('answered 401')
    expect(String(errors[0])).not.toContain('s3cret')
    await guarded.stop()
  })

  test.each(['cut', 'html', 'busy', 'moved'] as const)(
    'returns unknown on a fault (%s), and the fault is reported',
    async (kind) => {
      ton.trouble(kind)
      expect(await checking().check(payment)).toBe('unknown')
      expect(errors).toHaveLength(1)
    },
  )

  test('times out if it does not answer', async () => {
    ton.trouble('silent')
    expect(await checking({ timeoutMs: 50 }).check(payment)).toBe('unknown')
    expect(String(errors[0])).toContain('TimeoutError')
  })

  test('returns unknown if it is not reachable', async () => {
    const gone = await startTon()
    await gone.stop()
    expect(await checking({ api: gone.url }).check(payment)).toBe('unknown')
    expect(errors).toHaveLength(1)
  })
})
