/**
 * Divides an amount in the proportion of the weights, without a rounding error. Each share is rounded down, also below
 * zero. The shares with the largest remainders get one of the remaining units each (Hamilton's method). Among equal
 * remainders, the order starts at an index from a hash of the expense's id. So over many expenses everybody gets odd
 * units equally often, and the same expense is always divided in the same way.
 */
export const divided = (amount: bigint, weights: readonly bigint[], expense: string): readonly bigint[] => {
  const total = weights.reduce((sum, weight) => sum + weight, 0n)
  if (total <= 0n || weights.some((weight) => weight < 0n))
    throw new RangeError('No weight may be below zero, and some must be above it.')
  const remainder = weights.map((weight) => (((amount * weight) % total) + total) % total)
  const shares = weights.map((weight, index) => (amount * weight - (remainder[index] ?? 0n)) / total)
  const left = Number(amount - shares.reduce((sum, share) => sum + share, 0n))
  const first = fnv1a(expense) % weights.length
  const rankOf = (index: number): number => (index - first + weights.length) % weights.length
  const order = weights
    .map((_, index) => index)
    .sort((a, b) => compare(remainder[b] ?? 0n, remainder[a] ?? 0n) || rankOf(a) - rankOf(b))
  const rounded = new Set(order.slice(0, left))
  return shares.map((share, index) => (rounded.has(index) ? share + 1n : share))
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : Number(a > b))

const fnv1a = (text: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}
