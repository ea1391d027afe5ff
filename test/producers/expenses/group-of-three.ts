import { expenses } from '../../../processors/expenses/domain.ts'
import { expensesEdge, expensesEdgeWith } from '../../../producers/expenses/edge.ts'
import type { TonCheck } from '../../../producers/expenses/ton.ts'
import { as, type Person } from '../person.ts'
import { openMemoryEdge, type MemoryEdge } from '../../../testing/edge/edge.ts'
import type { EdgeAnswer, AnswerBody } from '../../../testing/edge/request.ts'

export const openExpenses = (ton?: TonCheck) =>
  openMemoryEdge({ domain: expenses, edge: ton === undefined ? expensesEdge : expensesEdgeWith({ ton }) })

/** Creates an invitation to the group, and returns its secret. */
export const inviteBy = async (person: Pick<Person, 'sendCommand'>, group: string): Promise<string> =>
  String((await person.sendCommand('POST', `${group}/invitations`)).body['secret'])

export const openGroupOfThree = async (ton?: TonCheck) => createGroupOfThree(await openExpenses(ton))

/** Ann (123) creates a group in EUR. Bob (456) and Cyd (789) join it. */
export const createGroupOfThree = async (edge: MemoryEdge) => {
  const [ann, bob, cyd] = (await Promise.all(['123', '456', '789'].map((user) => as(edge, user)))) as [
    Person,
    Person,
    Person,
  ]
  const {
    body: { id },
  } = await ann.sendCommand('POST', '/api/groups', {
    title: 'Roommates',
    currency: 'EUR',
    name: 'Ann',
    username: 'ann',
  })
  const group = `/api/groups/${id}`
  const invitation = await inviteBy(ann, group)
  await bob.sendCommand('POST', `${group}/join`, { invitation, name: 'Bob' })
  await cyd.sendCommand('POST', `${group}/join`, { invitation, name: 'Cyd' })
  return { edge, id, group, ann, bob, cyd, invitation }
}

export const DINNER = { amount: 100, description: 'Dinner' } as const

/** The net balances of a currency by user, from the answer of `/balances`. Empty if the answer has no such currency. */
export const netsIn = ({ body }: EdgeAnswer, currency = 'EUR'): Readonly<Record<string, unknown>> => {
  const balance = body.items.find((item) => item['currency'] === currency)
  return Object.fromEntries(
    ((balance?.['members'] ?? []) as readonly AnswerBody[]).map(({ userId, net }) => [userId, net]),
  )
}

export const typesOf = ({ events }: MemoryEdge) =>
  events.map(({ type }) => type).filter((type) => !type.startsWith('Pat'))
