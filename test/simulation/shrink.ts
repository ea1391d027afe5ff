import type { Fault } from './faults.ts'

/**
 * The smallest part of a list of faults that still fails, by delta debugging: halves first, then smaller and smaller
 * pieces left out, until none can be. `fails` decides; `tries` bounds how often it is asked.
 */
export const shrink = async (faults: readonly Fault[], fails: (plan: readonly Fault[]) => Promise<boolean>, tries = 300): Promise<readonly Fault[]> => {
  let smallest = faults
  let left = tries
  for (let size = Math.ceil(faults.length / 2); size >= 1;) {
    let shrunk = false
    for (let at = 0; at < smallest.length && left > 0;) {
      const plan = [...smallest.slice(0, at), ...smallest.slice(at + size)]
      left -= 1
      if (await fails(plan)) {
        smallest = plan
        shrunk = true
      } else at += size
    }
    if (left === 0) return smallest
    if (size > 1) size = Math.ceil(size / 2)
    else if (!shrunk) return smallest
  }
  return smallest
}
