/**
 * The benchmarks by name, for `npm run bench NAME`. Each prints a table whose values are measured in one run. `rest` contains the arguments after
 * the name.
 */
export const benchmarks: Readonly<Record<string, () => Promise<(rest: readonly string[]) => Promise<void>>>> = {
  rebuild: async () => (await import('./rebuild.ts')).rebuildBench,
  ingest: async () => (await import('./ingest.ts')).ingestBench,
  fresh: async () => (await import('./fresh.ts')).freshBench,
  kafka: async () => (await import('./kafka.ts')).kafkaBench,
  flip: async () => (await import('./flip.ts')).flipBench,
  writes: async () => (await import('./writes.ts')).writesBench,
  scales: async () => (await import('./scales.ts')).scalesBench,
  expenses: async () => (await import('./expenses.ts')).expensesBench,
  history: async () => (await import('./history.ts')).historyBench,
  mqtt: async () => (await import('./mqtt.ts')).mqttBench,
  live: async () => (await import('./live.ts')).liveBench,
  webhooks: async () => (await import('./webhooks.ts')).webhooksBench,
  milestones: async () => (await import('./milestones.ts')).milestonesBench,
  fairness: async () => (await import('./fairness.ts')).fairnessBench,
}
