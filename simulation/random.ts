/** The only source of random numbers in the simulation. The seed determines the whole run. */
export interface Random {
  /** Returns a number that is at least 0 and below 1. */
  next(): number
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
  shuffled<T>(list: readonly T[]): T[]
}

/** Returns the Murmur3 hash of whole numbers. The result depends only on the arguments, and not on earlier calls. */
export const mix = (...parts: readonly number[]): number => {
  let hash = 0x9747b28c
  for (const part of parts) {
    let word = Math.imul(part, 0xcc9e2d51)
    word = (word << 15) | (word >>> 17)
    hash ^= Math.imul(word, 0x1b873593)
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** The result of `mix` as a fraction: at least 0, below 1. */
export const fraction = (...parts: readonly number[]): number => mix(...parts) / 4_294_967_296

/** Creates a generator with the algorithm mulberry32. */
export const createRandom = (seed: number): Random => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let word = Math.imul(state ^ (state >>> 15), 1 | state)
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word
    return ((word ^ (word >>> 14)) >>> 0) / 4_294_967_296
  }
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick: (list) => {
      const chosen = list[between(0, list.length - 1)]
      if (chosen === undefined) throw new RangeError('nothing to pick from')
      return chosen
    },
    shuffled: (list) => {
      const order = list.map((value) => ({ value, rank: next() }))
      return order.sort((a, b) => a.rank - b.rank).map(({ value }) => value)
    },
  }
}
