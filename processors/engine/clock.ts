/** Time as a port: real in programs, virtual in the simulation. */
export interface Clock {
  now(): number
  /** Resolves early, without a fault, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Resolves after other work of this process has had a turn. Absent if work is not run by the event loop. */
  turn?(): Promise<void>
}
