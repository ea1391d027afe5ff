import type { Bug } from './bug.ts'
import type { Random } from './random.ts'
import type { Workload } from './workload.ts'

/** What the simulation runs for one domain. */
export interface DomainSimulation {
  /** About `length` events of several clients, and the invariants of the domain (`check`). The same random numbers give the same workload. */
  readonly workload: (random: Random, length: number) => Workload
  /** Deliberate mistakes by name. The simulation must detect each of them. */
  readonly bugs?: Readonly<Record<string, Bug>>
}
