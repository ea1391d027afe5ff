import { expect, test } from 'vitest'
import { holiday } from '../../../producers/expenses/demo-traffic.ts'
import type { SimulatedRequest } from '../../../producers/demo/request.ts'
import { openExpenses } from '../expenses/group-of-three.ts'
import { NOON } from '../../../testing/event.ts'
import { send } from '../../../testing/edge/request.ts'

const USERS = ['demo-1', 'demo-2', 'demo-3', 'demo-4']
const first = (count: number, seed: number): readonly SimulatedRequest[] => {
  const traffic = holiday({ seed, users: USERS, now: NOON })
  return Array.from({ length: count }, () => traffic.next({ secret: 'a-secret' }).value)
}

test('the same seed gives the same holiday, another seed another', () => {
  expect(first(200, 1)).toEqual(first(200, 1))
  expect(first(200, 1)).not.toEqual(first(200, 2))
})

test('the edge accepts all requests, every kind of request occurs, and no balance is left that nobody owes', async () => {
  const edge = await openExpenses()
  const tokens = new Map<string, string>()
  for (const user of USERS) tokens.set(user, await edge.token(user))
  const traffic = holiday({ seed: 7, users: USERS, now: NOON })
  let answered: Readonly<Record<string, unknown>> = {}
  for (let sent = 0; sent < 800; sent += 1) {
    const { user, method, path, headers, body } = traffic.next(answered).value
    const {
      status,
      text,
      body: answer,
    } = await send(edge.app, { method, url: path, token: tokens.get(user) ?? '', headers, body })
    answered = answer
    if (status >= 300) throw new Error(`${method} ${path} was answered ${status}: ${text}`)
  }
  const types = new Set(edge.events.map(({ type }) => type))
  expect([...types].filter((type) => !type.startsWith('Pat')).sort()).toEqual([
    'ExpenseDeleted',
    'ExpenseRecorded',
    'ExpenseRestored',
    'ExpenseRevised',
    'GroupCreated',
    'InvitationCreated',
    'MemberJoined',
    'MemberLeft',
    'ProfileTold',
    'SettlementConfirmed',
    'SettlementFailed',
    'SettlementProposed',
  ])
  expect(new Set([...edge.outcomes.values()].map(({ kind }) => kind))).toEqual(new Set(['applied']))
})
