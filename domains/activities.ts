import { activitiesAudit } from '../processors/activities/audit.ts'
import { activities } from '../processors/activities/domain.ts'
import type { DomainRecord } from './record.ts'

export const activitiesRecord: DomainRecord = { domain: activities, also: [activitiesAudit] }
