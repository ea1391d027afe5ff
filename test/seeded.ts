/** Returns a function that returns random whole numbers from 0 up to, but not including, `bound`. The same seed gives the same numbers. */
export const seeded = (seed: number): ((bound: number) => number) => {
  let state = seed
  return (bound) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) % bound
  }
}
