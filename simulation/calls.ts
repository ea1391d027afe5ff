import type { Fault, FaultKind, Faults } from './faults.ts'
import type { Journal } from './journal.ts'
import type { Hooks, Later, Lives, Process } from './process.ts'
import { fraction } from './random.ts'

/**
 * The work of a port call, in steps that read or change the simulated log, tables and keys. After each `yield`, other processes can run, and a
 * fault can end the call.
 */
export interface Operation<T> {
  readonly port: string
  steps(fault: FaultKind | undefined): Generator<undefined, T>
  /** Returns the error for a call that had no effect. Absent if the port never refuses this call. */
  readonly refused?: () => Error
  /** Returns the error for a call whose outcome is unknown. Absent if the outcome of this call is never unknown. */
  readonly unknown?: () => Error
  /**
   * True if the call has no effect after its caller got an error or died. Examples: a write to a file of this machine, or to a table that one
   * process fills before any other process uses the table.
   */
  readonly prompt?: true
  /** Further kinds of faults that can strike this call. The function `steps` carries them out. Default: none. */
  readonly own?: readonly FaultKind[]
}

export interface CallsParts {
  readonly seed: number
  readonly faults: Faults
  readonly later: Later
  readonly lives: Lives
  readonly hooks: Hooks
  readonly journal: Journal
  /** Adds `change` to the number of calls whose steps have not ended. It is a part of `Scheduler.loose`. */
  readonly loosen: (change: number) => void
}

export interface Calls {
  call<T>(process: Process, operation: Operation<T>): Promise<T>
  /** The faults that struck, in order. */
  readonly struck: readonly Fault[]
  /** The names of the calls of all processes that faults can kill. */
  readonly calls: readonly string[]
}

interface Settle<T> {
  resolve(value: T): void
  reject(error: Error): void
}

export const createCalls = (parts: CallsParts): Calls => {
  const struck: Fault[] = []
  const calls: string[] = []
  const issue = <T>(process: Process, operation: Operation<T>, settle: Settle<T>): void => {
    const { call, fault } = strike(parts, process, operation)
    if (process.mortal) calls.push(call)
    if (fault) struck.push(fault)
    perform(parts, { process, operation, settle, kind: fault?.kind, amount: fault?.amount ?? 0 })
  }
  const call = <T>(process: Process, operation: Operation<T>): Promise<T> =>
    // Each call has its own promise, even if it is never settled. One promise for all these calls would keep their waiting callers in memory.
    new Promise<T>((resolve, reject) => {
      // A dead process gets no answer.
      if (process.state === 'dead') return
      const settle: Settle<T> = { resolve, reject }
      if (process.state === 'paused') parts.lives.postpone(process, () => issue(process, operation, settle))
      else issue(process, operation, settle)
    })
  return { call, struck, calls }
}

/** Numbers the call, determines the fault that strikes it (if any), and adds both to the journal. */
const strike = (
  { faults, journal }: CallsParts,
  process: Process,
  operation: Operation<unknown>,
): { readonly call: string; readonly fault: Fault | undefined } => {
  process.calls += 1
  const call = `${process.name}#${process.calls}`
  const fault = faults({
    call,
    process: process.id,
    number: process.calls,
    port: operation.port,
    kinds: () => kindsOf(process, operation),
  })
  journal.stir(process.id)
  journal.stir(process.calls)
  journal.stirText(operation.port)
  if (fault) journal.stirText(fault.kind)
  if (journal.isRecorded) journal.write(`${call} ${operation.port}${fault ? ` ${fault.kind}` : ''}`)
  return { call, fault }
}

const DISTURBANCES: readonly FaultKind[] = ['rebalance', 'rewind', 'forget', 'restore']
const MORTAL: readonly FaultKind[] = [
  'crash-before',
  'crash-after',
  'crash-late',
  'crash-within',
  'pause-before',
  'pause-after',
  ...DISTURBANCES,
]

/** The faults that can strike a call. */
const kindsOf = (
  process: Process,
  { own = [], refused, unknown, prompt }: Operation<unknown>,
): readonly FaultKind[] => {
  const kinds: FaultKind[] = ['slow', ...own]
  if (refused) kinds.push('refuse')
  if (unknown) kinds.push('lose', 'partial', 'late')
  if (process.mortal) kinds.push(...MORTAL)
  return prompt ? kinds.filter((kind) => kind !== 'late' && kind !== 'crash-late') : kinds
}

/** A call and the fault that struck it. */
interface Issued<T> {
  readonly process: Process
  readonly operation: Operation<T>
  readonly settle: Settle<T>
  readonly kind: FaultKind | undefined
  readonly amount: number
}

/** The time of a long pause or of a late call, in milliseconds. A pause takes between half of it and one and a half of it. */
export const LONG = 9_000

/** Runs the steps of a call and answers the caller, as the fault requires. */
const perform = <T>(parts: CallsParts, { process, operation, settle, kind, amount }: Issued<T>): void => {
  const { seed, later, lives, hooks } = parts
  const pace = fraction(seed, process.id, process.calls, 3) * 4
  const steps = operation.steps(kind)
  const answer = (send: () => void) => later(fraction(seed, process.id, process.calls, 4) * 2, send, process)
  const fail = (error: (() => Error) | undefined) => answer(() => settle.reject(error?.() ?? new Error('no answer')))
  const succeed = (value: T) => answer(() => settle.resolve(value))
  const work = (delay: number, end: End<T>) => runSteps(parts, { process, steps, fail }, delay, end)
  const cutAfter = 1 + Math.floor(amount * 4)
  switch (kind) {
    case 'crash-before':
      return lives.crash(process)
    case 'crash-late':
      lives.crash(process)
      return work(amount * LONG, { finish: () => undefined })
    case 'crash-after':
      return work(pace, { finish: () => lives.crash(process) })
    case 'crash-within':
      return work(pace, { cutAfter, cut: () => lives.crash(process), finish: () => lives.crash(process) })
    case 'refuse':
      return fail(operation.refused)
    case 'lose':
      return work(pace, { finish: () => fail(operation.unknown) })
    case 'partial':
      return work(pace, { cutAfter, cut: () => fail(operation.unknown), finish: () => fail(operation.unknown) })
    case 'late':
      fail(operation.unknown)
      return work(amount * LONG, { cutAfter, finish: () => undefined })
    // If the process dies, a slow call with `prompt` is dropped, because the next process may already have written the same file.
    case 'slow':
      return work(amount * LONG, { finish: succeed, ...(operation.prompt && { on: process }) })
    case 'pause-before':
      lives.pause(process, LONG * (0.5 + amount))
      return work(pace, { finish: succeed, on: process })
    case 'pause-after':
      return work(pace, {
        finish: (value) => {
          lives.pause(process, LONG * (0.5 + amount))
          succeed(value)
        },
      })
    case 'rebalance':
    case 'rewind':
    case 'forget':
    case 'restore':
      hooks.disturb(kind, process, amount)
      return work(pace, { finish: succeed })
    case 'duplicate':
    case 'stale':
    case 'outage':
    case undefined:
      return work(pace, { finish: succeed })
  }
}

/** A call whose steps have begun. */
interface Running<T> {
  readonly process: Process
  readonly steps: Generator<undefined, T>
  readonly fail: (error: () => Error) => void
}

interface End<T> {
  finish(value: T): void
  /** The number of steps after which the call ends and `cut` is called, unless the call is already complete. Undefined: all steps run. */
  readonly cutAfter?: number
  cut?(): void
  /** The first step waits while this process is paused. If this process dies before the first step, the call is dropped. */
  readonly on?: Process
}

/** Runs the first step after `delay` milliseconds, and each further step some time after the previous step. */
const runSteps = <T>(
  { seed, later, loosen }: CallsParts,
  { process, steps, fail }: Running<T>,
  delay: number,
  end: End<T>,
): void => {
  let taken = 0
  // A call that is dropped if its process dies is not counted, because a dropped call would never be subtracted again.
  const weight = end.on ? 0 : 1
  loosen(weight)
  const over = (then: () => void) => {
    loosen(-weight)
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
    } else later(fraction(seed, process.id, process.calls, 4 + taken) * 3, advance)
  }
  later(delay, advance, end.on)
}

/** Runs the next step. Returns its result, or the error that the operation threw for the caller. */
const attempt = <T>(steps: Generator<undefined, T>): IteratorResult<undefined, T> | Error => {
  try {
    return steps.next()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
