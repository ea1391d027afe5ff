import { describe, expect, test } from 'vitest'
import { as, type Person } from '../person.ts'
import type { EdgeAnswer } from '../../../testing/edge/request.ts'
import { DINNER, inviteBy, netsIn, openGroupOfThree, typesOf } from './group-of-three.ts'

const HOUR = 3_600_000
const FORBIDDEN = { status: 403, body: { code: 'invitation-only' } } as const

describe('an invitation', () => {
  test('is created with an id, a random secret and an expiry', async () => {
    const { group, bob } = await openGroupOfThree()
    const made = await bob.sendCommand('POST', `${group}/invitations`)
    expect(made).toMatchObject({
      status: 201,
      body: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        secret: expect.stringMatching(/^[\w-]{32}$/) as string,
        expiresAt: '2026-11-23T12:00:00.000Z',
      },
    })
    expect((await bob.sendCommand('POST', `${group}/invitations`, { expiresInHours: 1 })).body).toMatchObject({
      expiresAt: '2026-11-16T13:00:00.000Z',
    })
    for (const expiresInHours of [0, 721, 1.5, '24'])
      expect(await bob.sendCommand('POST', `${group}/invitations`, { expiresInHours })).toMatchObject({
        status: 400,
        body: { field: '/expiresInHours' },
      })
  })

  test('E26: is needed to join: the id of a group is not sufficient', async () => {
    const { edge, group } = await openGroupOfThree()
    const dan = await as(edge, '999')
    for (const body of [
      undefined,
      {},
      { name: 'Dan' },
      { invitation: 'guessed' },
      { invitation: 'A'.repeat(32), name: 'Dan' },
    ])
      expect(await dan.sendCommand('POST', `${group}/join`, body), JSON.stringify(body)).toMatchObject(FORBIDDEN)
    expect(await dan.getPath(group)).toMatchObject({ status: 404 })
  })

  test('that is wrong leaves no event in the log of the group, and gets the same answer as for a group that does not exist', async () => {
    const { edge, group } = await openGroupOfThree()
    const dan = await as(edge, '999')
    const joins = () => edge.events.filter(({ type }) => type === 'MemberJoined').length
    const before = joins()
    expect(await dan.sendCommand('POST', `${group}/join`, { invitation: 'A'.repeat(32) })).toMatchObject(FORBIDDEN)
    expect(await dan.sendCommand('POST', '/api/groups/none/join', { invitation: 'A'.repeat(32) })).toMatchObject(
      FORBIDDEN,
    )
    expect(joins()).toBe(before)
  })

  test('of a person who was removed since: a repeated request shows nothing of the group', async () => {
    const { edge, group, ann, invitation } = await openGroupOfThree()
    const dan = await as(edge, '999')
    const join = () => dan.sendCommand('POST', `${group}/join`, { invitation, name: 'Dan' }, { 'idempotency-key': 'j' })
    expect(await join()).toMatchObject({ status: 200 })
    expect(await ann.sendCommand('DELETE', `${group}/members/999`)).toMatchObject({ status: 200 })
    const again = await join()
    expect(again.status).toBe(403)
    expect(again.body).not.toHaveProperty('members')
  })

  test('admits to its own group only', async () => {
    const { edge, ann, invitation } = await openGroupOfThree()
    const {
      body: { id },
    } = await ann.sendCommand('POST', '/api/groups', { title: 'Other' })
    expect(await (await as(edge, '999')).sendCommand('POST', `/api/groups/${id}/join`, { invitation })).toMatchObject(
      FORBIDDEN,
    )
  })

  test('expires', async () => {
    const { edge, group, bob } = await openGroupOfThree()
    const {
      body: { secret },
    } = await bob.sendCommand('POST', `${group}/invitations`, { expiresInHours: 2 })
    const join = async (user: string): Promise<EdgeAnswer> =>
      (await as(edge, user)).sendCommand('POST', `${group}/join`, { invitation: secret })
    edge.clock.at += 2 * HOUR - 1
    expect(await join('998')).toMatchObject({ status: 200, body: { memberCount: 4 } })
    edge.clock.at += 1
    expect(await join('999')).toMatchObject(FORBIDDEN)
    expect((await bob.getPath(`${group}/invitations`)).body.items).toHaveLength(1)
  })

  test('can be revoked only by its creator and the owner', async () => {
    const { edge, group, ann, bob, cyd } = await openGroupOfThree()
    const dan = await as(edge, '999')
    for (const by of [bob, ann]) {
      const {
        body: { id, secret },
      } = await bob.sendCommand('POST', `${group}/invitations`)
      expect(await cyd.sendCommand('DELETE', `${group}/invitations/${id}`)).toMatchObject({
        status: 403,
        body: { code: 'owner-only' },
      })
      expect(await by.sendCommand('DELETE', `${group}/invitations/${id}`)).toMatchObject({
        status: 200,
        body: { id, revoked: true },
      })
      expect(await by.sendCommand('DELETE', `${group}/invitations/${id}`)).toMatchObject({
        status: 404,
        body: { code: 'invitation-not-found' },
      })
      expect(await dan.sendCommand('POST', `${group}/join`, { invitation: secret })).toMatchObject(FORBIDDEN)
    }
    expect(await bob.sendCommand('DELETE', `${group}/invitations/a%23b`)).toMatchObject({
      status: 404,
      body: { code: 'invitation-not-found' },
    })
  })

  test('ends when its creator leaves', async () => {
    const { edge, group, bob } = await openGroupOfThree()
    const invitation = await inviteBy(bob, group)
    await bob.sendCommand('POST', `${group}/leave`)
    expect(await (await as(edge, '999')).sendCommand('POST', `${group}/join`, { invitation })).toMatchObject(FORBIDDEN)
  })

  test('is one of at most twenty', async () => {
    const { edge, group, ann, bob } = await openGroupOfThree()
    for (let n = 1; n < 20; n += 1)
      expect((await ann.sendCommand('POST', `${group}/invitations`, { expiresInHours: 24 })).status).toBe(201)
    expect(await bob.sendCommand('POST', `${group}/invitations`)).toMatchObject({
      status: 409,
      body: { code: 'too-many-invitations' },
    })
    edge.clock.at += 24 * HOUR
    expect((await bob.sendCommand('POST', `${group}/invitations`)).status).toBe(201)
    expect((await bob.getPath(`${group}/invitations`)).body.items).toMatchObject([
      { createdBy: '123', expiresAt: '2026-11-23T12:00:00.000Z' },
      { createdBy: '456' },
    ])
  })

  test('has a secret that is in no event, no item and no later answer', async () => {
    const { edge, group, ann, bob } = await openGroupOfThree()
    const key = { 'idempotency-key': 'k' }
    const {
      body: { id, secret, expiresAt },
    } = await ann.sendCommand('POST', `${group}/invitations`, {}, key)
    await (await as(edge, '999')).sendCommand('POST', `${group}/join`, { invitation: secret })
    expect(await ann.sendCommand('POST', `${group}/invitations`, {}, key)).toMatchObject({
      status: 201,
      body: { id, expiresAt },
    })
    const seen = [
      await ann.sendCommand('POST', `${group}/invitations`, {}, key),
      await bob.getPath(`${group}/invitations`),
      await bob.getPath(`${group}/activity`),
      await bob.getPath(`${group}/export`),
    ].map(({ text }) => text)
    const stored = JSON.stringify([edge.events, [...edge.items]], (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    expect([stored, ...seen].filter((text) => text.includes(String(secret)))).toEqual([])
    expect(stored).toContain('"secretHash"')
  })
})

/** Every route that reads data of a group. */
const reads = (expense: string, settlement: string) => [
  '',
  '/invitations',
  '/expenses',
  `/expenses/${expense}`,
  `/expenses/${expense}/history`,
  '/activity',
  '/balances',
  '/balances?as-of=2026-11-16',
  '/debts',
  '/settlements',
  `/settlements/${settlement}`,
  '/export',
  '/export?format=csv',
]

describe('a removed member', () => {
  const openRemoved = async () => {
    const setup = await openGroupOfThree()
    const { group, ann, bob } = setup
    const {
      body: { id: expense },
    } = await bob.sendCommand('POST', `${group}/expenses`, { amount: 30, description: 'Taxi' })
    const {
      body: { id: settlement },
    } = await bob.sendCommand('POST', `${group}/settlements`, { toUserId: '123', amount: 5, currency: 'EUR' })
    expect(await ann.sendCommand('DELETE', `${group}/members/456`)).toMatchObject({
      status: 200,
      body: { id: '456', removedAt: '2026-11-16T12:00:00.000Z' },
    })
    return { ...setup, expense, settlement }
  }

  test('E-l: can read nothing of the group, and no list contains the group', async () => {
    const { group, bob, expense, settlement } = await openRemoved()
    for (const path of reads(expense, settlement))
      expect(await bob.getPath(group + path), path).toMatchObject({ status: 403, body: { code: 'members-only' } })
    for (const path of [
      '/api/groups',
      '/api/users/me/expenses',
      '/api/users/me/debts',
      '/api/users/me/settlements',
      '/api/users/me/activity',
      '/api/users/me/summary',
    ])
      expect((await bob.getPath(path)).body.items, path).toEqual([])
  })

  test('changes nothing in the group', async () => {
    const { edge, group, bob, expense, settlement } = await openRemoved()
    const before = edge.events.length
    for (const [method, path, body] of [
      ['PATCH', '', { title: 'Mine' }],
      ['POST', '/leave', undefined],
      ['PUT', '/wallet', { wallet: 'EQabc' }],
      ['PUT', '/profile', { name: 'Dan' }],
      ['POST', '/expenses', DINNER],
      ['DELETE', `/expenses/${expense}`, undefined],
      ['POST', '/settlements', { toUserId: '123', amount: 1, currency: 'EUR' }],
      ['PUT', `/settlements/${settlement}`, { status: 'failed' }],
      ['POST', '/invitations', {}],
      ['PUT', '/owner', { userId: '456' }],
    ] as const) {
      expect(await bob.sendCommand(method, group + path, body), path).toMatchObject({
        status: 403,
        body: { code: 'members-only' },
      })
    }
    expect(edge.events.length).toBe(before)
  })

  test('E-i: keeps their balance, which the members can see and settle', async () => {
    const { group, ann } = await openRemoved()
    expect(netsIn(await ann.getPath(`${group}/balances`))).toEqual({ 123: '-10.00', 456: '20.00', 789: '-10.00' })
    const { body } = await ann.sendCommand('POST', `${group}/settlements`, {
      fromUserId: '456',
      toUserId: '123',
      amount: 5,
      currency: 'EUR',
    })
    expect(await ann.sendCommand('PUT', `${group}/settlements/${body.id}`, { status: 'completed' })).toMatchObject({
      status: 200,
      body: { status: 'completed' },
    })
    expect(
      await ann.sendCommand('POST', `${group}/expenses`, { ...DINNER, splits: [{ userId: '456' }] }),
    ).toMatchObject({ status: 409, body: { code: 'member-left' } })
  })

  test('E26: cannot join by an invitation from before the removal, and can by a later one', async () => {
    const { group, cyd, bob, invitation } = await openRemoved()
    expect(await bob.sendCommand('POST', `${group}/join`, { invitation })).toMatchObject(FORBIDDEN)
    expect(await bob.sendCommand('POST', `${group}/join`)).toMatchObject(FORBIDDEN)
    expect(await bob.sendCommand('POST', `${group}/join`, { invitation: await inviteBy(cyd, group) })).toMatchObject({
      status: 200,
      body: { memberCount: 3 },
    })
    expect((await bob.getPath('/api/users/me/expenses')).body.items).toHaveLength(1)
    expect(await bob.sendCommand('POST', `${group}/expenses`, DINNER)).toMatchObject({ status: 201 })
  })

  test('cannot read the group either if they had left before the removal', async () => {
    const { group, ann, cyd } = await openRemoved()
    await cyd.sendCommand('POST', `${group}/leave`)
    expect((await cyd.getPath(group)).status).toBe(200)
    expect((await ann.sendCommand('DELETE', `${group}/members/789`)).status).toBe(200)
    expect((await cyd.getPath(group)).status).toBe(403)
    expect((await ann.getPath(group)).body).toMatchObject({ memberCount: 1 })
  })

  test('is refused by the fold, if the removal comes between their request and its event', async () => {
    const { edge, group, ann, bob } = await openGroupOfThree()
    edge.pause()
    await ann.sendCommand('DELETE', `${group}/members/456`)
    await bob.sendCommand('POST', `${group}/expenses`, DINNER)
    edge.resume()
    expect(typesOf(edge).slice(-2)).toEqual(['GroupMemberRemoved', 'ExpenseRecorded'])
    expect([...edge.outcomes.values()].at(-1)).toMatchObject({ kind: 'refused', refusal: { code: 'members-only' } })
  })
})

describe('the owner of a group', () => {
  const ownerOf = async (person: Person, group: string) => (await person.getPath(group)).body['ownerId']

  test('is the creator, and the only person who can remove, hand over and archive', async () => {
    const { group, ann, bob } = await openGroupOfThree()
    expect(await ownerOf(bob, group)).toBe('123')
    for (const [method, path, body] of [
      ['DELETE', '/members/789', undefined],
      ['PUT', '/owner', { userId: '456' }],
      ['POST', '/archive', undefined],
      ['POST', '/unarchive', undefined],
    ] as const) {
      expect(await bob.sendCommand(method, group + path, body), path).toMatchObject({
        status: 403,
        body: { code: 'owner-only' },
      })
    }
    expect(await ann.sendCommand('DELETE', `${group}/members/999`)).toMatchObject({
      status: 404,
      body: { code: 'member-not-found' },
    })
    expect(await ann.sendCommand('DELETE', `${group}/members/123`)).toMatchObject({
      status: 409,
      body: { code: 'member-invalid' },
    })
    expect((await ann.getPath('/api/groups')).body.items).toMatchObject([{ ownerId: '123' }])
  })

  test('hands the group over to another member', async () => {
    const { group, ann, bob, cyd } = await openGroupOfThree()
    await cyd.sendCommand('POST', `${group}/leave`)
    expect(await ann.sendCommand('PUT', `${group}/owner`, { userId: '999' })).toMatchObject({
      status: 409,
      body: { code: 'member-unknown', field: '/userId' },
    })
    expect(await ann.sendCommand('PUT', `${group}/owner`, { userId: '789' })).toMatchObject({
      status: 409,
      body: { code: 'member-left' },
    })
    expect(await ann.sendCommand('PUT', `${group}/owner`, { userId: '456' })).toMatchObject({
      status: 200,
      body: { ownerId: '456' },
    })
    expect(await ann.sendCommand('DELETE', `${group}/members/456`)).toMatchObject({
      status: 403,
      body: { code: 'owner-only' },
    })
    expect((await bob.sendCommand('DELETE', `${group}/members/123`)).status).toBe(200)
  })

  test('is replaced by the member who joined first when they leave', async () => {
    const { edge, group, ann, bob, cyd, invitation } = await openGroupOfThree()
    edge.clock.at += 1000
    const amy = await as(edge, '100')
    await amy.sendCommand('POST', `${group}/join`, { invitation })
    await ann.sendCommand('POST', `${group}/leave`)
    expect(await ownerOf(cyd, group)).toBe('456')
    await bob.sendCommand('POST', `${group}/leave`)
    expect(await ownerOf(cyd, group)).toBe('789')
    await cyd.sendCommand('DELETE', `${group}/members/100`)
    await cyd.sendCommand('POST', `${group}/leave`)
    expect(await ownerOf(cyd, group)).toBe(null)
  })
})

describe('an archived group', () => {
  test('is read-only: every command but its unarchiving is answered 409', async () => {
    const { edge, group, ann, bob } = await openGroupOfThree()
    const {
      body: { id: expense },
    } = await bob.sendCommand('POST', `${group}/expenses`, DINNER)
    const {
      body: { id: settlement },
    } = await bob.sendCommand('POST', `${group}/settlements`, {
      toUserId: '123',
      amount: 5,
      currency: 'TON',
      txHash: 'a1b2c3d4e5f60718',
    })
    const invitation = await inviteBy(ann, group)
    expect(await ann.sendCommand('POST', `${group}/archive`)).toMatchObject({
      status: 200,
      body: { archivedAt: '2026-11-16T12:00:00.000Z' },
    })
    expect((await ann.sendCommand('POST', `${group}/archive`)).status).toBe(200)
    const before = [
      await bob.getPath(group),
      await bob.getPath(`${group}/balances`),
      await bob.getPath(`${group}/settlements`),
      await bob.getPath(`${group}/activity`),
    ].map(({ text }) => text)
    for (const [person, method, path, body] of [
      [bob, 'PATCH', '', { title: 'Mine' }],
      [bob, 'POST', '/leave', undefined],
      [bob, 'PUT', '/wallet', { wallet: 'EQabc' }],
      [bob, 'PUT', '/profile', { name: 'Dan' }],
      [bob, 'POST', '/expenses', DINNER],
      [bob, 'PUT', `/expenses/${expense}`, { ...DINNER, revision: 1 }],
      [bob, 'DELETE', `/expenses/${expense}`, undefined],
      [bob, 'POST', `/expenses/${expense}/restore`, undefined],
      [bob, 'POST', '/invitations', {}],
      [bob, 'POST', '/settlements', { toUserId: '123', amount: 1, currency: 'EUR' }],
      [ann, 'PUT', `/settlements/${settlement}`, { status: 'completed' }],
      [bob, 'PUT', `/settlements/${settlement}`, { status: 'failed' }],
      [ann, 'PUT', '/owner', { userId: '456' }],
      [ann, 'DELETE', '/members/456', undefined],
      [await as(edge, '999'), 'POST', '/join', { invitation }],
    ] as const) {
      expect(await person.sendCommand(method, group + path, body), path).toMatchObject({
        status: 409,
        body: { code: 'group-archived' },
      })
    }
    expect(
      [
        await bob.getPath(group),
        await bob.getPath(`${group}/balances`),
        await bob.getPath(`${group}/settlements`),
        await bob.getPath(`${group}/activity`),
      ].map(({ text }) => text),
    ).toEqual(before)
    expect(await ann.sendCommand('POST', `${group}/unarchive`)).toMatchObject({ status: 200 })
    expect((await ann.getPath(group)).body).not.toHaveProperty('archivedAt')
    expect(await bob.sendCommand('POST', `${group}/expenses`, DINNER)).toMatchObject({ status: 201 })
  })
})
