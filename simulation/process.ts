import type { FaultKind } from './faults.ts'

/** One life of a node or a client. A process gets the answers to its calls while it lives. */
export interface Process {
  readonly name: string
  readonly id: number
  /** Only nodes die or are paused. The simulation uses clients for its own calls. */
  readonly mortal: boolean
  state: 'running' | 'paused' | 'dead'
  calls: number
}

/** Called when something happens to a process. The world replaces them. */
export interface Hooks {
  crashed(process: Process): void
  paused(process: Process, ms: number): void
  /** Carries out the faults `rebalance`, `rewind`, `forget` and `restore`. */
  disturb(kind: FaultKind, process: Process, amount: number): void
}

/** Runs later, on behalf of a process if one is given. */
export type Later = (ms: number, run: () => void, process?: Process) => void

/** The deaths and pauses of processes. */
export interface Lives {
  crash(process: Process): void
  pause(process: Process, ms: number): void
  /** Runs when the paused process runs again. Dropped if it dies before. */
  postpone(process: Process, run: () => void): void
}

export interface LivesParts {
  readonly later: Later
  readonly hooks: Hooks
  readonly note: (text: string) => void
  /** Counts paused processes as loose. */
  readonly loosen: (change: number) => void
}

export const createLives = ({ later, hooks, note, loosen }: LivesParts): Lives => {
  const postponed = new Map<Process, (() => void)[]>()
  const resume = (process: Process) => {
    loosen(-1)
    if (process.state !== 'paused') return
    process.state = 'running'
    note(`${process.name} runs again`)
    const waiting = postponed.get(process) ?? []
    postponed.delete(process)
    for (const run of waiting) later(0, run, process)
  }
  return {
    postpone: (process, run) => void postponed.set(process, [...(postponed.get(process) ?? []), run]),
    crash: (process) => {
      if (process.state === 'dead') return
      process.state = 'dead'
      postponed.delete(process)
      note(`${process.name} dies`)
      hooks.crashed(process)
    },
    pause: (process, ms) => {
      if (process.state !== 'running') return
      process.state = 'paused'
      loosen(1)
      note(`${process.name} is paused`)
      later(ms, () => resume(process))
      hooks.paused(process, ms)
    },
  }
}
