import type { Fault } from './faults.ts'

/**
 * Delta debugging. Returns a part of the faults with which `fails` still returns true. First leaves out halves of the faults, then smaller
 * and smaller pieces, until each remaining fault is needed. Calls `fails` at most `maxRuns` times. Default: 300.
 */
export const shrink = async (
  faults: readonly Fault[],
  fails: (plan: readonly Fault[]) => Promise<boolean>,
  maxRuns = 300,
): Promise<readonly Fault[]> => {
  let smallest = faults
  let left = maxRuns
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
