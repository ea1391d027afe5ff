import { meals } from '../processors/meals/domain.ts'
import { mealsAppendRules } from '../producers/meals/append-rules.ts'
import { mealsEdge } from '../producers/meals/edge.ts'
import { mealsImporter } from '../projections/meals/importer.ts'
import type { DomainRecord } from './record.ts'

export const mealsRecord: DomainRecord = {
  domain: meals,
  edge: mealsEdge,
  importer: mealsImporter,
  appendRules: mealsAppendRules,
  demo: async () => (await import('../producers/meals/demo.ts')).mealsDemo,
  simulation: async () => (await import('./meals/simulation.ts')).mealsSimulation,
  benchmarks: async () => (await import('./meals/benchmarks.ts')).mealsWorkloads(),
}
