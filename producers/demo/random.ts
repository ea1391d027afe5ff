/** Random numbers from a seed (mulberry32). The same seed gives the same numbers. */
export interface Random {
  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number
  /** A whole number from `least` to `most`, both inclusive. */
  whole(least: number, most: number): number
  pick<T>(from: readonly [T, ...T[]]): T
  chance(probability: number): boolean
}

export const createRandom = (seed: number): Random => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const whole = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    whole,
    pick: ([first, ...rest]) => [first, ...rest][whole(0, rest.length)] ?? first,
    chance: (probability) => next() < probability,
  }
}
