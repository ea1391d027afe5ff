/** The time by which a caller must get an answer. */
export interface Deadline {
  /** Returns the milliseconds until the deadline, and 0 after the deadline. */
  left(): number
  /** Resolves or rejects like `work`. If the deadline passes first, rejects with the error that `late` returns, and ignores the result of `work`. */
  within<T>(work: Promise<T>, late: () => Error): Promise<T>
}

/** Returns a deadline that is `ms` milliseconds from now. The clock is monotonic: a change of the system time does not move the deadline. */
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
