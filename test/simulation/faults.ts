import { createRandom, fraction } from './random.ts'

/** What can go wrong at a port call. */
const FAULT_KINDS = [
  /** The process dies as it makes the call, which has no effect. */
  'crash-before',
  /** The call takes effect, and the process dies before it hears of it. */
  'crash-after',
  /** The process dies; the call was on its way and takes effect long after. */
  'crash-late',
  /** A call of several steps is cut off in the middle by the death of its process. */
  'crash-within',
  /** Nothing happened, and the caller is told to try again. */
  'refuse',
  /** It happened, and the caller hears only that it may have. */
  'lose',
  /** Some of its steps happened, and the caller hears only that they may have. */
  'partial',
  /** The caller was told that it may have happened; it happens long after. */
  'late',
  'slow',
  /** The process stands still past its session, and then goes on as if nothing had been: before the call takes effect, or after. */
  'pause-before',
  'pause-after',
  /** Partitions change hands in the middle of what is going on. */
  'rebalance',
  /** The subscription delivers again what it delivered before. */
  'rewind',
  /** The broker keeps a record twice. */
  'duplicate',
  /** An index answers as of a while ago. */
  'stale',
  /** The checkpoints fall back to an older state. */
  'forget',
  /** The store takes nothing more for a while, from anybody. */
  'outage',
  /** The table of the first generation is replaced by a backup of it, or by an empty one. */
  'restore',
] as const

export type FaultKind = (typeof FAULT_KINDS)[number]

/** A fault at one call of one process (`b.2#14`: the 14th call of the second life of node b). `amount` says how much, from 0 to 1. */
export interface Fault {
  readonly call: string
  readonly kind: FaultKind
  readonly amount: number
}

export type Rates = Readonly<Partial<Record<FaultKind, number>>>

/** Where a fault may strike, as the scheduler asks. */
interface CallSite {
  readonly call: string
  readonly process: number
  readonly number: number
  readonly port: string
  /** What can go wrong there. Most calls go well, and nobody asks. */
  kinds(): readonly FaultKind[]
}

export type Faults = (site: CallSite) => Fault | undefined

/**
 * Each seed draws which kinds are on and how often they strike, so that rare combinations become common. One in five is about
 * members that believe they still own what others work on: the mistakes of a moment between load and commit show there.
 */
export const swarm = (seed: number): Rates => {
  const random = createRandom(seed ^ 0x51ed270b)
  if (random.chance(0.2)) return { 'pause-before': 0.04, 'rebalance': 0.02, 'late': 0.02, 'crash-late': 0.01 }
  const chosen = FAULT_KINDS.filter(() => random.chance(0.4))
  return Object.fromEntries(chosen.map(kind => [kind, random.pick([0.005, 0.02, 0.06])]))
}

/** A pause hurts most with a write in hand. */
const weight = (kind: FaultKind, port: string) => (kind === 'pause-before' && port === 'store.commit' ? 4 : 1)

/** Draws by the name of the call, so that leaving one fault out does not redraw the others. */
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

/** Exactly these. */
export const plannedFaults = (plan: readonly Fault[]): Faults => {
  const byCall = new Map(plan.map(fault => [fault.call, fault]))
  return ({ call, kinds }) => {
    const fault = byCall.get(call)
    return fault !== undefined && kinds().includes(fault.kind) ? fault : undefined
  }
}
