/** The clock of a process: real in programs, virtual in the simulation. */
export interface Clock {
  /** The present time in epoch milliseconds. */
  now(): number
  /** Resolves after `ms` milliseconds. If the signal aborts, resolves at once and does not throw. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Lets the event loop run the other pending work of this process, then resolves. Absent for a virtual clock. */
  yield?(): Promise<void>
}
