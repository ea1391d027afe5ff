import { scales } from '../processors/scales/domain.ts'
import { scalesSeries } from '../processors/scales/series.ts'
import { scalesAppendRules } from '../producers/scales/append-rules.ts'
import { scalesEdge } from '../producers/scales/edge.ts'
import type { DomainRecord } from './record.ts'

export const scalesRecord: DomainRecord = {
  domain: scales,
  series: scalesSeries,
  edge: scalesEdge,
  appendRules: scalesAppendRules,
  demo: async () => (await import('../producers/scales/demo.ts')).scalesDemo,
  simulation: async () => (await import('./scales/simulation.ts')).scalesSimulation,
  benchmarks: async () => (await import('./scales/benchmarks.ts')).scalesWorkloads(),
}
