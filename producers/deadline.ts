/** The time by which a caller gets an answer. */
export interface Deadline {
  /** Milliseconds until it passes; 0 afterwards. */
  left(): number
  /** Resolves to the result of the work. If the deadline passes first, rejects with the error that `late` returns. The result is then ignored. */
  within<T>(work: Promise<T>, late: () => Error): Promise<T>
}

/** A deadline `ms` from now. It uses a monotonic clock. */
export const deadlineAfter = (ms: number): Deadline => {
  const at = performance.now() + ms
  const left = (): number => Math.max(0, at - performance.now())
  return {
    left,
    within: (work, late) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(late()), left())
        work.then(resolve, reject).finally(() => clearTimeout(timer))
      }),
  }
}
