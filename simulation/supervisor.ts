import type { Process } from './process.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'

/** Starts processes, and starts the next life of a process that has died. */
export interface Supervisor {
  /** Starts a process. `live` runs in each of its lives. */
  supervise(name: string, index: number, live: (process: Process) => Promise<void>): void
  /** Starts the next life of a dead process, some time later. */
  restart(process: Process): void
  /** Kills every supervised process. */
  crashAll(): void
}

export interface SupervisorParts {
  readonly scheduler: Scheduler
  readonly random: Random
  readonly failed: (error: unknown) => void
}

interface SupervisedProcess {
  readonly name: string
  readonly index: number
  readonly live: (process: Process) => Promise<void>
  /** The number of the current life. The first life has the number 1. */
  life: number
  process: Process | undefined
}

export const createSupervisor = ({ scheduler, random, failed }: SupervisorParts): Supervisor => {
  const all: SupervisedProcess[] = []
  const launch = (supervised: SupervisedProcess) => {
    supervised.life += 1
    const process = scheduler.spawn(
      `${supervised.name}.${supervised.life}`,
      supervised.index * 1000 + supervised.life,
      true,
    )
    supervised.process = process
    // If `live` fails, the process dies, and the hook for crashed processes starts its next life.
    supervised.live(process).catch((error: unknown) => {
      failed(error)
      scheduler.crash(process)
    })
  }
  return {
    supervise: (name, index, live) => {
      const supervised: SupervisedProcess = { name, index, live, life: 0, process: undefined }
      all.push(supervised)
      launch(supervised)
    },
    restart: (process) => {
      const supervised = all.find((each) => each.process === process)
      if (supervised) scheduler.later(100 + random.next() * 3000, () => launch(supervised))
    },
    crashAll: () => {
      for (const { process } of all) if (process) scheduler.crash(process)
    },
  }
}
