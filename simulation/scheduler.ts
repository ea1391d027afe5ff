import { createCalls, type Calls } from './calls.ts'
import type { Faults } from './faults.ts'
import { createJournal, type Journal } from './journal.ts'
import { createLives, type Hooks, type Later, type Lives, type Process } from './process.ts'
import { createQueue } from './queue.ts'
import { mix } from './random.ts'

export interface Scheduler extends Calls, Pick<Lives, 'crash' | 'pause'>, Pick<Journal, 'lines' | 'note' | 'hash'> {
  now(): number
  spawn(name: string, id: number, mortal: boolean): Process
  /**
   * Calls a function after a time in milliseconds. If the call is on behalf of a process, the call waits while this process is paused, and is
   * dropped if this process is dead.
   */
  readonly later: Later
  /** Runs steps until `done` returns true (`done`), no step is left (`idle`), or `budget` steps are done (`spent`). */
  run(done: () => boolean, budget: number): Promise<'done' | 'idle' | 'spent'>
  readonly hooks: Hooks
  /** From now on there are no faults. */
  calm(): void
  /** Returns the number of paused processes plus the number of calls whose steps are under way. These steps can have an effect much later. */
  loose(): number
}

export const createScheduler = (options: {
  seed: number
  faults: Faults
  record?: boolean
  start?: number
}): Scheduler => {
  const queue = createQueue<{ run: () => void; process: Process | undefined }>()
  const hooks: Hooks = { crashed: () => undefined, paused: () => undefined, disturb: () => undefined }
  let faults = options.faults
  let time = options.start ?? 0
  let sequence = 0
  let loose = 0

  const later: Later = (ms, run, process) => {
    sequence += 1
    queue.push(time + ms, mix(options.seed, sequence), { run, process })
  }
  const loosen = (change: number) => {
    loose += change
  }
  const journal = createJournal(options.record === true, () => time)
  const lives = createLives({ later, hooks, note: journal.note, loosen })
  const calls = createCalls({
    seed: options.seed,
    faults: (site) => faults(site),
    later,
    lives,
    hooks,
    journal,
    loosen,
  })

  const run: Scheduler['run'] = (done, budget) =>
    new Promise((resolve, reject) => {
      let steps = 0
      const step = () => {
        // Calls `done` only if no step is due soon, because `done` is slow and returns false while processes work.
        if ((queue.next() ?? Infinity) - time > LULL_MS && done()) return resolve('done')
        if (steps >= budget) return resolve('spent')
        steps += 1
        const next = queue.pop()
        if (next === undefined) return resolve('idle')
        time = Math.max(time, next.at)
        const { run: act, process } = next.value
        if (process === undefined || process.state === 'running') act()
        else if (process.state === 'paused') lives.postpone(process, act)
        quiet(carefully)
      }
      const carefully = () => {
        try {
          step()
        } catch (error) {
          reject(error as Error)
        }
      }
      quiet(carefully)
    })

  return {
    ...calls,
    now: () => Math.floor(time),
    spawn: (name, id, mortal) => ({ name, id, mortal, state: 'running', calls: 0 }),
    later,
    crash: lives.crash,
    pause: lives.pause,
    run,
    hooks,
    lines: journal.lines,
    note: journal.note,
    hash: journal.hash,
    loose: () => loose,
    calm: () => {
      faults = () => undefined
    },
  }
}

const LULL_MS = 2

const resolved = Promise.resolve()

/**
 * Calls `then` when no microtask is left, so that processes do everything they can before the next answer arrives. A `nextTick` that a
 * microtask requests runs after the last microtask. A new iteration of the event loop (`setImmediate`) would have the same effect, but would
 * take much longer.
 */
const quiet = (then: () => void): void => void resolved.then(() => process.nextTick(then))
