import type { Bug } from './bug.ts'
import type { Random } from './random.ts'
import type { Workload } from './workload.ts'

/** The workload and the deliberate mistakes of one domain for the simulation. */
export interface DomainSimulation {
  /**
   * Returns about `length` events of several clients, and the invariants of the domain (`check`). The same random numbers give the same
   * workload.
   */
  readonly workload: (random: Random, length: number) => Workload
  /** Deliberate mistakes by name. The simulation must detect every mistake. Default: none. */
  readonly bugs?: Readonly<Record<string, Bug>>
}
