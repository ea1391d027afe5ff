import { describe, expect, test } from 'vitest'
import type { TonCheck, TonPayment } from '../../../producers/expenses/ton.ts'
import { NOON } from '../../../testing/event.ts'
import { DINNER, netsIn, openGroupOfThree } from './group-of-three.ts'

const HASH = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'
const OTHER_HASH = HASH.replaceAll('a', 'f')

/** Bob owes Ann 10 EUR and proposes a settlement. */
const openDebt = async (ton?: TonCheck, currency = 'EUR') => {
  const setup = await openGroupOfThree(ton)
  await setup.ann.sendCommand('POST', `${setup.group}/expenses`, {
    amount: 10,
    description: 'Lunch',
    currency,
    splits: [{ userId: '456' }],
  })
  const { body } = await setup.bob.sendCommand('POST', `${setup.group}/settlements`, {
    toUserId: '123',
    amount: '10.00',
    currency,
  })
  return { ...setup, settlement: body, path: `${setup.group}/settlements/${body.id}` }
}

describe('a settlement', () => {
  test('E34 E9: is proposed by the payer, and changes no balance yet', async () => {
    const { id, group, bob, settlement } = await openDebt()
    expect(settlement).toMatchObject({
      groupId: id,
      groupTitle: 'Roommates',
      fromUserId: '456',
      fromUserName: 'Bob',
      toUserId: '123',
      toUserName: 'Ann',
      amount: '10.00',
      currency: 'EUR',
      txHash: null,
      comment: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{10}$/) as string,
      status: 'pending',
      createdAt: '2026-11-16T12:00:00.000Z',
    })
    expect(netsIn(await bob.getPath(`${group}/balances`))).toEqual({ 123: '10.00', 456: '-10.00' })
  })

  test('E34: can be proposed by the payee, too; a repeated request creates no second one', async () => {
    const { group, ann } = await openGroupOfThree()
    const body = { fromUserId: '456', toUserId: '123', amount: 5, currency: 'EUR' }
    const [one, two] = [
      await ann.sendCommand('POST', `${group}/settlements`, body, { 'idempotency-key': 'k' }),
      await ann.sendCommand('POST', `${group}/settlements`, body, { 'idempotency-key': 'k' }),
    ]
    expect([one.status, two.status, two.body]).toEqual([201, 201, one.body])
    expect((await ann.getPath(`${group}/settlements`)).body.items).toMatchObject([
      { fromUserId: '456', createdBy: '123' },
    ])
  })

  test('E33 E14 E17: is in the list, the newest first, page by page, and found by its id', async () => {
    const { edge, group, ann, bob, settlement } = await openDebt()
    edge.clock.at += 1000
    const { body: later } = await bob.sendCommand('POST', `${group}/settlements`, {
      toUserId: '789',
      amount: 1,
      currency: 'TON',
    })
    const first = await ann.getPath(`${group}/settlements?limit=1`)
    const second = await ann.getPath(`${group}/settlements?limit=1&cursor=${String(first.body.cursor)}`)
    expect([...first.body.items, ...second.body.items].map(({ id }) => id)).toEqual([later.id, settlement.id])
    expect((await ann.getPath(`${group}/settlements/${settlement.id}`)).body).toEqual(settlement)
    expect(await ann.getPath(`${group}/settlements/none`)).toMatchObject({
      status: 404,
      body: { code: 'settlement-not-found' },
    })
  })

  test('E35 E46: completed by the payee, it counts once, also if the request is repeated', async () => {
    const { edge, group, ann, bob, path } = await openDebt()
    expect(await bob.sendCommand('PUT', path, { status: 'completed' })).toMatchObject({
      status: 403,
      body: { code: 'receiver-only', field: '/txHash' },
    })
    edge.clock.at += 5000
    const done = await ann.sendCommand('PUT', path, { status: 'completed' })
    expect(done).toMatchObject({
      status: 200,
      body: { status: 'completed', completedAt: '2026-11-16T12:00:05.000Z', confirmedBy: 'manual' },
    })
    edge.clock.at += 5000
    for (const again of [
      await ann.sendCommand('PUT', path, { status: 'completed' }),
      await bob.sendCommand('PUT', path, { status: 'completed' }),
    ])
      expect([again.status, again.body]).toEqual([200, done.body])
    expect(netsIn(await bob.getPath(`${group}/balances`))).toEqual({ 123: '0.00', 456: '0.00' })
    expect((await bob.getPath(`${group}/debts`)).body.items).toMatchObject([{ currency: 'EUR', debts: [] }])
  })

  test('E-j: completed and failed are final', async () => {
    const { group, ann, bob, cyd, path } = await openDebt()
    expect(await cyd.sendCommand('PUT', path, { status: 'failed' })).toMatchObject({
      status: 403,
      body: { code: 'party-only' },
    })
    expect(await bob.sendCommand('PUT', path, { status: 'failed' })).toMatchObject({
      status: 200,
      body: { status: 'failed' },
    })
    expect(await ann.sendCommand('PUT', path, { status: 'failed' })).toMatchObject({
      status: 200,
      body: { status: 'failed' },
    })
    expect(await ann.sendCommand('PUT', path, { status: 'completed' })).toMatchObject({
      status: 409,
      body: { code: 'settlement-final' },
    })
    const {
      body: { id },
    } = await bob.sendCommand('POST', `${group}/settlements`, { toUserId: '123', amount: 10, currency: 'EUR' })
    await ann.sendCommand('PUT', `${group}/settlements/${id}`, { status: 'completed' })
    expect(await ann.sendCommand('PUT', `${group}/settlements/${id}`, { status: 'failed' })).toMatchObject({
      status: 409,
      body: { code: 'settlement-final' },
    })
    expect(netsIn(await ann.getPath(`${group}/balances`))).toEqual({ 123: '0.00', 456: '0.00' })
  })

  test.each([
    [{}, '/status', 'missing-field'],
    [{ status: 'pending' }, '/status', 'not-allowed'],
    [{ status: 'completed', txHash: 5 }, '/txHash', 'wrong-type'],
    [{ status: 'completed', txHash: 'x' }, '/txHash', 'too-short'],
    [{ status: 'completed', amount: 1 }, '/amount', 'unknown-field'],
  ])('E35: %j is no status', async (body, field, code) => {
    const { ann, path } = await openDebt()
    expect(await ann.sendCommand('PUT', path, body)).toMatchObject({ status: 400, body: { field, code } })
  })
})

describe('a transaction', () => {
  test('E-j: completes one settlement: the first that the payee confirms with it, however often', async () => {
    const { group, ann, bob, path } = await openDebt(undefined, 'TON')
    const done = await ann.sendCommand('PUT', path, { status: 'completed', txHash: HASH })
    expect(done).toMatchObject({ status: 200, body: { status: 'completed', txHash: HASH, confirmedBy: 'manual' } })
    expect(await bob.sendCommand('PUT', path, { status: 'completed', txHash: HASH.toUpperCase() })).toMatchObject({
      status: 200,
      body: done.body,
    })
    expect(await ann.sendCommand('PUT', path, { status: 'completed', txHash: OTHER_HASH })).toMatchObject({
      status: 409,
      body: { code: 'settlement-final' },
    })
    const {
      body: { id },
    } = await bob.sendCommand('POST', `${group}/settlements`, {
      toUserId: '123',
      amount: 10,
      currency: 'TON',
      txHash: HASH,
    })
    expect(
      await ann.sendCommand('PUT', `${group}/settlements/${id}`, { status: 'completed', txHash: HASH }),
    ).toMatchObject({ status: 409, body: { code: 'transaction-claimed' } })
    expect((await bob.getPath(`${group}/settlements/${id}`)).body).toMatchObject({ status: 'pending' })
    expect(netsIn(await bob.getPath(`${group}/balances`), 'TON')).toEqual({ 123: '0.000000000', 456: '0.000000000' })
  })

  test('E-j: that completes another settlement does not prevent the payee from confirming without it', async () => {
    const { group, ann, bob, path } = await openDebt(undefined, 'TON')
    await ann.sendCommand('PUT', path, { status: 'completed', txHash: HASH })
    const {
      body: { id },
    } = await bob.sendCommand('POST', `${group}/settlements`, {
      toUserId: '123',
      amount: 10,
      currency: 'TON',
      txHash: HASH,
    })
    expect(await ann.sendCommand('PUT', `${group}/settlements/${id}`, { status: 'completed' })).toMatchObject({
      status: 200,
      body: { status: 'completed', txHash: null },
    })
  })

  test("E-j: does not complete a settlement by the payer's request, if the server looks up no transactions", async () => {
    const { group, ann, bob, path } = await openDebt(undefined, 'TON')
    expect(await bob.sendCommand('PUT', path, { status: 'completed', txHash: HASH })).toMatchObject({
      status: 403,
      body: { code: 'receiver-only', field: '/txHash' },
    })
    const {
      body: { id },
    } = await bob.sendCommand('POST', `${group}/settlements`, {
      toUserId: '123',
      amount: 10,
      currency: 'TON',
      txHash: HASH,
    })
    expect(await bob.sendCommand('PUT', `${group}/settlements/${id}`, { status: 'completed' })).toMatchObject({
      status: 403,
      body: { code: 'receiver-only' },
    })
    expect(netsIn(await bob.getPath(`${group}/balances`), 'TON')).toEqual({ 123: '10.000000000', 456: '-10.000000000' })
    expect(await ann.sendCommand('PUT', `${group}/settlements/${id}`, { status: 'completed' })).toMatchObject({
      status: 200,
      body: { status: 'completed', txHash: HASH, confirmedBy: 'manual' },
    })
  })

  const openTon = async (...answers: readonly Awaited<ReturnType<TonCheck['check']>>[]) => {
    const requests: TonPayment[] = []
    const check = async (payment: TonPayment) => {
      requests.push(payment)
      return answers[requests.length - 1] ?? 'unknown'
    }
    const setup = await openDebt({ check })
    await setup.ann.sendCommand('PUT', `${setup.group}/wallet`, { wallet: 'EQann' })
    const {
      body: { id, comment },
    } = await setup.bob.sendCommand('POST', `${setup.group}/settlements`, {
      toUserId: '123',
      amount: '1.5',
      currency: 'TON',
      txHash: HASH,
    })
    return { ...setup, requests, comment, ton: `${setup.group}/settlements/${id}` }
  }

  test("E35: of TON is looked up on the chain by the payee's wallet, the amount, the comment and the time of the settlement", async () => {
    const { bob, ton, requests, comment } = await openTon('unknown', 'confirmed')
    expect(await bob.sendCommand('PUT', ton, { status: 'completed' })).toMatchObject({
      status: 503,
      headers: { 'retry-after': '10' },
      body: { code: 'transaction-unconfirmed' },
    })
    expect(await bob.sendCommand('PUT', ton, { status: 'completed' })).toMatchObject({
      status: 200,
      body: { status: 'completed', txHash: HASH, confirmedBy: 'ton', comment },
    })
    expect((await bob.sendCommand('PUT', ton, { status: 'completed', txHash: HASH })).status).toBe(200)
    expect(requests).toEqual(
      [1, 2].map(() => ({ txHash: HASH, to: 'EQann', amountMinor: 1_500_000_000n, comment, after: NOON })),
    )
  })

  test.each(['no-wallet', 'hash', 'receiver', 'amount', 'comment', 'early', 'bounced'] as const)(
    "E35: that is not the payment (%s) needs the payee's confirmation",
    async (mismatch) => {
      const { ann, bob, ton } = await openTon(mismatch)
      const refused = await bob.sendCommand('PUT', ton, { status: 'completed' })
      expect(refused).toMatchObject({
        status: 403,
        body: {
          code: 'receiver-only',
          field: '/txHash',
          detail: expect.stringContaining('Only the payee (Ann) can confirm') as string,
        },
      })
      expect((await bob.getPath(ton)).body).toMatchObject({ status: 'pending' })
      expect(await ann.sendCommand('PUT', ton, { status: 'completed' })).toMatchObject({
        status: 200,
        body: { status: 'completed', confirmedBy: 'manual' },
      })
    },
  )

  test('E35: is not looked up if the payee confirms it', async () => {
    const { ann, ton, requests } = await openTon()
    expect(await ann.sendCommand('PUT', ton, { status: 'completed', txHash: HASH })).toMatchObject({
      status: 200,
      body: { status: 'completed', confirmedBy: 'manual', txHash: HASH },
    })
    expect(requests).toEqual([])
  })

  test('E35: proves nothing in another currency than TON: there only the payee can confirm', async () => {
    const { group, ann, bob, path } = await openDebt({ check: async () => 'confirmed' })
    expect(await bob.sendCommand('PUT', path, { status: 'completed', txHash: HASH })).toMatchObject({
      status: 403,
      body: { code: 'receiver-only', field: '/txHash' },
    })
    expect(netsIn(await bob.getPath(`${group}/balances`))).toEqual({ 123: '10.00', 456: '-10.00' })
    expect(await ann.sendCommand('PUT', path, { status: 'completed', txHash: HASH })).toMatchObject({
      status: 200,
      body: { status: 'completed', confirmedBy: 'manual', txHash: HASH },
    })
    expect(await bob.sendCommand('PUT', path, { status: 'completed', txHash: HASH })).toMatchObject({
      status: 200,
      body: { status: 'completed' },
    })
  })

  test('that is claimed while its settlement is not completed yet is answered 202', async () => {
    const { edge, ann, bob, path } = await openDebt(undefined, 'TON')
    edge.pause()
    expect(await ann.sendCommand('PUT', path, { status: 'completed', txHash: HASH })).toMatchObject({
      status: 202,
      body: { state: 'pending' },
    })
    edge.resume()
    expect((await bob.getPath(path)).body).toMatchObject({ status: 'completed' })
  })
})

test('E-c: currencies are never mixed', async () => {
  const { group, ann, bob } = await openGroupOfThree()
  await ann.sendCommand('POST', `${group}/expenses`, { ...DINNER, splits: [{ userId: '456' }] })
  await ann.sendCommand('POST', `${group}/expenses`, { ...DINNER, currency: 'TON', splits: [{ userId: '456' }] })
  const {
    body: { id },
  } = await bob.sendCommand('POST', `${group}/settlements`, { toUserId: '123', amount: 40, currency: 'TON' })
  await ann.sendCommand('PUT', `${group}/settlements/${id}`, { status: 'completed' })
  await ann.sendCommand('PATCH', group, { currency: 'USD' })
  const balances = await ann.getPath(`${group}/balances`)
  expect([netsIn(balances), netsIn(balances, 'TON'), netsIn(balances, 'USD')]).toEqual([
    { 123: '100.00', 456: '-100.00' },
    { 123: '60.000000000', 456: '-60.000000000' },
    {},
  ])
  expect((await bob.getPath(`${group}/debts`)).body.items).toMatchObject([
    { currency: 'EUR', debts: [{ amount: '100.00' }] },
    { currency: 'TON', debts: [{ fromUserId: '456', toUserId: '123', amount: '60.000000000' }] },
  ])
})
