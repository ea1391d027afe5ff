/**
 * Divides balances that sum up to zero into as many groups as possible that each sum up to zero. The balances are in a fixed order, and none
 * is zero. Returns each group as a list of indexes into `balances`. Takes time and memory proportional to 2^n.
 *
 * The method is dynamic programming over all subsets. If several divisions are equally good, it repeatedly takes the first balance without a group
 * and gives it the group that contains the earliest other balances. So the same balances always give the same groups.
 */
export const zeroSumGroups = (balances: readonly bigint[]): readonly (readonly number[])[] => {
  const count = balances.length
  // The first balance is the highest bit, so the set with the larger number contains the earlier balances.
  const bitOf = (index: number): number => 1 << (count - 1 - index)
  const most = mostGroups([...balances].reverse())
  const groups: (readonly number[])[] = []
  let left = 2 ** count - 1
  while (left > 0) {
    const chosen = nextGroup(left, most)
    groups.push(balances.map((_, index) => index).filter((index) => (chosen & bitOf(index)) !== 0))
    left ^= chosen
  }
  return groups
}

/** The results for every set of balances. A set is a number with one bit per balance. This number is the index in both arrays. */
interface BestGroups {
  /** The largest number of disjoint zero-sum groups in the set. */
  readonly groups: Uint8Array
  /** 1 if the set sums up to zero, else 0. */
  readonly isZero: Uint8Array
}

const mostGroups = (balances: readonly bigint[]): BestGroups => {
  const size = 2 ** balances.length
  const sums = new Array<bigint>(size).fill(0n)
  const [groups, isZero] = [new Uint8Array(size), new Uint8Array(size)]
  for (let set = 1; set < size; set += 1) {
    const lowest = 31 - Math.clz32(set & -set)
    const sum = (sums[set & (set - 1)] ?? 0n) + (balances[lowest] ?? 0n)
    sums[set] = sum
    let most = 0
    for (let rest = set; rest !== 0; rest &= rest - 1) {
      const without = groups[set ^ (rest & -rest)] ?? 0
      if (without > most) most = without
    }
    if (sum === 0n) isZero[set] = 1
    groups[set] = most + (sum === 0n ? 1 : 0)
  }
  return { groups, isZero }
}

/** The largest subset of `left` that contains its highest bit, sums up to zero, and leaves as many groups as possible for the rest. */
const nextGroup = (left: number, { groups, isZero }: BestGroups): number => {
  const first = 1 << (31 - Math.clz32(left))
  const others = left ^ first
  const wanted = (groups[left] ?? 0) - 1
  // Every subset of `others`, the largest first.
  for (let subset = others; ; subset = (subset - 1) & others) {
    const set = first | subset
    if (isZero[set] === 1 && groups[left ^ set] === wanted) return set
    if (subset === 0) return left
  }
}
