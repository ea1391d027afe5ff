import type { FaultKind } from './faults.ts'

/** One life of a node, an operator or a client. A process gets the answers to its calls while it lives. */
export interface Process {
  readonly name: string
  readonly id: number
  /** True if faults can kill or pause this process: a node, the operator or the process that forgets people. False for all other processes. */
  readonly mortal: boolean
  state: 'running' | 'paused' | 'dead'
  calls: number
}

/** The functions that are called when a process dies, is paused or is disturbed. The world replaces the default functions, which do nothing. */
export interface Hooks {
  crashed(process: Process): void
  paused(process: Process, ms: number): void
  /** Carries out the faults `rebalance`, `rewind`, `forget` and `restore`. */
  disturb(kind: FaultKind, process: Process, amount: number): void
}

/** Calls `run` after `ms` milliseconds of simulated time. If a process is given, the call is on behalf of this process. */
export type Later = (ms: number, run: () => void, process?: Process) => void

/** The deaths and pauses of processes. */
export interface Lives {
  crash(process: Process): void
  pause(process: Process, ms: number): void
  /** Calls `run` when the paused process runs again. If the process dies before that, `run` is never called. */
  postpone(process: Process, run: () => void): void
}

export interface LivesParts {
  readonly later: Later
  readonly hooks: Hooks
  readonly note: (text: string) => void
  /** Adds `change` to the number of paused processes, which is a part of `Scheduler.loose`. */
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
