import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MOST_EXACT, needsPairs, netOf, pairwise, simplified, type Debt } from '../../../projections/expenses/debts.ts'

/** Ids of people. Some are names of inherited properties of objects. */
const ids = fc.uniqueArray(
  fc.oneof(fc.constantFrom('constructor', '__proto__', 'toString'), fc.stringMatching(/^[a-z0-9]{1,6}$/)),
  { minLength: 1, maxLength: 20 },
)
const balanced = ids.chain((users) =>
  fc
    .array(fc.bigInt({ min: -1000n, max: 1000n }), { minLength: users.length - 1, maxLength: users.length - 1 })
    .map(
      (nets) => new Map(users.map((user, index) => [user, nets[index] ?? -nets.reduce((sum, net) => sum + net, 0n)])),
    ),
)

const paid = (nets: ReadonlyMap<string, bigint>, { from, to, minor }: Debt): ReadonlyMap<string, bigint> =>
  new Map([...nets].map(([user, net]) => [user, net + (user === from ? minor : 0n) - (user === to ? minor : 0n)]))

describe('simplified debts', () => {
  test('there are fewer payments than people, each above zero, from debtors to creditors only', () =>
    fc.assert(
      fc.property(balanced, (nets) => {
        const debts = simplified(nets)
        expect(debts.length).toBeLessThanOrEqual(Math.max(0, [...nets.values()].filter((net) => net !== 0n).length - 1))
        for (const { from, to, minor } of debts) {
          expect(minor > 0n).toBe(true)
          expect([(nets.get(from) ?? 0n) < 0n, (nets.get(to) ?? 0n) > 0n]).toEqual([true, true])
        }
      }),
    ))

  test('E-d: after all payments every balance is zero', () =>
    fc.assert(
      fc.property(balanced, (nets) => {
        expect([...simplified(nets).reduce(paid, nets).values()].every((net) => net === 0n)).toBe(true)
      }),
    ))

  test('after some of them are paid, completely or in part, no more payments are needed than were left', () =>
    fc.assert(
      fc.property(balanced, fc.array(fc.nat()), fc.boolean(), (nets, drawn, inPart) => {
        const debts = simplified(nets)
        const chosen = new Set(drawn.map((one) => one % Math.max(1, debts.length)))
        const after = debts
          .filter((_, index) => chosen.has(index))
          .map((debt) => (inPart ? { ...debt, minor: (debt.minor + 1n) / 2n } : debt))
          .reduce(paid, nets)
        const left = debts.filter(({ minor }, index) => !chosen.has(index) || (inPart && minor > 1n))
        expect(simplified(after).length).toBeLessThanOrEqual(left.length)
      }),
    ))

  /** Balances of small amounts, so that many sets of people sum up to zero. */
  const few = (people: number) =>
    fc
      .array(fc.bigInt({ min: -6n, max: 6n }), { minLength: 1, maxLength: people - 1 })
      .map(
        (nets) => new Map([...nets, -nets.reduce((sum, net) => sum + net, 0n)].map((net, index) => [`p${index}`, net])),
      )

  /** Returns the smallest possible number of payments. It tries every payment that settles the first person. */
  const fewest = (nets: readonly bigint[]): number => {
    const [first, ...others] = nets.filter((net) => net !== 0n)
    if (first === undefined) return 0
    const tried = others.flatMap((net, index) =>
      first > 0n === net > 0n ? [] : [1 + fewest(others.with(index, net + first))],
    )
    return Math.min(...tried)
  }

  test('there are as few payments as possible', () =>
    fc.assert(
      fc.property(few(7), (nets) => {
        expect(simplified(nets)).toHaveLength(fewest([...nets.values()]))
      }),
      { numRuns: 300 },
    ))

  test(`there are as few payments as possible among ${MOST_EXACT} people`, () => {
    // Each of seven amounts is the credit of one person and the debt of another, so seven payments are enough. In the order of ids, the credits
    // rise and the debts fall, so pairing people in this order needs more payments.
    const nets = new Map(
      Array.from({ length: MOST_EXACT }, (_, index) => [
        `p${String(index).padStart(2, '0')}`,
        index < 7 ? BigInt(index + 1) * 100n : -BigInt(14 - index) * 100n,
      ]),
    )
    expect(simplified(nets)).toHaveLength(7)
    expect(needsPairs(nets)).toBe(false)
  })

  /** Generates debts between pairs of people, with the balances that follow from the debts. */
  const owing = fc
    .array(fc.tuple(fc.nat(19), fc.nat(19), fc.integer({ min: 1, max: 9 })), { maxLength: 40 })
    .map((owed) => {
      const credits = owed
        .filter(([payer, user]) => payer !== user)
        .map(([payer, user, minor]) => ({ payerId: `p${payer}`, owed: { [`p${user}`]: minor } }))
      const pairs = pairwise(credits)
      const people = new Set(credits.flatMap(({ payerId, owed: each }) => [payerId, ...Object.keys(each)]))
      const nets = pairs
        .map(({ from, to, minor }) => ({ from: to, to: from, minor }))
        .reduce(paid, new Map([...people].map((user) => [user, 0n])))
      return { pairs, nets }
    })

  test('there are never more payments than pair by pair, and they settle everybody', () =>
    fc.assert(
      fc.property(owing, ({ pairs, nets }) => {
        const debts = simplified(nets, pairs)
        expect(debts.length).toBeLessThanOrEqual(pairs.length)
        expect([...debts.reduce(paid, nets).values()].every((net) => net === 0n)).toBe(true)
      }),
      { numRuns: 500 },
    ))

  test(`among more than ${MOST_EXACT} people the pairwise debts are returned if they are fewer`, () => {
    // Each person p… owes one person q… In the order of ids, the amounts of p… and q… differ.
    const pairs = Array.from({ length: 10 }, (_, index) => ({
      from: `p${index}`,
      to: `q${(index * 7) % 10}`,
      minor: BigInt(index + 1),
    }))
    const nets = new Map(
      pairs.flatMap(
        ({ from, to, minor }) =>
          [
            [from, -minor],
            [to, minor],
          ] as const,
      ),
    )
    expect(needsPairs(nets)).toBe(true)
    expect(simplified(nets).length).toBeGreaterThan(10)
    expect(simplified(nets, pairs)).toEqual(pairs)
  })

  test('the order of people changes nothing', () =>
    fc.assert(
      fc.property(balanced, (nets) => {
        expect(simplified(new Map([...nets].reverse()))).toEqual(simplified(nets))
      }),
    ))
})

describe('debts pair by pair', () => {
  const credit = fc
    .tuple(
      fc.constantFrom('ann', 'bob', 'cem', 'dot', 'constructor'),
      fc.dictionary(fc.constantFrom('ann', 'bob', 'cem', 'dot', 'constructor'), fc.integer({ min: -500, max: 500 })),
    )
    .map(([payerId, owed]) => ({
      payerId,
      owed: Object.fromEntries(Object.entries(owed).filter(([user]) => user !== payerId)),
    }))

  test('each pair is listed at most once, the debtor first, and never the same person twice', () =>
    fc.assert(
      fc.property(fc.array(credit), (credits) => {
        const debts = pairwise(credits)
        const pairs = debts.map(({ from, to }) => [from, to].sort().join(' '))
        expect(new Set(pairs).size).toBe(pairs.length)
        expect(debts.every(({ from, to, minor }) => from !== to && minor > 0n)).toBe(true)
      }),
    ))

  test('E-d: the net of a person is what is owed to them less what they owe', () =>
    fc.assert(
      fc.property(fc.array(credit), (credits) => {
        const nets = new Map<string, bigint>()
        const move = (user: string, minor: bigint) => nets.set(user, (nets.get(user) ?? 0n) + minor)
        for (const { payerId, owed } of credits) {
          for (const [user, minor] of Object.entries(owed)) {
            move(payerId, BigInt(minor))
            move(user, -BigInt(minor))
          }
        }
        expect([...pairwise(credits).reduce(paid, nets).values()].every((net) => net === 0n)).toBe(true)
      }),
    ))

  test('mutual debts are netted', () =>
    expect(
      pairwise([
        { payerId: 'ann', owed: { bob: 300 } },
        { payerId: 'bob', owed: { ann: 120, cem: 50 } },
      ]),
    ).toEqual([
      { from: 'bob', to: 'ann', minor: 180n },
      { from: 'cem', to: 'bob', minor: 50n },
    ]))
})

test('E-d: a net balance is paid less own share, plus sent less received', () =>
  expect(netOf({ paid: 9000, share: 3000, sent: 10n ** 17n, received: 500 })).toBe(10n ** 17n + 5500n))
