import { describe, expect, test } from 'vitest'
import { keyOf, type Item } from '../../../projections/item.ts'
import { participants } from '../../../projections/expenses/keys.ts'
import { expensesQueries } from '../../../projections/expenses/queries.ts'
import { as } from '../person.ts'
import { inviteBy, openExpenses } from './group-of-three.ts'

const AT = '2026-11-16T12:00:00.000Z'

/** Creates the example of the source document: Alice paid 100 for four people, and Bob settles his 25. */
const openExample = async () => {
  const edge = await openExpenses()
  const people = [
    ['123456789', 'Alice Smith', 'alice'],
    ['987654321', 'Bob Jones', 'bob'],
    ['456789123', 'Carol White', 'carol'],
    ['789123456', 'Dave Brown', 'dave'],
  ] as const
  const [alice, bob, ...others] = await Promise.all(people.map(([id]) => as(edge, id)))
  if (alice === undefined || bob === undefined) throw new Error('nobody came')
  const {
    body: { id: groupId },
  } = await alice.sendCommand('POST', '/api/groups', {
    title: 'Roommates',
    currency: 'TON',
    chatId: '-1001234567890',
    name: 'Alice Smith',
    username: 'alice',
    avatarUrl: 'https://t.example/123456789.jpg',
  })
  const group = `/api/groups/${groupId}`
  const invitation = await inviteBy(alice, group)
  for (const [at, one] of [bob, ...others].entries())
    await one.sendCommand('POST', `${group}/join`, {
      invitation,
      name: people[at + 1]?.[1],
      username: people[at + 1]?.[2],
    })
  await alice.sendCommand('PUT', `${group}/wallet`, { wallet: 'EQBvI0aFLnw2QbZgjMPCLRdtRHxhUyinQudg6sdiohIwg5jL' })
  const {
    body: { id: expenseId },
  } = await alice.sendCommand('POST', `${group}/expenses`, {
    amount: 100,
    description: 'Dinner at restaurant',
    category: 'food',
  })
  const {
    body: { id: settlementId },
  } = await bob.sendCommand('POST', `${group}/settlements`, { toUserId: '123456789', amount: 25, currency: 'TON' })
  await alice.sendCommand('PUT', `${group}/settlements/${settlementId}`, {
    status: 'completed',
    txHash: 'a1b2c3d4e5f60718',
  })
  const item = (SK: string): Item | undefined => edge.items.get(keyOf({ PK: `GROUP#${groupId}`, SK }))
  return { edge, groupId, expenseId, settlementId, item }
}

describe('the table has the items of the source document', () => {
  test('E5: a group', async () => {
    const { groupId, item } = await openExample()
    expect(item('METADATA')).toMatchObject({
      PK: `GROUP#${groupId}`,
      SK: 'METADATA',
      id: groupId,
      chatId: '-1001234567890',
      title: 'Roommates',
      currency: 'TON',
      createdAt: AT,
      memberCount: 4,
    })
  })

  test('E6 E2: a member, in the index of users', async () => {
    const { groupId, item } = await openExample()
    expect(item('USER#123456789')).toMatchObject({
      GSI1PK: 'USER#123456789',
      GSI1SK: `GROUP#${groupId}`,
      id: '123456789',
      telegramId: 123456789,
      name: 'Alice Smith',
      username: 'alice',
      wallet: 'EQBvI0aFLnw2QbZgjMPCLRdtRHxhUyinQudg6sdiohIwg5jL',
      avatarUrl: 'https://t.example/123456789.jpg',
      joinedAt: AT,
    })
  })

  test('E7 E3 E4 E-a: an expense at its instant and its id, in the indexes of names and of activity', async () => {
    const { groupId, expenseId, item } = await openExample()
    expect(item(`TX#${AT}#${expenseId}`)).toMatchObject({
      GSI2PK: `EXPENSE#${expenseId}`,
      GSI2SK: groupId,
      GSI3PK: 'USER#123456789',
      GSI3SK: `TX#${AT}#${expenseId}`,
      id: expenseId,
      groupId,
      payerId: '123456789',
      payerName: 'Alice Smith',
      amount: 100,
      currency: 'TON',
      description: 'Dinner at restaurant',
      splitType: 'equal',
      category: 'food',
      createdAt: AT,
      splits: [
        { userId: '123456789', userName: 'Alice Smith', amount: 25 },
        { userId: '456789123', userName: 'Carol White', amount: 25 },
        { userId: '789123456', userName: 'Dave Brown', amount: 25 },
        { userId: '987654321', userName: 'Bob Jones', amount: 25 },
      ],
    })
  })

  test('E8 E15 E2: a participant for each person except the payer', async () => {
    const { edge, groupId, expenseId, item } = await openExample()
    expect(item(`PART#${expenseId}#987654321`)).toMatchObject({
      GSI1PK: 'USER#987654321',
      GSI1SK: `OWES#${AT}#${expenseId}`,
      expenseId,
      groupId,
      groupTitle: 'Roommates',
      userId: '987654321',
      userName: 'Bob Jones',
      amount: 25,
      payerId: '123456789',
      payerName: 'Alice Smith',
      description: 'Dinner at restaurant',
      totalAmount: 100,
      createdAt: AT,
    })
    expect(
      (await participants.every(edge.reader, groupId, { under: expenseId, limit: 100 })).map(({ userId }) => userId),
    ).toEqual(['456789123', '789123456', '987654321'])
  })

  test('E9 E3 E4 E-e: a settlement, in the same indexes, and its item for the payee', async () => {
    const { groupId, settlementId, item } = await openExample()
    const settlement = {
      id: settlementId,
      groupId,
      fromUserId: '987654321',
      fromUserName: 'Bob Jones',
      toUserId: '123456789',
      toUserName: 'Alice Smith',
      amount: 25,
      currency: 'TON',
      txHash: 'a1b2c3d4e5f60718',
      status: 'completed',
      createdAt: AT,
      completedAt: AT,
    }
    expect(item(`SETTLE#${AT}#${settlementId}`)).toMatchObject({
      GSI2PK: `SETTLEMENT#${settlementId}`,
      GSI2SK: groupId,
      GSI3PK: 'USER#987654321',
      GSI3SK: `SETTLE#${AT}#${settlementId}`,
      ...settlement,
    })
    expect(item(`RECEIVED#${settlementId}#123456789`)).toMatchObject({
      GSI3PK: 'USER#123456789',
      GSI3SK: `RECEIVED#${AT}#${settlementId}`,
      ...settlement,
    })
  })

  test('E16 E17: an expense and a settlement are found by their ids alone', async () => {
    const { edge, groupId, expenseId, settlementId } = await openExample()
    const queries = expensesQueries(edge.reader)
    expect(await queries.expenseNamed(expenseId)).toMatchObject({ id: expenseId, groupId })
    expect(await queries.settlementNamed(settlementId)).toMatchObject({ id: settlementId, groupId })
    expect(await queries.expenseNamed('none')).toBeUndefined()
  })

  test('internal attributes begin with _, and additional items have names of their own', async () => {
    const { edge, groupId } = await openExample()
    const kinds = new Set(
      [...edge.items.values()]
        .filter(({ PK }) => PK === `GROUP#${groupId}`)
        .map(({ SK }) => SK.slice(0, SK.indexOf('#') + 1) || SK),
    )
    expect([...kinds].sort()).toEqual([
      'BALANCE#',
      'EXPENSE#',
      'INVITATIONS',
      'LOG#',
      'METADATA',
      'OWED#',
      'PART#',
      'RECEIVED#',
      'ROSTER',
      'SETTLE#',
      'SETTLEMENT#',
      'TX#',
      'USER#',
    ])
  })
})
