import { activitiesAudit } from '../processors/activities/audit.ts'
import { activities } from '../processors/activities/domain.ts'
import { activitiesAppendRules } from '../producers/activities/append-rules.ts'
import { activitiesExporter } from '../producers/activities/export.ts'
import { createRefs } from '../producers/activities/refs.ts'
import { diaryFormatter } from '../projections/activities/diary.ts'
import { activitiesImporter } from '../projections/activities/import/importer.ts'
import { activitiesServices } from './activities/services.ts'
import { stravaLocal } from './activities/strava-local/service.ts'
import type { DomainRecord } from './record.ts'

export const activitiesRecord: DomainRecord = {
  domain: activities,
  also: [activitiesAudit],
  localServices: [stravaLocal],
  edge: activitiesServices,
  importer: activitiesImporter,
  pseudonyms: async (secrets) => {
    const refs = await createRefs(secrets)()
    return (id) => refs.of('activity', id)
  },
  exporter: activitiesExporter,
  appendRules: activitiesAppendRules,
  formatters: [diaryFormatter],
  demo: async () => (await import('./activities/demo.ts')).activitiesDemo,
  simulation: async () => (await import('./activities/simulation.ts')).activitiesSimulation,
}
