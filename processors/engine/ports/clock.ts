/** The time of a process: real in programs, virtual in the simulation. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** Resolves after `ms` milliseconds. If the signal aborts, resolves at once and without an error. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Resolves after the event loop has run the other work of this process. Absent if no event loop runs the work. */
  yield?(): Promise<void>
}
