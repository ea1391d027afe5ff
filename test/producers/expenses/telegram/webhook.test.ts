import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expenses } from '../../../../processors/expenses/domain.ts'
import { access } from '../../../../producers/access/access.ts'
import { groupOfChat, telegramWebhook } from '../../../../producers/expenses/telegram/webhook.ts'
import type { GroupItem, MemberItem } from '../../../../projections/expenses/items.ts'
import { chats, groups, members, profiles } from '../../../../projections/expenses/keys.ts'
import { keyOf } from '../../../../projections/item.ts'
import { Fault } from '../../../../schemas/fault.ts'
import { NOON } from '../../../../testing/event.ts'
import { openMemoryEdge } from '../../../../testing/edge/edge.ts'
import { send, type EdgeAnswer } from '../../../../testing/edge/request.ts'

const SECRET = 'a-secret-of-the-webhook'
const CHAT = { id: -641169081, type: 'group', title: 'Trip to Tatry' } as const
const MOVED = { id: -1001502049385, type: 'supergroup', title: 'Trip to Tatry' } as const
const ANN = { id: 11, is_bot: false, first_name: 'Ann', username: 'ann' } as const
const BOB = { id: 12, is_bot: false, first_name: 'Bob', last_name: 'B' } as const
const BOT = { id: 99, is_bot: true, first_name: 'Our bot', username: 'our_bot' } as const
const GROUP = groupOfChat(String(CHAT.id))

const openChat = async () => {
  const edge = await openMemoryEdge({
    domain: expenses,
    edge: { name: 'expenses', routes: [], access, refusals: [], webhooks: [telegramWebhook(SECRET)] },
  })
  let updates = 500
  const post = (body: unknown, secret = SECRET): Promise<EdgeAnswer> =>
    send(edge.app, {
      method: 'POST',
      url: '/webhooks/telegram',
      body,
      headers: { 'x-telegram-bot-api-secret-token': secret },
    })
  const seconds = () => Math.floor(edge.clock.at / 1000)
  return {
    ...edge,
    post,
    update: (more: object) => ({ update_id: ++updates, ...more }),
    message: (more: object, chat: object = CHAT) =>
      post({ update_id: ++updates, message: { message_id: updates, date: seconds(), chat, from: ANN, ...more } }),
    added: (chat: object = CHAT, from: object = ANN) =>
      post({
        update_id: ++updates,
        my_chat_member: {
          chat,
          from,
          date: seconds(),
          old_chat_member: { user: BOT, status: 'left' },
          new_chat_member: { user: BOT, status: 'member' },
        },
      }),
    group: (id = GROUP) => edge.items.get(keyOf(groups.key(id))) as GroupItem | undefined,
    member: ({ id }: { readonly id: number }, group = GROUP) =>
      edge.items.get(keyOf(members.key(group, String(id)))) as MemberItem | undefined,
    chatOf: ({ id }: { readonly id: number }) => edge.items.get(keyOf(chats.key(String(id))))?.['groupId'],
  }
}

describe('a sender other than Telegram', () => {
  test.each([['another-secret-of-sixteen'], [''], [`${SECRET} `], [SECRET.toUpperCase()]])(
    'is refused with the secret "%s"',
    async (secret) => {
      const { post, events } = await openChat()
      expect(await post({ update_id: 1 }, secret)).toMatchObject({ status: 401, body: { code: 'webhook-refused' } })
      expect(events).toEqual([])
    },
  )

  test('is refused without a secret', async () => {
    const { app } = await openChat()
    expect(await send(app, { method: 'POST', url: '/webhooks/telegram', body: {} })).toMatchObject({
      status: 401,
      body: { code: 'webhook-refused' },
    })
  })

  test('gets 404 if no secret is set', async () => {
    const { app } = await openMemoryEdge({
      domain: expenses,
      edge: { name: 'expenses', routes: [], access, refusals: [], webhooks: [telegramWebhook(undefined)] },
    })
    expect(
      await send(app, {
        method: 'POST',
        url: '/webhooks/telegram',
        body: {},
        headers: { 'x-telegram-bot-api-secret-token': 'undefined' },
      }),
    ).toMatchObject({ status: 404, body: { code: 'telegram-not-configured' } })
  })
})

describe('the bot is added to a chat', () => {
  test('E-m and the chat gets a group, whose first member is the person who added it', async () => {
    const { added, group, member, chatOf, items } = await openChat()
    expect(await added()).toMatchObject({ status: 200 })
    expect(group()).toMatchObject({
      id: GROUP,
      chatId: '-641169081',
      title: 'Trip to Tatry',
      currency: 'TON',
      memberCount: 1,
      createdBy: '11',
      createdAt: '2026-11-16T12:00:00.000Z',
    })
    expect(member(ANN)).toMatchObject({ id: '11', telegramId: 11, name: 'Ann', username: 'ann' })
    expect(chatOf(CHAT)).toBe(GROUP)
    expect(items.get(keyOf(profiles.key('11')))).toMatchObject({ id: '11', name: 'Ann' })
  })

  test('again, and nothing is created', async () => {
    const { added, events } = await openChat()
    await added()
    const before = events.length
    expect(await added(CHAT, BOB)).toMatchObject({ status: 200 })
    expect(events).toHaveLength(before)
  })

  test('by an anonymous administrator, and the group has no member', async () => {
    const { added, group } = await openChat()
    await added(CHAT, { id: 1087968824, is_bot: true, first_name: 'Group', username: 'GroupAnonymousBot' })
    expect(group()).toMatchObject({ memberCount: 0, createdBy: null })
  })

  test('that is a supergroup, and the answer waits for a group that was just moved there', async () => {
    const { added, group, clock, events, post } = await openChat()
    const answered = await added(MOVED)
    expect(answered).toMatchObject({ status: 503, body: { code: 'not-yet-visible' }, headers: { 'retry-after': '1' } })
    expect(events).toEqual([])
    clock.at += 6_000
    await post({
      update_id: 501,
      my_chat_member: {
        chat: MOVED,
        from: ANN,
        date: NOON / 1000,
        old_chat_member: { status: 'kicked' },
        new_chat_member: { status: 'administrator' },
      },
    })
    expect(group(groupOfChat(String(MOVED.id)))).toMatchObject({ chatId: '-1001502049385' })
  })
})

describe('an update of a chat', () => {
  test('E-i a person who joins is a member, and one who leaves keeps their item', async () => {
    const { added, message, group, member } = await openChat()
    await added()
    expect(await message({ new_chat_members: [BOB, BOT, { id: 13, is_bot: false, first_name: 'Cy' }] })).toMatchObject({
      status: 200,
    })
    expect(group()).toMatchObject({ memberCount: 3 })
    expect(member(BOB)).toMatchObject({ name: 'Bob B', username: null })
    expect(member(BOT)).toBeUndefined()
    await message({ left_chat_member: BOB })
    expect(member(BOB)).toMatchObject({ name: 'Bob B', leftAt: '2026-11-16T12:00:00.000Z' })
    expect(group()).toMatchObject({ memberCount: 2 })
  })

  test("another title becomes the group's title, cut to the maximum length", async () => {
    const { added, message, group } = await openChat()
    await added()
    await message({ new_chat_title: ' Tatry\u0000\n2027 ' })
    expect(group()?.title).toBe('Tatry 2027')
    await message({ new_chat_title: '🏔'.repeat(150) })
    expect(group()?.title).toBe('🏔'.repeat(100))
  })

  test('E-h the group moves to the supergroup that its chat becomes', async () => {
    const { added, message, group, member, chatOf, events } = await openChat()
    await added()
    expect(await message({ migrate_to_chat_id: MOVED.id })).toMatchObject({ status: 200 })
    expect(
      await message(
        { migrate_from_chat_id: CHAT.id, from: { id: 1087968824, is_bot: true, first_name: 'Group' } },
        MOVED,
      ),
    ).toMatchObject({ status: 200 })
    expect(group()).toMatchObject({ id: GROUP, chatId: '-1001502049385' })
    expect([chatOf(CHAT), chatOf(MOVED)]).toEqual([null, GROUP])
    expect(events.filter(({ type }) => type === 'GroupChatMigrated')).toHaveLength(1)
    await message({ new_chat_members: [BOB] }, MOVED)
    expect(member(BOB)).toMatchObject({ id: '12' })
  })

  test('E-h the two updates of one move are one event, in any order', async () => {
    const { added, message, group, events, pause, resume } = await openChat()
    await added()
    pause()
    await message({ migrate_from_chat_id: CHAT.id }, MOVED)
    await message({ migrate_to_chat_id: MOVED.id })
    resume()
    const moves = events.filter(({ type }) => type === 'GroupChatMigrated')
    expect(moves).toHaveLength(2)
    expect(new Set(moves.map(({ meta }) => meta.eventId)).size).toBe(1)
    expect(events.filter(({ type }) => type === 'ChatLinked')).toHaveLength(2)
    expect(group()).toMatchObject({ chatId: '-1001502049385' })
  })

  test('E-h the group that moves has the new chat, also if Telegram reported the bot there first', async () => {
    const { added, message, post, clock, chatOf, member, group } = await openChat()
    await added()
    clock.at += 6_000
    await post({
      update_id: 1,
      my_chat_member: {
        chat: MOVED,
        from: ANN,
        date: NOON / 1000,
        old_chat_member: { status: 'left' },
        new_chat_member: { status: 'member' },
      },
    })
    expect(chatOf(MOVED)).toBe(groupOfChat(String(MOVED.id)))
    await message({ migrate_from_chat_id: CHAT.id }, MOVED)
    expect(chatOf(MOVED)).toBe(GROUP)
    await message({ new_chat_members: [BOB] }, MOVED)
    expect(member(BOB)).toMatchObject({ name: 'Bob B' })
    expect(group()).toMatchObject({ chatId: '-1001502049385', memberCount: 2 })
  })

  test('of an unknown group is requested again, and then ignored', async () => {
    const { message, clock, post, events } = await openChat()
    for (const more of [
      { new_chat_members: [BOB] },
      { left_chat_member: BOB },
      { new_chat_title: 'X' },
      { migrate_to_chat_id: MOVED.id },
    ]) {
      expect(await message(more)).toMatchObject({ status: 503, body: { code: 'not-yet-visible' } })
    }
    clock.at += 31_000
    expect(
      await post({ update_id: 1, message: { date: NOON / 1000, chat: CHAT, from: ANN, new_chat_members: [BOB] } }),
    ).toMatchObject({ status: 200 })
    expect(events).toEqual([])
  })

  test('has the time of Telegram, and never one in the future', async () => {
    const { added, post, events } = await openChat()
    await added()
    await post({ update_id: 1, message: { date: NOON / 1000 - 3600, chat: CHAT, from: ANN, new_chat_title: 'A' } })
    await post({ update_id: 2, message: { date: NOON / 1000 + 3600, chat: CHAT, from: ANN, new_chat_title: 'B' } })
    expect(
      events.slice(-2).map(({ meta }) => [meta.occurredAt - NOON, meta.recordedAt - NOON, meta.actorId, meta.source]),
    ).toEqual([
      [-3_600_000, 0, '11', 'telegram'],
      [0, 0, '11', 'telegram'],
    ])
  })
})

describe('a repeated update', () => {
  test('gives the same events, and changes nothing', async () => {
    const { added, post, update, items } = await openChat()
    await added()
    const at = { date: NOON / 1000, chat: CHAT, from: ANN }
    for (const more of [
      { new_chat_members: [BOB] },
      { new_chat_title: 'Zakopane' },
      { left_chat_member: BOB },
      { migrate_to_chat_id: MOVED.id },
    ]) {
      const body = update({ message: { ...at, ...more } })
      await post(body)
      const before = structuredClone([...items].filter(([key]) => !key.startsWith('OUTCOME')))
      await post(body)
      expect([...items].filter(([key]) => !key.startsWith('OUTCOME'))).toEqual(before)
    }
  })

  test('does not add a person again who has left since', async () => {
    const { added, post, message, member, update } = await openChat()
    await added()
    const joined = update({ message: { date: NOON / 1000, chat: CHAT, from: ANN, new_chat_members: [BOB] } })
    await post(joined)
    await message({ left_chat_member: BOB })
    for (let other = 100; other < 200; other++)
      await message({ new_chat_members: [{ id: other, is_bot: false, first_name: 'X' }] })
    await post(joined)
    expect(member(BOB)).toHaveProperty('leftAt')
  })

  test('older than Telegram stores it is ignored', async () => {
    const { added, post, update, group, events, clock } = await openChat()
    await added()
    const titled = update({ message: { date: NOON / 1000, chat: CHAT, from: ANN, new_chat_title: 'Old' } })
    await post(titled)
    const before = events.length
    clock.at += 26 * 3_600_000
    expect(await post(titled)).toMatchObject({ status: 200 })
    expect(events).toHaveLength(before)
    expect(group()?.title).toBe('Old')
  })

  test('is requested again while the log is unavailable', async () => {
    const { added, fail, group } = await openChat()
    fail(new Fault('log-unavailable', 'The log does not answer.', { retriable: true }))
    expect(await added()).toMatchObject({ status: 503 })
    fail(undefined)
    expect(await added()).toMatchObject({ status: 200 })
    expect(group()).toBeDefined()
  })
})

const nothing: readonly (readonly [what: string, body: unknown])[] = [
  ['a text', { update_id: 1, message: { date: NOON / 1000, chat: CHAT, from: ANN, text: 'hi \u0000' } }],
  [
    'a text in private',
    { update_id: 1, message: { date: NOON / 1000, chat: { id: 11, type: 'private' }, from: ANN, new_chat_title: 'x' } },
  ],
  [
    'a post in a channel',
    { update_id: 1, channel_post: { date: NOON / 1000, chat: { id: -100, type: 'channel' }, new_chat_title: 'x' } },
  ],
  [
    'a bot that joins',
    { update_id: 1, message: { date: NOON / 1000, chat: CHAT, from: ANN, new_chat_members: [BOT] } },
  ],
  ['a bot that leaves', { update_id: 1, message: { date: NOON / 1000, chat: CHAT, from: ANN, left_chat_member: BOT } }],
  ['an empty title', { update_id: 1, message: { date: NOON / 1000, chat: CHAT, from: ANN, new_chat_title: ' ' } }],
  [
    'our bot taken out',
    {
      update_id: 1,
      my_chat_member: {
        date: NOON / 1000,
        chat: CHAT,
        from: ANN,
        old_chat_member: { status: 'member' },
        new_chat_member: { status: 'left' },
      },
    },
  ],
  [
    'our bot promoted',
    {
      update_id: 1,
      my_chat_member: {
        date: NOON / 1000,
        chat: CHAT,
        from: ANN,
        old_chat_member: { status: 'member' },
        new_chat_member: { status: 'administrator' },
      },
    },
  ],
  ['no id of the update', { message: { date: NOON / 1000, chat: CHAT, from: ANN, new_chat_title: 'x' } }],
  ['no date', { update_id: 1, message: { chat: CHAT, from: ANN, new_chat_title: 'x' } }],
  ['no chat', { update_id: 1, message: { date: NOON / 1000, from: ANN, new_chat_title: 'x' } }],
  [
    'a chat with a text as id',
    { update_id: 1, message: { date: NOON / 1000, chat: { ...CHAT, id: '-1' }, from: ANN, new_chat_title: 'x' } },
  ],
  ['a list', []],
  ['a text alone', 'update'],
  ['null', null],
  ['what has no own members', { update_id: 1, message: { chat: 'constructor' } }],
]

test.each(nothing)('%s is ignored and answered', async (_what, body) => {
  const { added, post, events } = await openChat()
  await added()
  const before = events.length
  expect(await post(body)).toMatchObject({ status: 200 })
  expect(events).toHaveLength(before)
})

test('any update is answered, and never with a server error', async () => {
  const { added, post } = await openChat()
  await added()
  const user = fc.oneof(
    fc.constantFrom<unknown>(ANN, BOT, null, 7),
    fc.record({ id: fc.oneof(fc.integer(), fc.double(), fc.string()), first_name: fc.string({ unit: 'binary' }) }),
  )
  const anyUpdate = fc.record(
    {
      date: fc.oneof(fc.constant<unknown>(NOON / 1000), fc.jsonValue()),
      chat: fc.oneof(fc.constantFrom<unknown>(CHAT, MOVED), fc.jsonValue()),
      from: user,
      new_chat_members: fc.oneof(fc.array(user), fc.jsonValue()),
      left_chat_member: user,
      new_chat_title: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
      migrate_to_chat_id: fc.oneof(fc.integer(), fc.jsonValue()),
      old_chat_member: fc.jsonValue(),
      new_chat_member: fc.constantFrom<unknown>({ status: 'member' }, null),
    },
    { requiredKeys: ['date', 'chat'] },
  )
  const update = fc.oneof(
    fc.record({ update_id: fc.nat(), message: anyUpdate }),
    fc.record({ update_id: fc.nat(), my_chat_member: anyUpdate }),
    fc.jsonValue(),
  )
  const isAnswered = async (body: unknown): Promise<boolean> => [200, 503].includes((await post(body)).status)
  await fc.assert(fc.asyncProperty(update, isAnswered), { numRuns: 300 })
})
