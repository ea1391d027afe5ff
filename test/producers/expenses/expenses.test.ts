import { describe, expect, test } from 'vitest'
import { as } from '../person.ts'
import { DINNER, inviteBy, netsIn, openGroupOfThree } from './group-of-three.ts'

const THIRDS = ['33.33', '33.33', '33.34']

describe('an expense', () => {
  test('E30 E7 E42: is shared equally by all members by default; amounts in answers are decimals', async () => {
    const { group, id: groupId, ann } = await openGroupOfThree()
    const made = await ann.sendCommand('POST', `${group}/expenses`, { ...DINNER, category: 'food' })
    expect(made).toMatchObject({
      status: 201,
      body: {
        groupId,
        payerId: '123',
        payerName: 'Ann',
        amount: '100.00',
        currency: 'EUR',
        description: 'Dinner',
        splitType: 'equal',
        category: 'food',
        revision: 1,
        date: '2026-11-16T12:00:00.000Z',
        createdAt: '2026-11-16T12:00:00.000Z',
        createdBy: '123',
      },
    })
    const splits = made.body['splits'] as readonly { userId: string; userName: string; amount: string }[]
    expect(splits.map(({ userId, userName }) => [userId, userName])).toEqual([
      ['123', 'Ann'],
      ['456', 'Bob'],
      ['789', 'Cyd'],
    ])
    expect(splits.map(({ amount }) => amount).sort()).toEqual(THIRDS)
    expect(made.headers['tributary-event']).toMatch(/^0:\d+:/)
  })

  test.each([
    [
      'exact',
      {
        splitType: 'exact',
        splits: [
          { userId: '123', amount: '99.99' },
          { userId: '456', amount: 0.01 },
          { userId: '789', amount: 0 },
        ],
      },
      ['99.99', '0.01', '0.00'],
    ],
    [
      'by percentage',
      {
        splitType: 'percentage',
        splits: [
          { userId: '123', percentage: 33.33 },
          { userId: '456', percentage: 33.33 },
          { userId: '789', percentage: 33.34 },
        ],
      },
      ['33.33', '33.33', '33.34'],
    ],
    [
      'by shares',
      {
        splitType: 'shares',
        splits: [
          { userId: '123', shares: 1 },
          { userId: '456', shares: 3 },
        ],
      },
      ['25.00', '75.00'],
    ],
    ['equal among some', { splits: [{ userId: '456' }, { userId: '789' }] }, ['50.00', '50.00']],
  ])('E30 E-b: a split that is %s sums up to the amount', async (_name, split, amounts) => {
    const { group, ann } = await openGroupOfThree()
    const { status, body } = await ann.sendCommand('POST', `${group}/expenses`, { ...DINNER, ...split })
    expect(status).toBe(201)
    expect((body['splits'] as readonly { amount: string }[]).map(({ amount }) => amount)).toEqual(amounts)
    expect(body['splits']).toMatchObject(
      (split.splits as readonly object[]).map((each) => ('amount' in each ? {} : each)),
    )
  })

  test('E30: another person can have paid it, at another time, in another currency', async () => {
    const { group, ann } = await openGroupOfThree()
    const body = {
      amount: '0.000000001',
      description: 'Gas',
      payerId: '456',
      currency: 'TON',
      date: '2026-05-01T20:00:00+02:00',
    }
    expect(await ann.sendCommand('POST', `${group}/expenses`, body)).toMatchObject({
      status: 201,
      body: {
        payerId: '456',
        payerName: 'Bob',
        createdBy: '123',
        amount: '0.000000001',
        currency: 'TON',
        date: '2026-05-01T18:00:00.000Z',
      },
    })
    expect(
      await ann.sendCommand('POST', `${group}/expenses`, { ...body, date: '2026-05-01', amount: 12, currency: 'JPY' }),
    ).toMatchObject({ status: 201, body: { amount: '12', date: '2026-05-01T00:00:00.000Z' } })
  })

  test('E30: a repeated request creates no second expense, also if people left since', async () => {
    const { group, ann, bob } = await openGroupOfThree()
    const body = { ...DINNER, splits: [{ userId: '123' }, { userId: '456' }] }
    const once = await ann.sendCommand('POST', `${group}/expenses`, body, { 'idempotency-key': 'dinner' })
    await bob.sendCommand('POST', `${group}/leave`)
    const again = await ann.sendCommand('POST', `${group}/expenses`, body, { 'idempotency-key': 'dinner' })
    expect([again.status, again.body]).toEqual([201, once.body])
    expect(
      await ann.sendCommand('POST', `${group}/expenses`, { ...body, amount: 1 }, { 'idempotency-key': 'dinner' }),
    ).toMatchObject({ status: 422 })
    expect((await ann.getPath(`${group}/expenses`)).body.items).toHaveLength(1)
  })

  test('E30 E34: the same Idempotency-Key in two groups creates two different ids, and again in one group the same id', async () => {
    const { group, ann, bob } = await openGroupOfThree()
    const other = `/api/groups/${(await ann.sendCommand('POST', '/api/groups', { title: 'Other', currency: 'EUR' })).body.id}`
    await bob.sendCommand('POST', `${other}/join`, { invitation: await inviteBy(ann, other) })
    for (const [path, body] of [
      ['expenses', DINNER],
      ['settlements', { toUserId: '456', amount: 5, currency: 'EUR' }],
      ['invitations', {}],
    ] as const) {
      const create = async (place: string) => {
        const made = await ann.sendCommand('POST', `${place}/${path}`, body, { 'idempotency-key': `one-${path}` })
        expect(made.status).toBe(201)
        return made.body.id
      }
      const [here, there, again] = [await create(group), await create(other), await create(group)]
      expect(there, path).not.toBe(here)
      expect(again, path).toBe(here)
    }
  })

  test('E30: a retry whose path is encoded in another way is the same request', async () => {
    const { edge, id, ann } = await openGroupOfThree()
    const key = { 'idempotency-key': 'k' }
    const [once, again] = [
      await ann.sendCommand('POST', `/api/groups/${id}/expenses`, DINNER, key),
      await ann.sendCommand(
        'POST',
        `/api/groups/%${String(id).charCodeAt(0).toString(16)}${String(id).slice(1)}/expenses`,
        DINNER,
        key,
      ),
    ]
    expect([once.status, again.status, again.body]).toEqual([201, 201, once.body])
    expect(edge.events.filter(({ type }) => type === 'ExpenseRecorded').map(({ meta }) => meta.eventId)).toEqual(
      Array(2).fill(String(once.headers['tributary-event']).split(':')[2]),
    )
  })

  test('E28 E13 E-a: expenses of one millisecond are all in the list, the newest first, page by page', async () => {
    const { edge, group, ann, bob } = await openGroupOfThree()
    const ids: string[] = []
    for (let n = 0; n < 5; n += 1) {
      if (n === 3) edge.clock.at += 1000
      ids.push((await ann.sendCommand('POST', `${group}/expenses`, { amount: n + 1, description: `No. ${n}` })).body.id)
    }
    const seen: string[] = []
    let cursor = ''
    do {
      const page = await bob.getPath(`${group}/expenses?limit=2${cursor}`)
      expect(page.body.items.length).toBeLessThanOrEqual(2)
      seen.push(...page.body.items.map(({ id }) => id))
      cursor = page.body.cursor === undefined ? '' : `&cursor=${page.body.cursor}`
    } while (cursor !== '')
    expect([...seen].sort()).toEqual([...ids].sort())
    expect(new Set(seen.slice(0, 2))).toEqual(new Set(ids.slice(3)))
    for (const query of ['limit=0', 'limit=201', 'limit=x', 'cursor=%23', 'page=2'])
      expect((await bob.getPath(`${group}/expenses?${query}`)).status, query).toBe(400)
  })

  test('E29 E16 E3: is found by its id, in its own group only', async () => {
    const { group, ann, bob } = await openGroupOfThree()
    const {
      body: { id, ...expense },
    } = await ann.sendCommand('POST', `${group}/expenses`, DINNER)
    expect((await bob.getPath(`${group}/expenses/${id}`)).body).toEqual({ id, ...expense })
    const { body: other } = await bob.sendCommand('POST', '/api/groups', { title: 'Other' })
    for (const path of [
      `/api/groups/${other.id}/expenses/${id}`,
      `/api/groups/${other.id}/expenses/${id}/history`,
      `${group}/expenses/none`,
      `${group}/expenses/a%23b`,
    ]) {
      expect(await bob.getPath(path), path).toMatchObject({ status: 404, body: { code: 'expense-not-found' } })
    }
    for (const [method, tail, body] of [
      ['PUT', '', { ...DINNER, revision: 1 }],
      ['DELETE', '', undefined],
      ['POST', '/restore', undefined],
    ] as const) {
      expect(await bob.sendCommand(method, `/api/groups/${other.id}/expenses/${id}${tail}`, body)).toMatchObject({
        status: 404,
        body: { code: 'expense-not-found' },
      })
    }
  })

  test('E31 E43: is deleted by the payer, and restored unchanged', async () => {
    const { group, ann, bob } = await openGroupOfThree()
    const { body } = await ann.sendCommand('POST', `${group}/expenses`, DINNER)
    const path = `${group}/expenses/${body.id}`
    const before = await ann.getPath(`${group}/balances`)
    expect(await bob.sendCommand('DELETE', path)).toMatchObject({ status: 403, body: { code: 'payer-only' } })
    expect(await ann.sendCommand('DELETE', path)).toMatchObject({ status: 200, body: { id: body.id, deleted: true } })
    expect((await ann.sendCommand('DELETE', path)).status).toBe(200)
    expect(await ann.getPath(path)).toMatchObject({ status: 404, body: { code: 'expense-deleted' } })
    expect((await ann.getPath(`${group}/expenses`)).body.items).toEqual([])
    expect(netsIn(await ann.getPath(`${group}/balances`))).toEqual({})
    expect(await bob.sendCommand('POST', `${path}/restore`)).toMatchObject({
      status: 403,
      body: { code: 'payer-only' },
    })
    expect(await ann.sendCommand('POST', `${path}/restore`)).toMatchObject({ status: 200, body })
    expect((await ann.getPath(path)).body).toEqual(body)
    expect((await ann.getPath(`${group}/balances`)).body.items).toMatchObject(
      before.body.items.map(({ members }) => ({ members })),
    )
    expect(await ann.sendCommand('POST', `${path}/restore`)).toMatchObject({
      status: 409,
      body: { code: 'expense-not-deleted' },
    })
  })

  test('E-l: can be corrected by the payer, the person who recorded it and the owner of the group; the history shows who did', async () => {
    const { edge, group, ann, bob, cyd, invitation } = await openGroupOfThree()
    const dot = await as(edge, '1011')
    await dot.sendCommand('POST', `${group}/join`, { invitation, name: 'Dot' })
    const {
      body: { id },
    } = await cyd.sendCommand('POST', `${group}/expenses`, { ...DINNER, payerId: '456' })
    const path = `${group}/expenses/${id}`
    expect(await dot.sendCommand('PUT', path, { ...DINNER, revision: 1 })).toMatchObject({
      status: 403,
      body: { code: 'editor-only' },
    })
    for (const [index, person] of [bob, cyd, ann].entries()) {
      edge.clock.at += 1000
      expect(
        await person.sendCommand('PUT', path, { ...DINNER, amount: 90 + index, revision: index + 1 }),
      ).toMatchObject({ status: 200, body: { amount: `9${index}.00`, revision: index + 2 } })
    }
    expect((await dot.getPath(`${path}/history`)).body.items.map(({ kind, by, byName }) => [kind, by, byName])).toEqual(
      [
        ['expense-recorded', '789', 'Cyd'],
        ['expense-revised', '456', 'Bob'],
        ['expense-revised', '789', 'Cyd'],
        ['expense-revised', '123', 'Ann'],
      ],
    )
    for (const person of [cyd, ann])
      expect(await person.sendCommand('DELETE', path)).toMatchObject({ status: 403, body: { code: 'payer-only' } })
    await cyd.sendCommand('POST', `${group}/leave`)
    expect((await cyd.sendCommand('PUT', path, { ...DINNER, revision: 4 })).status).toBe(403)
    await ann.sendCommand('DELETE', `${group}/members/456`)
    expect((await bob.sendCommand('PUT', path, { ...DINNER, revision: 4 })).status).toBe(403)
  })

  test('its date can be edited, and is another field than the time of its recording', async () => {
    const { edge, group, ann, bob } = await openGroupOfThree()
    const {
      body: { id },
    } = await ann.sendCommand('POST', `${group}/expenses`, { ...DINNER, date: '2026-05-01' })
    await ann.sendCommand('POST', `${group}/expenses`, { ...DINNER, date: '2026-05-02' })
    const path = `${group}/expenses/${id}`
    expect((await bob.getPath(path)).body).toMatchObject({
      date: '2026-05-01T00:00:00.000Z',
      createdAt: '2026-11-16T12:00:00.000Z',
    })
    edge.clock.at += 60_000
    expect(
      await ann.sendCommand('PUT', path, { ...DINNER, revision: 1, date: '2026-05-03T10:00:00+02:00' }),
    ).toMatchObject({
      status: 200,
      body: {
        date: '2026-05-03T08:00:00.000Z',
        createdAt: '2026-11-16T12:00:00.000Z',
        updatedAt: '2026-11-16T12:01:00.000Z',
      },
    })
    expect((await bob.getPath(`${group}/expenses`)).body.items.map(({ date }) => date)).toEqual([
      '2026-05-03T08:00:00.000Z',
      '2026-05-02T00:00:00.000Z',
    ])
    expect((await bob.getPath('/api/users/me/debts')).body.items).toMatchObject([
      { expenseId: id, date: '2026-05-03T08:00:00.000Z', createdAt: '2026-11-16T12:00:00.000Z' },
      {},
    ])
    expect((await bob.getPath('/api/users/me/activity')).body.items).toMatchObject([
      { at: '2026-05-03T08:00:00.000Z' },
      { at: '2026-05-02T00:00:00.000Z' },
    ])
    expect((await bob.getPath(`${path}/history`)).body.items).toMatchObject([
      { after: { date: '2026-05-01T00:00:00.000Z' } },
      { after: { date: '2026-05-03T08:00:00.000Z' } },
    ])
    expect(await ann.sendCommand('PUT', path, { ...DINNER, revision: 2 })).toMatchObject({
      status: 200,
      body: { date: '2026-05-03T08:00:00.000Z' },
    })
  })

  test('deleted expenses are listed with the time and the person, the last deleted first, page by page, for members only', async () => {
    const { edge, group, ann, bob } = await openGroupOfThree()
    const ids: string[] = []
    for (let n = 0; n < 4; n += 1) {
      const {
        body: { id },
      } = await ann.sendCommand('POST', `${group}/expenses`, { ...DINNER, date: `2026-05-0${n + 1}` })
      ids.push(id)
    }
    const unchanged = (await ann.getPath(`${group}/expenses/${ids[1]}`)).body
    // Deletes two expenses in the same millisecond, so that their ids decide their order.
    for (const id of [ids[1], ids[2]]) await ann.sendCommand('DELETE', `${group}/expenses/${id}`)
    edge.clock.at += 60_000
    await ann.sendCommand('DELETE', `${group}/expenses/${ids[0]}`)
    const seen: unknown[] = []
    let cursor = ''
    do {
      const { body } = await bob.getPath(`${group}/expenses?deleted=true&limit=1${cursor}`)
      seen.push(...body.items)
      cursor = body.cursor === undefined ? '' : `&cursor=${body.cursor}`
    } while (cursor !== '')
    expect(seen).toMatchObject([{ id: ids[0], deletedAt: '2026-11-16T12:01:00.000Z', deletedBy: '123' }, {}, {}])
    expect(seen).toContainEqual({ ...unchanged, deletedAt: '2026-11-16T12:00:00.000Z', deletedBy: '123' })
    expect(new Set((seen as { id: string }[]).map(({ id }) => id))).toEqual(new Set(ids.slice(0, 3)))
    expect((await bob.getPath(`${group}/expenses?deleted=false`)).body.items.map(({ id }) => id)).toEqual(ids.slice(3))
    await ann.sendCommand('POST', `${group}/expenses/${ids[0]}/restore`)
    expect((await bob.getPath(`${group}/expenses?deleted=true`)).body.items).toHaveLength(2)
    expect((await bob.getPath(`${group}/expenses/${ids[0]}`)).body).not.toHaveProperty('deletedAt')
    expect((await bob.getPath(`${group}/expenses?deleted=yes`)).status).toBe(400)
    expect((await (await as(edge, '999')).getPath(`${group}/expenses?deleted=true`)).status).toBe(404)
  })
})

describe('a revision', () => {
  test('E-g: replaces an expense, keeps fields that it does not name, and is in the history', async () => {
    const { edge, group, ann, bob } = await openGroupOfThree()
    const {
      body: { id },
    } = await ann.sendCommand('POST', `${group}/expenses`, {
      ...DINNER,
      category: 'food',
      splitType: 'percentage',
      splits: [
        { userId: '123', percentage: 25 },
        { userId: '456', percentage: 75 },
      ],
    })
    const path = `${group}/expenses/${id}`
    edge.clock.at += 60_000
    const revised = await ann.sendCommand('PUT', path, {
      amount: '200',
      description: 'Dinner, with wine',
      revision: 1,
      reason: 'the wine',
    })
    expect(revised).toMatchObject({
      status: 200,
      body: {
        amount: '200.00',
        revision: 2,
        category: 'food',
        splitType: 'percentage',
        splits: [
          { userId: '123', amount: '50.00' },
          { userId: '456', amount: '150.00', percentage: 75 },
        ],
        date: '2026-11-16T12:00:00.000Z',
      },
    })
    edge.clock.at += 60_000
    await ann.sendCommand('PUT', path, {
      ...DINNER,
      revision: 2,
      currency: 'USD',
      payerId: '456',
      splitType: 'equal',
      category: null,
    })
    expect((await bob.getPath(path)).body).toMatchObject({
      payerId: '456',
      currency: 'USD',
      splits: [
        { userId: '123', amount: '50.00' },
        { userId: '456', amount: '50.00' },
      ],
      category: null,
      revision: 3,
    })
    expect(netsIn(await bob.getPath(`${group}/balances`))).toEqual({})
    expect(netsIn(await bob.getPath(`${group}/balances`), 'USD')).toEqual({ 123: '-50.00', 456: '50.00' })
    await bob.sendCommand('DELETE', path)
    await bob.sendCommand('POST', `${path}/restore`)
    expect((await ann.getPath(`${path}/history`)).body.items).toMatchObject([
      {
        kind: 'expense-recorded',
        by: '123',
        byName: 'Ann',
        amount: '100.00',
        currency: 'EUR',
        revision: 1,
        description: 'Dinner',
      },
      {
        kind: 'expense-revised',
        by: '123',
        amount: '200.00',
        revision: 2,
        reason: 'the wine',
        after: {
          splits: [
            { userId: '123', amount: '50.00' },
            { userId: '456', amount: '150.00' },
          ],
        },
      },
      { kind: 'expense-revised', amount: '100.00', currency: 'USD', revision: 3, after: { payerId: '456' } },
      { kind: 'expense-deleted', by: '456', after: null },
      { kind: 'expense-restored', by: '456', after: { payerId: '456' } },
    ])
    const first = await ann.getPath(`${path}/history?limit=4`)
    expect((await ann.getPath(`${path}/history?limit=4&cursor=${String(first.body.cursor)}`)).body.items).toMatchObject(
      [{ kind: 'expense-restored' }],
    )
  })

  test('E44 E-g: one of two concurrent revisions is applied, and the other is answered 409 with the current revision', async () => {
    const { group, ann } = await openGroupOfThree()
    const {
      body: { id },
    } = await ann.sendCommand('POST', `${group}/expenses`, DINNER)
    const answers = await Promise.all(
      [10, 20].map((amount) => ann.sendCommand('PUT', `${group}/expenses/${id}`, { ...DINNER, amount, revision: 1 })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const refused = answers.find(({ status }) => status === 409)
    expect(refused?.body).toMatchObject({ code: 'revision-stale', revision: 2 })
    expect(
      await ann.sendCommand('PUT', `${group}/expenses/${id}`, {
        ...DINNER,
        amount: 30,
        revision: Number(refused?.body['revision']),
      }),
    ).toMatchObject({ status: 200, body: { amount: '30.00', revision: 3 } })
  })

  test('that is repeated has the same answer, also if it changed the payer', async () => {
    const { group, ann, bob, cyd } = await openGroupOfThree()
    const {
      body: { id },
    } = await ann.sendCommand('POST', `${group}/expenses`, DINNER)
    const body = { ...DINNER, payerId: '456', revision: 1 }
    const [once, again] = [
      await ann.sendCommand('PUT', `${group}/expenses/${id}`, body, { 'idempotency-key': 'k' }),
      await ann.sendCommand('PUT', `${group}/expenses/${id}`, body, { 'idempotency-key': 'k' }),
    ]
    expect([once.status, again.status, again.body]).toEqual([200, 200, once.body])
    expect(await cyd.sendCommand('PUT', `${group}/expenses/${id}`, { ...DINNER, revision: 2 })).toMatchObject({
      status: 403,
      body: { code: 'editor-only' },
    })
    expect((await bob.sendCommand('PUT', `${group}/expenses/${id}`, { ...DINNER, revision: 2 })).status).toBe(200)
  })

  test('E-i: a person who left stays in their expenses, and cannot be added to others', async () => {
    const { group, ann, bob, cyd } = await openGroupOfThree()
    const {
      body: { id },
    } = await ann.sendCommand('POST', `${group}/expenses`, {
      ...DINNER,
      splits: [{ userId: '123' }, { userId: '456' }],
    })
    await bob.sendCommand('POST', `${group}/leave`)
    await cyd.sendCommand('POST', `${group}/leave`)
    expect(
      await ann.sendCommand('PUT', `${group}/expenses/${id}`, { ...DINNER, amount: 50, revision: 1 }),
    ).toMatchObject({ status: 200, body: { splits: [{ amount: '25.00' }, { userId: '456', amount: '25.00' }] } })
    expect(
      await ann.sendCommand('PUT', `${group}/expenses/${id}`, {
        ...DINNER,
        revision: 2,
        splits: [{ userId: '123' }, { userId: '789' }],
      }),
    ).toMatchObject({ status: 409, body: { code: 'member-left', field: '/splits/1/userId' } })
    expect((await ann.sendCommand('POST', `${group}/expenses`, { ...DINNER })).body['splits']).toMatchObject([
      { userId: '123', amount: '100.00' },
    ])
  })

  test('of a deleted expense is refused', async () => {
    const { group, ann } = await openGroupOfThree()
    const {
      body: { id },
    } = await ann.sendCommand('POST', `${group}/expenses`, DINNER)
    await ann.sendCommand('DELETE', `${group}/expenses/${id}`)
    expect(await ann.sendCommand('PUT', `${group}/expenses/${id}`, { ...DINNER, revision: 1 })).toMatchObject({
      status: 409,
      body: { code: 'expense-deleted' },
    })
  })
})

test('E-f: at most 45 people share an expense with the payer', async () => {
  const { edge, group, ann, invitation } = await openGroupOfThree()
  for (let n = 0; n < 44; n += 1) await (await as(edge, `m${n}`)).sendCommand('POST', `${group}/join`, { invitation })
  const others = ['456', ...Array.from({ length: 44 }, (_, n) => `m${n}`)]
  const splits = ['123', ...others].map((userId) => ({ userId }))
  expect(await ann.sendCommand('POST', `${group}/expenses`, { ...DINNER, splits })).toMatchObject({ status: 201 })
  expect(
    await ann.sendCommand('POST', `${group}/expenses`, { ...DINNER, splits: [...splits, { userId: '789' }] }),
  ).toMatchObject({ status: 400, body: { code: 'too-many-beneficiaries', field: '/splits' } })
  expect(await ann.sendCommand('POST', `${group}/expenses`, DINNER)).toMatchObject({
    status: 400,
    body: { code: 'too-many-beneficiaries' },
  })
})
