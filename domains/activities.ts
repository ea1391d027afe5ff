import { activitiesAudit } from '../processors/activities/audit.ts'
import { activities } from '../processors/activities/domain.ts'
import { activitiesAppendRules } from '../producers/activities/append-rules.ts'
import { activitiesServices } from './activities/services.ts'
import { stravaLocal } from './activities/strava-local/service.ts'
import type { DomainRecord } from './record.ts'

export const activitiesRecord: DomainRecord = {
  domain: activities,
  also: [activitiesAudit],
  localServices: [stravaLocal],
  edge: activitiesServices,
  appendRules: activitiesAppendRules,
}
