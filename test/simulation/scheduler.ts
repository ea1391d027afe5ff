import type { Fault, FaultKind, Faults } from './faults.ts'
import { createQueue } from './queue.ts'
import { fraction, mix } from './random.ts'

/** One life of a node or a client: what it has asked for is answered while it lives. */
export interface Process {
  readonly name: string
  readonly id: number
  /** Only nodes die or stand still; a client is the world's own hand. */
  readonly mortal: boolean
  state: 'running' | 'paused' | 'dead'
  calls: number
}

/** What a port call does to the world. Each yield is a moment at which others run, and at which the call can be cut off. */
export interface Operation<T> {
  readonly port: string
  steps(fault: FaultKind | undefined): Generator<undefined, T>
  /** What the caller hears when nothing happened; absent where the port does not refuse. */
  readonly refused?: () => Error
  /** What the caller hears when it may have happened. */
  readonly unknown?: () => Error
  /** It happens at once or never: a file of this machine, or a table that its builder fills before anybody else may touch it. */
  readonly prompt?: true
  /** Faults that only the operation itself knows how to commit. */
  readonly own?: readonly FaultKind[]
}

interface Hooks {
  crashed(process: Process): void
  paused(process: Process, ms: number): void
  /** Rebalance, rewind, forget. */
  disturb(kind: FaultKind, process: Process, amount: number): void
}

export interface Scheduler {
  now(): number
  spawn(name: string, id: number, mortal: boolean): Process
  /** Runs later; on behalf of a process it waits while that stands still, and is dropped when it is dead. */
  later(ms: number, run: () => void, process?: Process): void
  call<T>(process: Process, operation: Operation<T>): Promise<T>
  crash(process: Process): void
  pause(process: Process, ms: number): void
  /** Steps until `done`, or until nothing is left to do, or until the budget of steps is spent. */
  run(done: () => boolean, budget: number): Promise<'done' | 'idle' | 'spent'>
  hooks: Hooks
  /** From now on nothing goes wrong. */
  calm(): void
  /** Calls that hang in the air long after they were made, and processes that stand still. */
  loose(): number
  readonly struck: readonly Fault[]
  readonly calls: readonly string[]
  readonly lines: readonly string[]
  note(text: string): void
  /** Of everything that happened, in order. */
  hash(): number
}

const LONG = 9_000
const DISTURBANCES: readonly FaultKind[] = ['rebalance', 'rewind', 'forget', 'restore']
const MORTAL: readonly FaultKind[] = ['crash-before', 'crash-after', 'crash-late', 'crash-within', 'pause-before', 'pause-after', ...DISTURBANCES]

export const createScheduler = (options: { seed: number; faults: Faults; record?: boolean; start?: number }): Scheduler => {
  const queue = createQueue<{ run: () => void; process: Process | undefined }>()
  const held = new Map<Process, (() => void)[]>()
  const struck: Fault[] = []
  const calls: string[] = []
  const lines: string[] = []
  const hooks: Hooks = { crashed: () => undefined, paused: () => undefined, disturb: () => undefined }
  let faults = options.faults
  let time = options.start ?? 0
  let hash = 0
  let sequence = 0
  let loose = 0

  const stir = (word: number) => { hash = (Math.imul(hash ^ word, 0x01000193) + time) | 0 }
  const tell = (text: string) => void (options.record && lines.push(`${(time / 1000).toFixed(3)} ${text}`))
  const note = (text: string) => {
    stir(wordOf(text))
    tell(text)
  }
  const later = (ms: number, run: () => void, process?: Process) => {
    sequence += 1
    queue.push(time + ms, mix(options.seed, sequence), { run, process })
  }
  const hold = (process: Process, run: () => void) => {
    held.set(process, [...(held.get(process) ?? []), run])
  }
  const crash = (process: Process) => {
    if (process.state === 'dead') return
    process.state = 'dead'
    held.delete(process)
    note(`${process.name} dies`)
    hooks.crashed(process)
  }
  const resume = (process: Process) => {
    loose -= 1
    if (process.state !== 'paused') return
    process.state = 'running'
    note(`${process.name} wakes`)
    const waiting = held.get(process) ?? []
    held.delete(process)
    for (const run of waiting) later(0, run, process)
  }
  const pause = (process: Process, ms: number) => {
    if (process.state !== 'running') return
    process.state = 'paused'
    loose += 1
    note(`${process.name} stands still`)
    later(ms, () => resume(process))
    hooks.paused(process, ms)
  }

  const strike = (process: Process, operation: Operation<unknown>): Fault | undefined => {
    process.calls += 1
    const call = `${process.name}#${process.calls}`
    const fault = faults({ call, process: process.id, number: process.calls, port: operation.port, kinds: () => kindsOf(process, operation) })
    if (process.mortal) calls.push(call)
    if (fault) struck.push(fault)
    stir(process.id)
    stir(process.calls)
    stir(wordOf(operation.port))
    if (fault) stir(wordOf(fault.kind))
    if (options.record) tell(`${call} ${operation.port}${fault ? ` ${fault.kind}` : ''}`)
    return fault
  }

  const issue = <T>(process: Process, operation: Operation<T>, settle: Settle<T>): void => {
    const fault = strike(process, operation)
    const kind = fault?.kind
    const amount = fault?.amount ?? 0
    const pace = fraction(options.seed, process.id, process.calls, 3) * 4
    const steps = operation.steps(kind)
    const answer = (tell: () => void) => later(fraction(options.seed, process.id, process.calls, 4) * 2, tell, process)
    const fail = (error: (() => Error) | undefined) => answer(() => settle.reject(error?.() ?? new Error('no answer')))
    const work = (delay: number, end: { cutAfter?: number; cut?: () => void; finish: (value: T) => void; on?: Process }) => {
      let taken = 0
      // What waits for a sleeper is dropped if that dies.
      const weight = end.on ? 0 : 1
      loose += weight
      const over = (then: () => void) => {
        loose -= weight
        then()
      }
      const advance = () => {
        const step = attempt(steps)
        taken += 1
        if (step instanceof Error) over(() => fail(() => step))
        else if (step.done) over(() => end.finish(step.value))
        else if (taken === end.cutAfter) {
          steps.return(undefined as T)
          over(() => end.cut?.())
        }
        else later(fraction(options.seed, process.id, process.calls, 4 + taken) * 3, advance)
      }
      later(delay, advance, end.on)
    }
    const succeed = (value: T) => answer(() => settle.resolve(value))
    const cutAfter = 1 + Math.floor(amount * 4)
    switch (kind) {
      case 'crash-before': return crash(process)
      case 'crash-late': crash(process); return work(amount * LONG, { finish: () => undefined })
      case 'crash-after': return work(pace, { finish: () => crash(process) })
      case 'crash-within': return work(pace, { cutAfter, cut: () => crash(process), finish: () => crash(process) })
      case 'refuse': return fail(operation.refused)
      case 'lose': return work(pace, { finish: () => fail(operation.unknown) })
      case 'partial': return work(pace, { cutAfter, cut: () => fail(operation.unknown), finish: () => fail(operation.unknown) })
      case 'late': fail(operation.unknown); return work(amount * LONG, { cutAfter, finish: () => undefined })
      // Never after its process, where it is a file of this machine: whoever comes next may have written it by then.
      case 'slow': return work(amount * LONG, { finish: succeed, ...(operation.prompt && { on: process }) })
      case 'pause-before': pause(process, LONG * (0.5 + amount)); return work(pace, { finish: succeed, on: process })
      case 'pause-after': return work(pace, { finish: value => { pause(process, LONG * (0.5 + amount)); succeed(value) } })
      case 'rebalance': case 'rewind': case 'forget': case 'restore': hooks.disturb(kind, process, amount); return work(pace, { finish: succeed })
      case 'duplicate': case 'stale': case 'outage': case undefined: return work(pace, { finish: succeed })
    }
  }

  const call = <T>(process: Process, operation: Operation<T>): Promise<T> => {
    return new Promise<T>((resolve, reject) => {
      // Nobody answers the dead. A promise of its own: whatever waits for one that all share is kept as long as that is.
      if (process.state === 'dead') return
      const settle: Settle<T> = { resolve, reject }
      if (process.state === 'paused') hold(process, () => issue(process, operation, settle))
      else issue(process, operation, settle)
    })
  }

  const run: Scheduler['run'] = (done, budget) => new Promise((resolve, reject) => {
    let steps = 0
    const step = () => {
      // Not at every step: in the middle of what is going on, all is never done.
      if ((queue.next() ?? Infinity) - time > LULL_MS && done()) return resolve('done')
      if (steps >= budget) return resolve('spent')
      steps += 1
      const next = queue.pop()
      if (next === undefined) return resolve('idle')
      time = Math.max(time, next.at)
      const { run: act, process } = next.value
      if (process === undefined || process.state === 'running') act()
      else if (process.state === 'paused') hold(process, act)
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
    now: () => Math.floor(time),
    spawn: (name, id, mortal) => ({ name, id, mortal, state: 'running', calls: 0 }),
    later, call, crash, pause, run, hooks, struck, calls, lines, note,
    loose: () => loose,
    calm: () => { faults = () => undefined },
    hash: () => hash >>> 0,
  }
}

const LULL_MS = 2

/** What can go wrong at a call. */
const kindsOf = (process: Process, { own = [], refused, unknown, prompt }: Operation<unknown>): readonly FaultKind[] => {
  const kinds: FaultKind[] = ['slow', ...own]
  if (refused) kinds.push('refuse')
  if (unknown) kinds.push('lose', 'partial', 'late')
  if (process.mortal) kinds.push(...MORTAL)
  return prompt ? kinds.filter((kind) => kind !== 'late' && kind !== 'crash-late') : kinds
}

/** Few texts are told, and each many times. */
const words = new Map<string, number>()
const wordOf = (text: string): number => {
  const known = words.get(text)
  if (known !== undefined) return known
  const word = mix(...Array.from(text, (char) => char.charCodeAt(0)))
  if (words.size < MOST_WORDS) words.set(text, word)
  return word
}
const MOST_WORDS = 1_000

const settledAlready = Promise.resolve()

/**
 * Whatever the processes can do without an answer, they do before the next one comes: a tick that is asked for from a microtask runs
 * when no microtask is left. A turn of the event loop would do the same, at many times the price.
 */
const quiet = (then: () => void): void => void settledAlready.then(() => process.nextTick(then))

/** What the operation itself refuses is its caller's to hear. */
const attempt = <T>(steps: Generator<undefined, T>): IteratorResult<undefined, T> | Error => {
  try {
    return steps.next()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

interface Settle<T> {
  resolve(value: T): void
  reject(error: Error): void
}
