import { createRandom, fraction } from './random.ts'

/** The faults of a port call. */
const FAULT_KINDS = [
  /** The process dies before the call. The call has no effect. */
  'crash-before',
  /** The call takes effect, and the process dies before it receives the answer. */
  'crash-after',
  /** The process dies. The call takes effect long after. */
  'crash-late',
  /** The process dies in the middle of a call. Only some steps of the call take effect. */
  'crash-within',
  /** The call has no effect, and the caller gets a retriable error. */
  'refuse',
  /** The call takes effect, and the caller gets the error for an unknown outcome. */
  'lose',
  /** Some steps of the call take effect, and the caller gets the error for an unknown outcome. */
  'partial',
  /** The caller gets the error for an unknown outcome, and the call takes effect long after. */
  'late',
  'slow',
  /** The process is paused for longer than its session, before or after the call takes effect. It then continues. */
  'pause-before',
  'pause-after',
  /** The broker assigns the partitions anew. */
  'rebalance',
  /** The subscription delivers earlier records again. */
  'rewind',
  /** The broker stores a record twice. */
  'duplicate',
  /** An index returns an old state. */
  'stale',
  /** The checkpoints are set back to an older state. */
  'forget',
  /** The series store rejects all writes for a while. */
  'outage',
  /** Every process is stopped, and a backup, or an empty table, replaces the table of the first generation. */
  'restore',
] as const

export type FaultKind = (typeof FAULT_KINDS)[number]

/** A fault at one call of one process (`b.2#14`: the 14th call of the second life of node b). `amount` is its strength, from 0 to 1. */
export interface Fault {
  readonly call: string
  readonly kind: FaultKind
  readonly amount: number
}

export type Rates = Readonly<Partial<Record<FaultKind, number>>>

/** A call that a fault can strike. */
interface CallSite {
  readonly call: string
  readonly process: number
  readonly number: number
  readonly port: string
  /** The kinds of faults that are possible at this call. A function, because most calls do not need the list. */
  kinds(): readonly FaultKind[]
}

export type Faults = (site: CallSite) => Fault | undefined

/**
 * Returns the kinds of faults of a run and their rates, chosen at random by the seed, so that rare combinations become common. One seed in five
 * has only the faults that make zombies: members that write to a partition after another member has taken it over.
 */
export const swarm = (seed: number): Rates => {
  const random = createRandom(seed ^ 0x51ed270b)
  if (random.chance(0.2)) return { 'pause-before': 0.04, rebalance: 0.02, late: 0.02, 'crash-late': 0.01 }
  const chosen = FAULT_KINDS.filter(() => random.chance(0.4))
  return Object.fromEntries(chosen.map((kind) => [kind, random.pick([0.005, 0.02, 0.06])]))
}

/** The factor by which a fault is more frequent. Pauses before a commit find the most mistakes, so they are four times as frequent. */
const weight = (kind: FaultKind, port: string) => (kind === 'pause-before' && port === 'store.commit' ? 4 : 1)

/**
 * Returns random faults. Whether a fault strikes a call depends only on the seed, the process and the number of the call. So if the same run is
 * repeated without one of its faults, the other faults stay the same.
 */
export const randomFaults = (seed: number, rates: Rates): Faults => {
  const most = FAULT_KINDS.reduce((sum, kind) => sum + (rates[kind] ?? 0) * weight(kind, 'store.commit'), 0)
  return ({ call, process, number, port, kinds }) => {
    let draw = fraction(seed, process, number, 1)
    if (draw >= most) return undefined
    for (const kind of kinds()) {
      const rate = (rates[kind] ?? 0) * weight(kind, port)
      if (draw < rate) return { call, kind, amount: fraction(seed, process, number, 2) }
      draw -= rate
    }
    return undefined
  }
}

/** Returns exactly the faults of the plan. */
export const plannedFaults = (plan: readonly Fault[]): Faults => {
  const byCall = new Map(plan.map((fault) => [fault.call, fault]))
  return ({ call, kinds }) => {
    const fault = byCall.get(call)
    return fault !== undefined && kinds().includes(fault.kind) ? fault : undefined
  }
}
