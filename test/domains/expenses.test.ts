import { expect } from 'vitest'
import { expensesRecord } from '../../domains/expenses.ts'
import { domainContract } from '../../testing/contract/contract.ts'
import { DINNER, createGroupOfThree } from '../producers/expenses/group-of-three.ts'
import { send, type AnswerBody } from '../../testing/edge/request.ts'
import { aHistory, GROUPS, PEOPLE } from '../processors/expenses/arbitrary.ts'
import { HASH, NOW } from '../processors/expenses/events.ts'

domainContract({
  record: expensesRecord,
  pools: {
    keys: [...GROUPS, `tx:${HASH}`, 'chat:-1'],
    people: PEOPLE,
    fields: () => ({
      groupId: GROUPS,
      userId: PEOPLE,
      payerId: PEOPLE,
      fromUserId: PEOPLE,
      toUserId: PEOPLE,
      expenseId: ['e1', 'e2'],
      settlementId: ['s1', 's2'],
      currency: ['EUR', 'TON'],
      chatId: ['-1'],
      txHash: [HASH],
      spentAt: [NOW],
    }),
  },
  history: aHistory,
  http: {
    prepare: async (edge) => {
      const { id, group, ann, bob, invitation } = await createGroupOfThree(edge)
      const expense = await ann.sendCommand('POST', `${group}/expenses`, DINNER)
      const settlement = await bob.sendCommand('POST', `${group}/settlements`, {
        toUserId: '123',
        amount: 5,
        currency: 'EUR',
      })
      return {
        token: ann.token,
        values: {
          id: ['none'],
          groupId: [id],
          expenseId: [expense.body.id],
          settlementId: [settlement.body.id],
          invitationId: ['none'],
          userId: ['123', '456'],
          payerId: ['123'],
          toUserId: ['456'],
          invitation: [invitation],
          currency: ['EUR'],
          amount: [100, '1.00'],
          date: ['2026-11-16'],
          txHash: ['a1b2c3d4e5f60718293a4b5c6d7e8f90'],
          chatId: ['-100'],
          wallet: ['EQabc'],
          avatarUrl: ['https://t.example/a.jpg'],
          revision: [1],
        },
      }
    },
    check: async ({ edge, token, values }) => {
      const { body } = await send(edge.app, { url: `/api/groups/${String(values['groupId']?.[0])}/balances`, token })
      for (const { members } of body.items)
        expect(
          (members as readonly AnswerBody[]).reduce((sum, { net }) => sum + BigInt(String(net).replace('.', '')), 0n),
          'the sum of all balances',
        ).toBe(0n)
    },
  },
})
