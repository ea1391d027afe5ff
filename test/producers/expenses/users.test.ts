import { describe, expect, test } from 'vitest'
import { as, type Person } from '../person.ts'
import { DINNER, inviteBy, openGroupOfThree } from './group-of-three.ts'

/** Creates two groups of Ann and Bob with expenses in two currencies. Bob settles in one group. */
const openLife = async () => {
  const setup = await openGroupOfThree()
  const { edge, ann, bob, group } = setup
  const {
    body: { id },
  } = await ann.sendCommand('POST', '/api/groups', { title: 'Trip', currency: 'TON' })
  const trip = `/api/groups/${id}`
  await bob.sendCommand('POST', `${trip}/join`, { invitation: await inviteBy(ann, trip) })
  const both = [{ userId: '123' }, { userId: '456' }]
  const later = () => void (edge.clock.at += 1000)
  await ann.sendCommand('POST', `${group}/expenses`, { ...DINNER, splits: both })
  later()
  await bob.sendCommand('POST', `${trip}/expenses`, { amount: '3', description: 'Boat', currency: 'TON', splits: both })
  later()
  await ann.sendCommand('POST', `${trip}/expenses`, {
    amount: 7,
    description: 'Bus',
    currency: 'EUR',
    splits: [{ userId: '456' }],
  })
  later()
  const { body: settlement } = await bob.sendCommand('POST', `${group}/settlements`, {
    toUserId: '123',
    amount: 20,
    currency: 'EUR',
  })
  await ann.sendCommand('PUT', `${group}/settlements/${settlement.id}`, { status: 'completed' })
  return { ...setup, trip, settlement: settlement.id }
}

const walk = async (person: Person, url: string): Promise<readonly Readonly<Record<string, unknown>>[]> => {
  const items = []
  let cursor = ''
  do {
    const { status, body } = await person.getPath(`${url}limit=1${cursor}`)
    expect(status).toBe(200)
    items.push(...body.items)
    cursor = body.cursor === undefined ? '' : `&cursor=${encodeURIComponent(body.cursor)}`
  } while (cursor !== '')
  return items
}

describe('a person', () => {
  test('E36 E-m: has the latest profile from their groups', async () => {
    const { edge, bob, group } = await openGroupOfThree()
    expect((await bob.getPath('/api/users/me')).body).toEqual({
      id: '456',
      telegramId: 456,
      name: 'Bob',
      username: null,
      avatarUrl: null,
    })
    edge.clock.at += 1000
    await bob.sendCommand('PUT', `${group}/profile`, { name: 'Robert', username: 'bob' })
    expect((await bob.getPath('/api/users/me')).body).toMatchObject({ name: 'Robert', username: 'bob' })
    expect((await (await as(edge, 'zoe')).getPath('/api/users/me')).body).toEqual({
      id: 'zoe',
      telegramId: null,
      name: null,
      username: null,
      avatarUrl: null,
    })
  })

  test('E37 E20 E4: sees what they paid in all groups, the newest first', async () => {
    const { ann, bob } = await openLife()
    expect(await walk(ann, '/api/users/me/expenses?')).toMatchObject([
      { description: 'Bus', amount: '7.00', currency: 'EUR' },
      { description: 'Dinner', amount: '100.00' },
    ])
    expect((await bob.getPath('/api/users/me/expenses')).body.items).toMatchObject([
      { description: 'Boat', amount: '3.000000000', payerId: '456' },
    ])
  })

  test('E38 E19 E8 E2: sees what others paid for them', async () => {
    const { ann, bob } = await openLife()
    expect(await walk(bob, '/api/users/me/debts?')).toMatchObject([
      {
        description: 'Bus',
        groupTitle: 'Trip',
        amount: '7.00',
        totalAmount: '7.00',
        currency: 'EUR',
        payerId: '123',
        payerName: 'Ann',
        userId: '456',
        userName: 'Bob',
      },
      { description: 'Dinner', groupTitle: 'Roommates', amount: '50.00', totalAmount: '100.00' },
    ])
    expect((await ann.getPath('/api/users/me/debts')).body.items).toMatchObject([
      { description: 'Boat', amount: '1.500000000', totalAmount: '3.000000000' },
    ])
  })

  test('E39 E21 E-e: sees what they sent, and what they received', async () => {
    const { ann, bob, settlement } = await openLife()
    const sent = { id: settlement, amount: '20.00', status: 'completed', fromUserName: 'Bob', toUserName: 'Ann' }
    expect((await bob.getPath('/api/users/me/settlements')).body.items).toMatchObject([sent])
    expect((await bob.getPath('/api/users/me/settlements?direction=received')).body.items).toEqual([])
    expect((await ann.getPath('/api/users/me/settlements')).body.items).toEqual([])
    expect((await ann.getPath('/api/users/me/settlements?direction=received')).body.items).toMatchObject([sent])
    expect((await ann.getPath('/api/users/me/settlements?direction=both')).status).toBe(400)
  })

  test('E40 E22: sees all of it in one list by time, page by page', async () => {
    const { ann, bob } = await openLife()
    expect((await walk(bob, '/api/users/me/activity?')).map(({ kind, at }) => [kind, at])).toEqual([
      ['sent', '2026-11-16T12:00:03.000Z'],
      ['owed', '2026-11-16T12:00:02.000Z'],
      ['paid', '2026-11-16T12:00:01.000Z'],
      ['owed', '2026-11-16T12:00:00.000Z'],
    ])
    expect((await ann.getPath('/api/users/me/activity')).body.items).toMatchObject([
      { kind: 'received', settlement: { amount: '20.00' } },
      { kind: 'paid', expense: { description: 'Bus' } },
      { kind: 'owed', debt: { description: 'Boat' } },
      { kind: 'paid', expense: { description: 'Dinner' } },
    ])
    for (const cursor of ['x', '%23', Buffer.from('2026 paid').toString('base64url')])
      expect(await ann.getPath(`/api/users/me/activity?cursor=${cursor}`)).toMatchObject({
        status: 400,
        body: { code: 'bad-cursor' },
      })
  })

  test('E41 E-d: sees their sums over groups, by currency', async () => {
    const { ann, bob, cyd } = await openLife()
    const mirrored = {
      paid: '3.000000000',
      share: '1.500000000',
      sent: '0.000000000',
      received: '0.000000000',
      net: '1.500000000',
    }
    expect((await bob.getPath('/api/users/me/summary')).body).toEqual({
      items: [
        { currency: 'EUR', groups: 2, paid: '0.00', share: '57.00', sent: '20.00', received: '0.00', net: '-37.00' },
        { currency: 'TON', groups: 1, ...mirrored },
      ],
    })
    expect((await ann.getPath('/api/users/me/summary')).body.items).toMatchObject([
      { currency: 'EUR', paid: '107.00', share: '50.00', received: '20.00', net: '37.00' },
      { currency: 'TON', net: '-1.500000000' },
    ])
    expect((await cyd.getPath('/api/users/me/summary')).body).toEqual({ items: [] })
  })

  test('E41 E-i: still has the debts of a group that they left', async () => {
    const { bob } = await openLife()
    const before = (await bob.getPath('/api/users/me/summary')).body
    for (const { id } of (await bob.getPath('/api/groups')).body.items)
      expect(await bob.sendCommand('POST', `/api/groups/${id}/leave`)).toMatchObject({ status: 200 })
    expect((await bob.getPath('/api/groups')).body).toEqual({ items: [] })
    expect((await bob.getPath('/api/users/me/summary')).body).toEqual(before)
  })

  test('E22: the events of a group are listed with their actors', async () => {
    const { ann, group } = await openLife()
    const { body } = await ann.getPath(`${group}/activity`)
    expect(body.items.map(({ kind, by }) => [kind, by])).toEqual([
      ['settlement-confirmed', '123'],
      ['settlement-proposed', '456'],
      ['expense-recorded', '123'],
      ['member-joined', '789'],
      ['member-joined', '456'],
      ['invitation-created', '123'],
      ['group-created', '123'],
    ])
  })
})

test('a request without a token is answered 401 everywhere', async () => {
  const { edge, group } = await openGroupOfThree()
  for (const url of ['/api/groups', group, `${group}/balances`, '/api/users/me'])
    expect((await edge.app.inject({ url })).statusCode).toBe(401)
})
