import { setImmediate as nextTurn } from 'node:timers/promises'

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs long work in parts. Each `yield` ends a part. All callers in this process share one queue, which runs one part per turn of the event
 * loop. So a small request waits for one part of a large request, not for all of it.
 */
export const runInParts = async <T>(work: Generator<undefined, T>): Promise<T> => {
  for (;;) {
    const part = work.next()
    if (part.done === true) return part.value
    await (last = last.then(() => nextTurn()))
  }
}

/** Maps a list, with a `yield` after each `size` values. */
export function* mapInParts<V, R>(
  values: readonly V[],
  size: number,
  map: (value: V, index: number) => R,
): Generator<undefined, R[]> {
  const results: R[] = []
  for (let index = 0; index < values.length; index += 1) {
    if (index > 0 && index % size === 0) yield
    results.push(map(values[index] as V, index))
  }
  return results
}
