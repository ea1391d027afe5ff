import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { expenses } from '../../../processors/expenses/domain.ts'
import { expensesEdgeWith } from '../../../producers/expenses/edge.ts'
import { createTonCheck } from '../../../producers/expenses/ton/toncenter.ts'
import { hexOf, paid, startTon, type TonService } from '../../services/ton.ts'
import { inviteBy } from './group-of-three.ts'
import { NOON } from '../../../testing/event.ts'
import { openMemoryEdge, type MemoryEdge } from '../../../testing/edge/edge.ts'
import { send, type EdgeRequest } from '../../../testing/edge/request.ts'
import { BOT_TOKEN, openedBy, ZOFIE } from './telegram/signed.ts'

const SECRET = 'a-secret-of-the-webhook'
const BOB = { id: 12, first_name: 'Bob', username: 'bob' } as const

/** The requests of a person who uses the Mini App, opened from `chat` if it is given. */
const inApp = (edge: MemoryEdge, user: { readonly id: number }, chat?: object) => {
  const headers = {
    authorization: `tma ${openedBy(user, chat === undefined ? {} : { more: { chat: JSON.stringify(chat) } })}`,
  }
  return {
    getPath: (url: string) => send(edge.app, { url, headers }),
    sendCommand: (method: EdgeRequest['method'] & string, url: string, body?: unknown) =>
      send(edge.app, { method, url, headers, body }),
  }
}

let ton: TonService
beforeEach(async () => {
  ton = await startTon()
})
afterEach(() => ton.stop())

const open = async () => {
  const edge = await openMemoryEdge({
    domain: expenses,
    edge: expensesEdgeWith({
      telegram: { botToken: BOT_TOKEN, webhookSecret: SECRET },
      ton: createTonCheck({ api: ton.url }),
    }),
  })
  const post = (body: unknown) =>
    send(edge.app, {
      method: 'POST',
      url: '/webhooks/telegram',
      body,
      headers: { 'x-telegram-bot-api-secret-token': SECRET },
    })
  return { edge, post, zofie: inApp(edge, ZOFIE), bob: inApp(edge, BOB) }
}

describe('in the Mini App', () => {
  test('E-l E-m E36 a person has the id, the name and the picture of Telegram', async () => {
    const { zofie, bob } = await open()
    expect((await bob.getPath('/api/users/me')).body).toEqual({
      id: '12',
      telegramId: 12,
      name: 'Bob',
      username: 'bob',
      avatarUrl: null,
    })
    const made = await zofie.sendCommand('POST', '/api/groups', { title: 'Tatry' })
    expect(made).toMatchObject({ status: 201, body: { title: 'Tatry', currency: 'TON' } })
    const group = `/api/groups/${made.body.id}`
    expect(await bob.getPath(group)).toMatchObject({ status: 404, body: { code: 'group-not-found' } })
    expect(await bob.sendCommand('POST', `${group}/join`)).toMatchObject({
      status: 403,
      body: { code: 'invitation-only' },
    })
    expect(await bob.sendCommand('POST', `${group}/join`, { invitation: await inviteBy(zofie, group) })).toMatchObject({
      status: 200,
      body: { memberCount: 2 },
    })
    expect((await bob.getPath(group)).body['members']).toMatchObject([
      { id: '12', name: 'Bob', username: 'bob' },
      { id: '279058397', name: 'Žofie Nováková', username: 'zofie_n', avatarUrl: ZOFIE.photo_url },
    ])
    expect((await zofie.getPath('/api/users/me')).body).toMatchObject({
      id: '279058397',
      telegramId: 279058397,
      name: 'Žofie Nováková',
    })
  })

  test('E-l a caller cannot act for another person by sending their id', async () => {
    const { edge, zofie } = await open()
    const {
      body: { id },
    } = await zofie.sendCommand('POST', '/api/groups', { title: 'Tatry' })
    const forged = openedBy({ ...ZOFIE, id: 12 }).replace('%22id%22%3A12', '%22id%22%3A279058397')
    expect(
      await send(edge.app, { url: `/api/groups/${id}`, headers: { authorization: `tma ${forged}` } }),
    ).toMatchObject({ status: 401, body: { code: 'init-data-invalid' } })
  })
})

test('E-h E-m a chat and its app are one group: a person whom the chat added sees it in the app, before and after it moves', async () => {
  const { post, zofie, bob } = await open()
  const [chat, moved] = [
    { id: -55, type: 'group', title: 'Tatry' },
    { id: -10055, type: 'supergroup', title: 'Tatry' },
  ]
  const at = { date: NOON / 1000, from: ZOFIE }
  await post({
    update_id: 1,
    my_chat_member: { ...at, chat, old_chat_member: { status: 'left' }, new_chat_member: { status: 'member' } },
  })
  await post({ update_id: 2, message: { ...at, chat, new_chat_members: [BOB] } })
  const [group] = (await bob.getPath('/api/groups')).body.items
  expect(group).toMatchObject({ title: 'Tatry', chatId: '-55', memberCount: 2 })
  expect(await bob.sendCommand('POST', `/api/groups/${group?.id}/join`)).toMatchObject({
    status: 200,
    body: { memberCount: 2 },
  })
  await post({ update_id: 3, message: { ...at, chat, migrate_to_chat_id: moved.id } })
  await post({ update_id: 4, message: { ...at, chat: moved, migrate_from_chat_id: chat.id } })
  expect((await zofie.getPath('/api/groups')).body.items).toMatchObject([{ id: group?.id, chatId: '-10055' }])
})

describe('a chat admits to its own group, without an invitation', () => {
  const chat = { id: -55, type: 'group', title: 'Tatry' } as const

  const openChat = async () => {
    const opened = await open()
    const at = { date: NOON / 1000, chat }
    await opened.post({
      update_id: 1,
      my_chat_member: {
        ...at,
        from: ZOFIE,
        old_chat_member: { status: 'left' },
        new_chat_member: { status: 'member' },
      },
    })
    const [group] = (await opened.zofie.getPath('/api/groups')).body.items
    return { ...opened, at, path: `/api/groups/${group?.id}`, from: (from: object) => inApp(opened.edge, BOB, from) }
  }

  test('E-l people who open the Mini App from the chat', async () => {
    const { path, bob, from } = await openChat()
    expect(await bob.sendCommand('POST', `${path}/join`)).toMatchObject({
      status: 403,
      body: { code: 'invitation-only' },
    })
    for (const other of [
      { ...chat, id: -56 },
      { ...chat, type: 'channel' },
      { ...chat, id: 'x' },
    ])
      expect(await from(other).sendCommand('POST', `${path}/join`), JSON.stringify(other)).toMatchObject({
        status: 403,
        body: { code: 'invitation-only' },
      })
    expect(await from(chat).sendCommand('POST', `${path}/join`)).toMatchObject({
      status: 200,
      body: { memberCount: 2 },
    })
  })

  test('E-l nobody to a group whose creator only names the chat', async () => {
    const { zofie, from } = await openChat()
    const {
      body: { id },
    } = await zofie.sendCommand('POST', '/api/groups', { title: 'Claim', chatId: '-55' })
    expect(await from(chat).sendCommand('POST', `/api/groups/${id}/join`)).toMatchObject({
      status: 403,
      body: { code: 'invitation-only' },
    })
  })

  test('E-l nobody whom the owner removed, until a member invites them', async () => {
    const { post, at, path, zofie, bob, from } = await openChat()
    await post({ update_id: 2, message: { ...at, from: ZOFIE, new_chat_members: [BOB] } })
    expect((await bob.getPath(path)).status).toBe(200)
    expect((await zofie.sendCommand('DELETE', `${path}/members/12`)).status).toBe(200)
    await post({ update_id: 3, message: { ...at, from: ZOFIE, left_chat_member: BOB } })
    await post({ update_id: 4, message: { ...at, from: ZOFIE, new_chat_members: [BOB] } })
    expect(await from(chat).sendCommand('POST', `${path}/join`)).toMatchObject({
      status: 403,
      body: { code: 'invitation-only' },
    })
    expect((await bob.getPath(path)).status).toBe(403)
    expect((await bob.sendCommand('POST', `${path}/join`, { invitation: await inviteBy(zofie, path) })).status).toBe(
      200,
    )
  })

  test('E-l people whom an administrator of the chat removed, when Telegram reports that they joined again', async () => {
    const { post, at, path, bob, from } = await openChat()
    await post({ update_id: 2, message: { ...at, from: ZOFIE, new_chat_members: [BOB] } })
    await post({ update_id: 3, message: { ...at, from: ZOFIE, left_chat_member: BOB } })
    expect((await bob.getPath(path)).status).toBe(403)
    expect((await from(chat).sendCommand('POST', `${path}/join`)).status).toBe(403)
    await post({ update_id: 4, message: { ...at, from: ZOFIE, new_chat_members: [BOB] } })
    expect((await bob.getPath(path)).status).toBe(200)
    await post({ update_id: 5, message: { ...at, from: BOB, left_chat_member: BOB } })
    expect(await bob.getPath(path)).toMatchObject({ status: 200, body: { memberCount: 1 } })
  })
})

describe('a settlement by TON', () => {
  const [ZOFIES, BOBS] = [`0:${'2'.repeat(64)}`, 'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N']
  const BOBS_RAW = '0:83DFD552E63729B472FCBCC8C45EBCC6691702558B68EC7527E1BA403A0F31A8'

  /** Žofie owes Bob 1.5 TON and proposes a settlement. */
  const openDebt = async () => {
    const { zofie, bob } = await open()
    const {
      body: { id },
    } = await bob.sendCommand('POST', '/api/groups', { title: 'Tatry' })
    const group = `/api/groups/${id}`
    await zofie.sendCommand('POST', `${group}/join`, { invitation: await inviteBy(bob, group) })
    await zofie.sendCommand('PUT', `${group}/wallet`, { wallet: ZOFIES })
    await bob.sendCommand('PUT', `${group}/wallet`, { wallet: BOBS })
    await bob.sendCommand('POST', `${group}/expenses`, {
      amount: 1.5,
      description: 'Hut',
      splits: [{ userId: '279058397' }],
    })
    const propose = async () => {
      const { body } = await zofie.sendCommand('POST', `${group}/settlements`, {
        toUserId: '12',
        amount: 1.5,
        currency: 'TON',
      })
      return { path: `${group}/settlements/${body.id}`, comment: String(body['comment']) }
    }
    return { zofie, bob, group, propose, ...(await propose()) }
  }

  test('E-j is completed when the chain contains the payment with its comment, once', async () => {
    const { zofie, group, path, comment, propose } = await openDebt()
    const payment = paid({ from: ZOFIES, to: BOBS_RAW, nano: 1_500_000_000n, comment })
    expect(await zofie.sendCommand('PUT', path, { status: 'completed', txHash: hexOf(payment) })).toMatchObject({
      status: 503,
      body: { code: 'transaction-unconfirmed' },
    })
    ton.add(payment)
    expect(await zofie.sendCommand('PUT', path, { status: 'completed', txHash: payment.hash })).toMatchObject({
      status: 200,
      body: { status: 'completed', confirmedBy: 'ton', txHash: hexOf(payment) },
    })
    expect((await zofie.getPath(`${group}/debts`)).body.items).toMatchObject([{ currency: 'TON', debts: [] }])
    const urlForm = Buffer.from(payment.hash, 'base64').toString('base64url')
    const other = await propose()
    expect(other.comment).not.toBe(comment)
    expect(await zofie.sendCommand('PUT', other.path, { status: 'completed', txHash: urlForm })).toMatchObject({
      status: 403,
      body: { code: 'receiver-only' },
    })
  })

  test('E-j stays pending if the chain contains another payment with that hash, until the payee confirms it', async () => {
    const { zofie, bob, path, comment } = await openDebt()
    const less = paid({ name: 'less', from: ZOFIES, to: BOBS_RAW, nano: 1n, comment })
    const plain = paid({ name: 'plain', from: ZOFIES, to: BOBS_RAW, nano: 1_500_000_000n })
    for (const payment of [less, plain]) {
      ton.add(payment)
      expect(await zofie.sendCommand('PUT', path, { status: 'completed', txHash: hexOf(payment) })).toMatchObject({
        status: 403,
        body: { code: 'receiver-only' },
      })
    }
    expect((await zofie.getPath(path)).body).toMatchObject({ status: 'pending' })
    expect(await bob.sendCommand('PUT', path, { status: 'completed', txHash: hexOf(plain) })).toMatchObject({
      status: 200,
      body: { status: 'completed', confirmedBy: 'manual' },
    })
  })

  test('stays pending while the API does not answer', async () => {
    const { zofie, path } = await openDebt()
    ton.trouble('busy')
    expect(await zofie.sendCommand('PUT', path, { status: 'completed', txHash: '0'.repeat(64) })).toMatchObject({
      status: 503,
      headers: { 'retry-after': '10' },
    })
    expect((await zofie.getPath(path)).body).toMatchObject({ status: 'pending' })
  })
})
