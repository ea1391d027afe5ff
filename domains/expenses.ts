import { expenses } from '../processors/expenses/domain.ts'
import { expensesAppendRules } from '../producers/expenses/append-rules.ts'
import { expensesExporter } from '../producers/expenses/export.ts'
import { balanceFormatter } from '../projections/expenses/statement.ts'
import { expensesImporter } from '../projections/expenses/import/importer.ts'
import { expensesServices } from './expenses/services.ts'
import type { DomainRecord } from './record.ts'

export const expensesRecord: DomainRecord = {
  domain: expenses,
  edge: expensesServices,
  importer: expensesImporter,
  exporter: expensesExporter,
  appendRules: expensesAppendRules,
  formatters: [balanceFormatter],
  demo: async () => (await import('../producers/expenses/demo.ts')).expensesDemo,
  simulation: async () => (await import('./expenses/simulation.ts')).expensesSimulation,
  benchmarks: async () => (await import('./expenses/benchmarks.ts')).expensesWorkloads(),
}
