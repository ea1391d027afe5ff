import { describe, expect, test } from 'vitest'
import { as } from '../person.ts'
import { openGroupOfThree, openExpenses, typesOf } from './group-of-three.ts'

describe('a group', () => {
  test('E25: is created with its first member. Default currency: TON', async () => {
    const edge = await openExpenses()
    const ann = await as(edge, '123')
    const made = await ann.sendCommand('POST', '/api/groups', {
      title: 'Roommates',
      chatId: '-1001234567890',
      name: 'Ann',
      username: 'ann',
      avatarUrl: 'https://t.example/123.jpg',
    })
    expect(made).toMatchObject({
      status: 201,
      body: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        chatId: '-1001234567890',
        title: 'Roommates',
        currency: 'TON',
        createdAt: '2026-11-16T12:00:00.000Z',
        memberCount: 1,
        simplify: true,
        members: [
          {
            id: '123',
            telegramId: 123,
            name: 'Ann',
            username: 'ann',
            avatarUrl: 'https://t.example/123.jpg',
            wallet: null,
            joinedAt: '2026-11-16T12:00:00.000Z',
          },
        ],
      },
    })
    expect(made.text).not.toContain('_heard')
  })

  test('E25: a second request with the same key makes no second group', async () => {
    const edge = await openExpenses()
    const ann = await as(edge, '123')
    const [one, two] = [
      await ann.sendCommand('POST', '/api/groups', { title: 'A' }, { 'idempotency-key': 'k' }),
      await ann.sendCommand('POST', '/api/groups', { title: 'A' }, { 'idempotency-key': 'k' }),
    ]
    expect([one.status, two.status, two.body.id]).toEqual([201, 201, one.body.id])
    expect(await ann.sendCommand('POST', '/api/groups', { title: 'B' }, { 'idempotency-key': 'k' })).toMatchObject({
      status: 422,
      body: { code: 'idempotency-key-reused' },
    })
    expect((await ann.getPath('/api/groups')).body.items).toHaveLength(1)
  })

  test('E23 E18: a person lists their own groups, and no others, page by page', async () => {
    const { edge, ann, bob, id } = await openGroupOfThree()
    await ann.sendCommand('POST', '/api/groups', { title: 'Work' })
    const first = await ann.getPath('/api/groups?limit=1')
    const second = await ann.getPath(`/api/groups?limit=1&cursor=${String(first.body.cursor)}`)
    expect([...first.body.items, ...second.body.items].map(({ title }) => title).sort()).toEqual(['Roommates', 'Work'])
    expect((await bob.getPath('/api/groups')).body.items).toMatchObject([{ id, title: 'Roommates', memberCount: 3 }])
    expect((await (await as(edge, '999')).getPath('/api/groups')).body).toEqual({ items: [] })
    await bob.sendCommand('POST', `/api/groups/${id}/leave`)
    expect((await bob.getPath('/api/groups')).body.items).toEqual([])
  })

  test('E24 E10 E11 E12: is shown with its members', async () => {
    const { group, bob } = await openGroupOfThree()
    expect((await bob.getPath(group)).body).toMatchObject({
      title: 'Roommates',
      currency: 'EUR',
      memberCount: 3,
      members: [
        { id: '123', name: 'Ann' },
        { id: '456', name: 'Bob' },
        { id: '789', name: 'Cyd' },
      ],
    })
  })

  test('E5: the title, the currency and each setting are changed separately', async () => {
    const { group, ann, bob } = await openGroupOfThree()
    expect(await bob.sendCommand('PATCH', group, { title: 'Flat 7' })).toMatchObject({
      status: 200,
      body: { title: 'Flat 7' },
    })
    expect(await bob.sendCommand('PATCH', group, { currency: 'TON' })).toMatchObject({
      status: 200,
      body: { currency: 'TON' },
    })
    expect(await bob.sendCommand('PATCH', group, { simplify: false })).toMatchObject({
      status: 200,
      body: { simplify: false },
    })
    for (const [body, field, code] of [
      [{}, undefined, 'nothing-to-change'],
      [{ title: 'A', currency: 'EUR' }, undefined, 'too-many'],
      [{ currency: 'XYZ' }, '/currency', 'currency-unknown'],
      [{ currency: 'eur' }, '/currency', 'currency-unknown'],
      [{ title: '' }, '/title', 'too-short'],
      [{ title: '  ' }, '/title', 'bad-format'],
      [{ simplify: 'yes' }, '/simplify', 'wrong-type'],
      [{ owner: 'me' }, '/owner', 'unknown-field'],
      [{ title: 5 }, '/title', 'wrong-type'],
    ] as const) {
      expect(await ann.sendCommand('PATCH', group, body), JSON.stringify(body)).toMatchObject({
        status: 400,
        body: { code, ...(field && { field }) },
      })
    }
    expect((await ann.getPath(group)).body).toMatchObject({ title: 'Flat 7', currency: 'TON', simplify: false })
  })

  test('E-h: a member cannot link a chat to a group', async () => {
    const { edge, group, ann } = await openGroupOfThree()
    expect(await ann.sendCommand('PATCH', group, { chatId: '-1009876543210' })).toMatchObject({
      status: 400,
      body: { code: 'unknown-field', field: '/chatId' },
    })
    expect(await ann.sendCommand('POST', '/api/groups', { title: 'X', chatId: 'abc' })).toMatchObject({
      status: 400,
      body: { code: 'bad-format', field: '/chatId' },
    })
    expect((await ann.sendCommand('POST', '/api/groups', { title: 'X', chatId: '-1001234567890' })).body).toMatchObject(
      { chatId: '-1001234567890' },
    )
    expect(typesOf(edge).filter((type) => /Chat/.test(type))).toEqual([])
  })

  test('answers 404 to a person who is not a member, on every route, as for an unknown group', async () => {
    const { edge, group, ann } = await openGroupOfThree()
    const dan = await as(edge, '999')
    const {
      body: { id: expense },
    } = await ann.sendCommand('POST', `${group}/expenses`, { amount: 9, description: 'Beer' })
    const before = edge.events.length
    for (const place of [group, '/api/groups/none', '/api/groups/a%23b']) {
      for (const path of [
        '',
        '/invitations',
        '/export',
        '/expenses',
        `/expenses/${expense}`,
        `/expenses/${expense}/history`,
        '/activity',
        '/balances',
        '/balances?as-of=2026-11-16',
        '/debts',
        '/settlements',
        '/settlements/x',
      ]) {
        expect(await dan.getPath(place + path), place + path).toMatchObject({
          status: 404,
          body: { code: 'group-not-found' },
        })
      }
      for (const [method, path, body] of [
        ['PATCH', '', { title: 'Mine' }],
        ['POST', '/invitations', {}],
        ['DELETE', '/invitations/x', undefined],
        ['PUT', '/owner', { userId: '999' }],
        ['DELETE', '/members/123', undefined],
        ['POST', '/archive', undefined],
        ['POST', '/unarchive', undefined],
        ['POST', '/leave', undefined],
        ['PUT', '/wallet', { wallet: 'EQabc' }],
        ['PUT', '/profile', { name: 'Dan' }],
        ['POST', '/expenses', { amount: 1, description: 'x' }],
        ['PUT', `/expenses/${expense}`, { amount: 1, description: 'x', revision: 1 }],
        ['DELETE', `/expenses/${expense}`, undefined],
        ['POST', `/expenses/${expense}/restore`, undefined],
        ['POST', '/settlements', { toUserId: '123', amount: 1, currency: 'EUR' }],
        ['PUT', '/settlements/x', { status: 'completed' }],
      ] as const) {
        expect(await dan.sendCommand(method, place + path, body), `${method} ${place}${path}`).toMatchObject({
          status: 404,
          body: { code: 'group-not-found' },
        })
      }
    }
    expect(
      edge.events
        .slice(before)
        .map(({ type }) => type)
        .filter((type) => type !== 'PatUsed'),
    ).toEqual([])
  })
})

describe('a member', () => {
  test('E26: joins by an invitation, once also if they send it several times', async () => {
    const { edge, group, invitation } = await openGroupOfThree()
    const dan = await as(edge, '999')
    expect(await dan.sendCommand('POST', '/api/groups/none/join', { invitation })).toMatchObject({
      status: 403,
      body: { code: 'invitation-only' },
    })
    expect(
      await dan.sendCommand('POST', `${group}/join`, { invitation, name: 'Dan', username: 'dan_d' }),
    ).toMatchObject({ status: 200, body: { memberCount: 4 } })
    expect(await dan.sendCommand('POST', `${group}/join`, { name: 'Daniel' })).toMatchObject({
      status: 200,
      body: { memberCount: 4 },
    })
    expect((await dan.getPath(group)).body['members']).toMatchObject([
      {},
      {},
      {},
      { id: '999', name: 'Daniel', joinedAt: '2026-11-16T12:00:00.000Z' },
    ])
    for (const [body, field, code] of [
      [{ name: 5 }, '/name', 'wrong-type'],
      [{ name: '' }, '/name', 'too-short'],
      [{ userId: '1' }, '/userId', 'unknown-field'],
      [{ username: '@dan' }, '/username', 'bad-format'],
      [{ invitation: 5 }, '/invitation', 'wrong-type'],
    ] as const) {
      expect(await dan.sendCommand('POST', `${group}/join`, body), JSON.stringify(body)).toMatchObject({
        status: 400,
        body: { field, code },
      })
    }
  })

  test('keeps their previous name if they send none', async () => {
    const { edge, bob, group, invitation } = await openGroupOfThree()
    const { body } = await bob.sendCommand('POST', '/api/groups', { title: 'Chess' })
    expect(body['members']).toMatchObject([{ id: '456', name: 'Bob' }])
    const dan = await as(edge, '999')
    expect((await dan.sendCommand('POST', `${group}/join`, { invitation })).body['members']).toMatchObject([
      {},
      {},
      {},
      { id: '999', name: '999' },
    ])
  })

  test('E27 E6: sets their wallet, and removes it', async () => {
    const { group, bob } = await openGroupOfThree()
    expect(
      await bob.sendCommand('PUT', `${group}/wallet`, { wallet: 'EQBvI0aFLnw2QbZgjMPCLRdtRHxhUyinQudg6sdiohIwg5jL' }),
    ).toMatchObject({ status: 200, body: { id: '456', wallet: 'EQBvI0aFLnw2QbZgjMPCLRdtRHxhUyinQudg6sdiohIwg5jL' } })
    expect(await bob.sendCommand('PUT', `${group}/wallet`, { wallet: null })).toMatchObject({
      status: 200,
      body: { wallet: null },
    })
    for (const [body, field] of [
      [{}, '/wallet'],
      [{ wallet: '' }, '/wallet'],
      [{ wallet: 5 }, '/wallet'],
      [{ wallet: 'a b' }, '/wallet'],
      [{ wallet: 'x', userId: '123' }, '/userId'],
    ] as const) {
      expect(await bob.sendCommand('PUT', `${group}/wallet`, body), JSON.stringify(body)).toMatchObject({
        status: 400,
        body: { field },
      })
    }
  })

  test('E-k: changes their name; earlier items keep the old one', async () => {
    const { group, ann, bob } = await openGroupOfThree()
    const {
      body: { id },
    } = await bob.sendCommand('POST', `${group}/expenses`, { amount: 9, description: 'Beer' })
    expect(await bob.sendCommand('PUT', `${group}/profile`, { name: 'Robert' })).toMatchObject({
      status: 200,
      body: { name: 'Robert', username: null },
    })
    expect((await ann.getPath(`${group}/expenses/${id}`)).body).toMatchObject({ payerName: 'Bob' })
    expect((await bob.sendCommand('POST', `${group}/expenses`, { amount: 9, description: 'Beer' })).body).toMatchObject(
      { payerName: 'Robert' },
    )
  })

  test('E-i: a person who left can read and settle, can do nothing else, and can return by an invitation', async () => {
    const { edge, group, ann, bob, invitation } = await openGroupOfThree()
    await ann.sendCommand('POST', `${group}/expenses`, { amount: 30, description: 'Taxi' })
    expect(await bob.sendCommand('POST', `${group}/leave`)).toMatchObject({
      status: 200,
      body: { id: '456', leftAt: '2026-11-16T12:00:00.000Z' },
    })
    expect((await bob.sendCommand('POST', `${group}/leave`)).status).toBe(200)
    expect((await ann.getPath(group)).body).toMatchObject({
      memberCount: 2,
      members: [{}, { id: '456', leftAt: '2026-11-16T12:00:00.000Z' }, {}],
    })
    expect((await bob.getPath(`${group}/balances`)).body.items).toMatchObject([
      { members: [{ userId: '123' }, { userId: '456', net: '-10.00' }, {}] },
    ])
    for (const [method, path, body] of [
      ['POST', '/expenses', { amount: 1, description: 'x' }],
      ['PATCH', '', { title: 'x' }],
      ['PUT', '/wallet', { wallet: 'EQx' }],
      ['PUT', '/profile', { name: 'x' }],
    ] as const) {
      expect(await bob.sendCommand(method, group + path, body)).toMatchObject({
        status: 403,
        body: { code: 'member-left' },
      })
    }
    const {
      body: { id },
    } = await bob.sendCommand('POST', `${group}/settlements`, { toUserId: '123', amount: 10, currency: 'EUR' })
    expect(await ann.sendCommand('PUT', `${group}/settlements/${id}`, { status: 'completed' })).toMatchObject({
      status: 200,
      body: { status: 'completed' },
    })
    expect(await bob.sendCommand('POST', `${group}/join`)).toMatchObject({
      status: 403,
      body: { code: 'invitation-only' },
    })
    expect((await bob.sendCommand('POST', `${group}/join`, { invitation })).body).toMatchObject({ memberCount: 3 })
    expect(typesOf(edge).filter((type) => type === 'MemberJoined')).toHaveLength(3)
  })
})
