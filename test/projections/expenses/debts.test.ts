import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { netOf, pairwise, simplified, type Debt } from '../../../projections/expenses/debts.ts'

/** Zero-sum, as the folds keep it; ids that an object already has are ids like any other. */
const ids = fc.uniqueArray(fc.oneof(fc.constantFrom('constructor', '__proto__', 'toString'), fc.stringMatching(/^[a-z0-9]{1,6}$/)), { minLength: 1, maxLength: 20 })
const balanced = ids.chain((users) => fc.array(fc.bigInt({ min: -1000n, max: 1000n }), { minLength: users.length - 1, maxLength: users.length - 1 })
  .map((nets) => new Map(users.map((user, index) => [user, nets[index] ?? -nets.reduce((sum, net) => sum + net, 0n)]))))

const paid = (nets: ReadonlyMap<string, bigint>, { from, to, minor }: Debt): ReadonlyMap<string, bigint> =>
  new Map([...nets].map(([user, net]) => [user, net + (user === from ? minor : 0n) - (user === to ? minor : 0n)]))

describe('simplified debts', () => {
  test('there are at most as many as people less one, each of more than nothing, from debtors to creditors only', () =>
    fc.assert(fc.property(balanced, (nets) => {
      const debts = simplified(nets)
      expect(debts.length).toBeLessThanOrEqual(Math.max(0, [...nets.values()].filter((net) => net !== 0n).length - 1))
      for (const { from, to, minor } of debts) {
        expect(minor > 0n).toBe(true)
        expect([(nets.get(from) ?? 0n) < 0n, (nets.get(to) ?? 0n) > 0n]).toEqual([true, true])
      }
    })))

  test('E-d: when all are paid, everybody is at zero', () =>
    fc.assert(fc.property(balanced, (nets) => {
      expect([...simplified(nets).reduce(paid, nets).values()].every((net) => net === 0n)).toBe(true)
    })))

  test('paying any one of them, or any some of them, leaves the others exactly as they were', () =>
    fc.assert(fc.property(balanced, fc.array(fc.nat()), (nets, drawn) => {
      const debts = simplified(nets)
      const chosen = new Set(drawn.map((one) => one % Math.max(1, debts.length)))
      const after = debts.filter((_, index) => chosen.has(index)).reduce(paid, nets)
      expect(simplified(after)).toEqual(debts.filter((_, index) => !chosen.has(index)))
    })))

  test('paying a part of one leaves the others as they were, and the rest of it', () =>
    fc.assert(fc.property(balanced, fc.nat(), (nets, drawn) => {
      const debts = simplified(nets)
      const index = drawn % Math.max(1, debts.length)
      const whole = debts[index]
      if (whole === undefined || whole.minor === 1n) return
      expect(simplified(paid(nets, { ...whole, minor: 1n }))).toEqual(debts.with(index, { ...whole, minor: whole.minor - 1n }))
    })))

  test('the order in which people are told changes nothing', () =>
    fc.assert(fc.property(balanced, (nets) => {
      expect(simplified(new Map([...nets].reverse()))).toEqual(simplified(nets))
    })))
})

describe('debts pair by pair', () => {
  const credit = fc.tuple(fc.constantFrom('ann', 'bob', 'cem', 'dot', 'constructor'), fc.dictionary(fc.constantFrom('ann', 'bob', 'cem', 'dot', 'constructor'), fc.integer({ min: -500, max: 500 })))
    .map(([payerId, owed]) => ({ payerId, owed: Object.fromEntries(Object.entries(owed).filter(([user]) => user !== payerId)) }))

  test('each pair is told once at most, the one who owes first, and never to oneself', () =>
    fc.assert(fc.property(fc.array(credit), (credits) => {
      const debts = pairwise(credits)
      const pairs = debts.map(({ from, to }) => [from, to].sort().join(' '))
      expect(new Set(pairs).size).toBe(pairs.length)
      expect(debts.every(({ from, to, minor }) => from !== to && minor > 0n)).toBe(true)
    })))

  test('E-d: what they leave of everybody is what is owed to them less what they owe', () =>
    fc.assert(fc.property(fc.array(credit), (credits) => {
      const nets = new Map<string, bigint>()
      const move = (user: string, minor: bigint) => nets.set(user, (nets.get(user) ?? 0n) + minor)
      for (const { payerId, owed } of credits) {
        for (const [user, minor] of Object.entries(owed)) {
          move(payerId, BigInt(minor))
          move(user, -BigInt(minor))
        }
      }
      expect([...pairwise(credits).reduce(paid, nets).values()].every((net) => net === 0n)).toBe(true)
    })))

  test('what two owe each other is netted', () =>
    expect(pairwise([{ payerId: 'ann', owed: { bob: 300 } }, { payerId: 'bob', owed: { ann: 120, cem: 50 } }])).toEqual([
      { from: 'bob', to: 'ann', minor: 180n }, { from: 'cem', to: 'bob', minor: 50n },
    ]))
})

test('E-d: a net balance is what was paid less the own share, and what was sent less what was received', () =>
  expect(netOf({ paid: 9000, share: 3000, sent: 10n ** 17n, received: 500 })).toBe(10n ** 17n + 5500n))
