import { divided } from '../../projections/expenses/splits.ts'
import type { Event } from '../../schemas/event.ts'
import type { ExpenseRecordedData } from '../../schemas/generated/expenses.ts'

export interface GroupLoad {
  readonly group: string
  readonly members: number
  readonly expenses: number
  /** The number of people who share each expense, the payer included. */
  readonly sharers: number
  readonly from: number
  readonly everyMs: number
}

const TWO_YEARS = 730 * 86_400_000

/** A group of fifty people over two years. Five of them share each expense. */
export const journeyOf = (expenses: number): GroupLoad => ({
  group: 'journey',
  members: 50,
  expenses,
  sharers: 5,
  from: Date.UTC(2024, 0, 1),
  everyMs: Math.floor(TWO_YEARS / expenses),
})

export const memberOf = (nth: number): string => `member-${String(nth).padStart(3, '0')}`

const eventOf = (
  type: string,
  nth: number,
  {
    group,
    at,
    person,
    data,
    personal,
  }: { group: string; at: number; person: string; data: unknown; personal: unknown },
): Event => ({
  type,
  data,
  personal,
  meta: {
    eventId: `00000000-0000-7000-8000-${nth.toString(16).padStart(12, '0')}`,
    key: group,
    occurredAt: at,
    recordedAt: at,
    source: 'bench',
    correlationId: null,
    causationId: null,
    actorId: person,
    subjectId: person,
    request: null,
  },
})

const profileOf = (person: string) => ({ name: `Name of ${person}`, username: person, avatarUrl: null })

/** Returns the events that create the group with all its members. */
export const groupEvents = ({ group, members, from }: GroupLoad): readonly Event[] => [
  eventOf('GroupCreated', 0, {
    group,
    at: from,
    person: memberOf(0),
    data: { chatId: null, title: 'A long journey', currency: 'EUR' },
    personal: profileOf(memberOf(0)),
  }),
  ...Array.from({ length: members - 1 }, (_, index) =>
    eventOf('MemberJoined', index + 1, {
      group,
      at: from,
      person: memberOf(index + 1),
      data: { userId: memberOf(index + 1), invitation: null, chatId: null },
      personal: profileOf(memberOf(index + 1)),
    }),
  ),
]

const DESCRIPTIONS = ['Dinner', 'Taxi', 'Groceries', 'Tickets', 'Hotel', 'Coffee', 'Fuel', 'Museum']

/** The expenses in the order of time. The members pay in turn, each for some of the others. */
export function* expenseEvents({ group, members, expenses, sharers, from, everyMs }: GroupLoad): Generator<Event> {
  for (let nth = 0; nth < expenses; nth += 1) {
    const [at, payerId, expenseId, amountMinor] = [
      from + nth * everyMs,
      memberOf((nth * 7) % members),
      `expense-${nth}`,
      BigInt(100 + ((nth * 7919) % 20_000)),
    ]
    const parts = divided(
      amountMinor,
      Array.from({ length: sharers }, () => 1n),
      expenseId,
    )
    const splits = parts.map((minor, index) => ({
      userId: memberOf((nth * 7 + index * 3) % members),
      minor,
      bp: null,
      shares: null,
    }))
    const data: ExpenseRecordedData = {
      expenseId,
      spentAt: at,
      payerId,
      amountMinor,
      currency: 'EUR',
      exponent: 2,
      splitType: 'equal',
      splits,
      category: 'travel',
      rowHash: null,
    }
    yield eventOf('ExpenseRecorded', members + nth, {
      group,
      at,
      person: payerId,
      data,
      personal: { description: `${DESCRIPTIONS[nth % DESCRIPTIONS.length]} ${nth}` },
    })
  }
}
