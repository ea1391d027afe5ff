/** The clock of the service. It runs with the clock of the machine until the control API sets or stops it. */
export interface LocalClock {
  /** Epoch milliseconds. */
  now(): number
  /** Epoch seconds, rounded down. */
  seconds(): number
  isRunning(): boolean
  /** Sets the present time, and whether the clock runs from there. */
  set(time: { readonly now: number; readonly isRunning: boolean }): void
  advance(ms: number): void
  /** Calls `listener` after each change of the clock. */
  onChange(listener: () => void): void
}

export const createLocalClock = (): LocalClock => {
  const listeners: (() => void)[] = []
  let base = Date.now()
  let startedAt = base
  let running = true
  const now = () => (running ? base + (Date.now() - startedAt) : base)
  const set = (time: { now: number; isRunning: boolean }) => {
    base = time.now
    startedAt = Date.now()
    running = time.isRunning
    for (const listener of listeners) listener()
  }
  return {
    now,
    seconds: () => Math.floor(now() / 1000),
    isRunning: () => running,
    set,
    advance: (ms) => set({ now: now() + ms, isRunning: running }),
    onChange: (listener) => void listeners.push(listener),
  }
}
