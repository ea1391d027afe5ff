import { scales } from '../processors/scales/domain.ts'
import { scalesSeries } from '../processors/scales/series.ts'
import { scalesAppendRules } from '../producers/scales/append-rules.ts'
import { scalesEdge } from '../producers/scales/edge.ts'
import { logKeyOf } from '../projections/scales/keys.ts'
import type { DomainRecord } from './record.ts'

export const scalesRecord: DomainRecord = {
  domain: scales,
  partitions: { keyIn: logKeyOf, example: 'LOCATION#loc-001, KEG#keg-20261116-4f0k2m9x1z or DEVICE#SCALE-0042' },
  series: {
    domain: scalesSeries,
    partitions: { keyIn: logKeyOf, example: 'LOCATION#loc-001 or KEG#keg-20261116-4f0k2m9x1z' },
  },
  edge: scalesEdge,
  appendRules: scalesAppendRules,
  demo: async () => (await import('../producers/scales/demo.ts')).scalesDemo,
  simulation: async () => (await import('./scales/simulation.ts')).scalesSimulation,
  benchmarks: async () => (await import('./scales/benchmarks.ts')).scalesWorkloads(),
}
