import { describe, expect, test } from 'vitest'
import { DINNER, netsIn, openGroupOfThree } from './group-of-three.ts'

const HOUR = 3_600_000

describe('balances', () => {
  test('E46 E-d: contain what each person paid, bears, sent and received; the nets sum up to zero', async () => {
    const { group, ann, bob, cyd } = await openGroupOfThree()
    await ann.sendCommand('POST', `${group}/expenses`, {
      ...DINNER,
      splitType: 'exact',
      splits: [
        { userId: '123', amount: 20 },
        { userId: '456', amount: 30 },
        { userId: '789', amount: 50 },
      ],
    })
    const {
      body: { id },
    } = await cyd.sendCommand('POST', `${group}/settlements`, { toUserId: '123', amount: 50, currency: 'EUR' })
    await ann.sendCommand('PUT', `${group}/settlements/${id}`, { status: 'completed' })
    expect((await bob.getPath(`${group}/balances`)).body).toEqual({
      items: [
        {
          currency: 'EUR',
          members: [
            {
              userId: '123',
              userName: 'Ann',
              paid: '100.00',
              share: '20.00',
              sent: '0.00',
              received: '50.00',
              net: '30.00',
            },
            {
              userId: '456',
              userName: 'Bob',
              paid: '0.00',
              share: '30.00',
              sent: '0.00',
              received: '0.00',
              net: '-30.00',
            },
            {
              userId: '789',
              userName: 'Cyd',
              paid: '0.00',
              share: '50.00',
              sent: '50.00',
              received: '0.00',
              net: '0.00',
            },
          ],
        },
      ],
    })
  })

  test('as of a day are those at its end, and as of an instant those at that instant', async () => {
    const { edge, group, ann } = await openGroupOfThree()
    const half = (amount: number) =>
      ann.sendCommand('POST', `${group}/expenses`, {
        amount,
        description: 'x',
        splits: [{ userId: '123' }, { userId: '456' }],
      })
    await half(10)
    edge.clock.at += HOUR
    const {
      body: { id },
    } = await half(20)
    edge.clock.at += 24 * HOUR
    await ann.sendCommand('DELETE', `${group}/expenses/${id}`)
    edge.clock.at += 24 * HOUR
    await half(100)
    const asOf = async (time: string) =>
      netsIn(await ann.getPath(`${group}/balances?as-of=${encodeURIComponent(time)}`))['123']
    expect(await Promise.all(['2026-11-15', '2026-11-16', '2026-11-17', '2026-11-18', '2030-01-01'].map(asOf))).toEqual(
      [undefined, '15.00', '5.00', '55.00', '55.00'],
    )
    expect(
      await Promise.all(
        [
          '2026-11-16T11:59:59Z',
          '2026-11-16T13:30:00+01:00',
          '2026-11-16T13:00:00Z',
          '2026-11-17T12:59:59.999Z',
          '2026-11-17T13:00:00Z',
          '2026-11-18T23:00:00Z',
        ].map(asOf),
      ),
    ).toEqual([undefined, '5.00', '15.00', '15.00', '5.00', '55.00'])
    for (const [time, code] of [
      ['yesterday', 'bad-instant'],
      ['2026-02-30', 'bad-date'],
      ['2026-11-16T12:00:00', 'bad-instant'],
    ] as const) {
      expect(await ann.getPath(`${group}/balances?as-of=${time}`)).toMatchObject({
        status: 400,
        body: { code, field: 'querystring/as-of' },
      })
    }
  })
})

describe('debts', () => {
  /** Creates debts in a chain: Cyd owes Bob the amount that Bob owes Ann. */
  const openChain = async () => {
    const setup = await openGroupOfThree()
    await setup.ann.sendCommand('POST', `${setup.group}/expenses`, {
      amount: 10,
      description: 'x',
      splits: [{ userId: '456' }],
    })
    await setup.bob.sendCommand('POST', `${setup.group}/expenses`, {
      amount: 10,
      description: 'y',
      splits: [{ userId: '789' }],
    })
    return setup
  }

  test('E32: are the fewest payments or pair by pair, by the setting of the group or by the request', async () => {
    const { group, ann } = await openChain()
    const fewest = {
      simplify: true,
      items: [
        {
          currency: 'EUR',
          debts: [{ fromUserId: '789', fromUserName: 'Cyd', toUserId: '123', toUserName: 'Ann', amount: '10.00' }],
        },
      ],
    }
    const pairs = {
      simplify: false,
      items: [
        {
          currency: 'EUR',
          debts: [
            { fromUserId: '456', toUserId: '123', amount: '10.00' },
            { fromUserId: '789', toUserId: '456', amount: '10.00' },
          ],
        },
      ],
    }
    expect((await ann.getPath(`${group}/debts`)).body).toEqual(fewest)
    expect((await ann.getPath(`${group}/debts?simplify=false`)).body).toMatchObject(pairs)
    await ann.sendCommand('PATCH', group, { simplify: false })
    expect((await ann.getPath(`${group}/debts`)).body).toMatchObject(pairs)
    expect((await ann.getPath(`${group}/debts?simplify=true`)).body).toEqual(fewest)
    expect(await ann.getPath(`${group}/debts?simplify=maybe`)).toMatchObject({
      status: 400,
      body: { field: 'querystring/simplify' },
    })
  })

  test('E32: after the suggested payments no debt is left', async () => {
    const { group, ann, cyd } = await openChain()
    const {
      body: { id },
    } = await cyd.sendCommand('POST', `${group}/settlements`, { toUserId: '123', amount: '10.00', currency: 'EUR' })
    await ann.sendCommand('PUT', `${group}/settlements/${id}`, { status: 'completed' })
    expect((await ann.getPath(`${group}/debts`)).body.items).toEqual([{ currency: 'EUR', debts: [] }])
  })
})
