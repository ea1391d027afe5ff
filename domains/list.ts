import { activitiesRecord } from './activities.ts'
import { createDomains, type Domains } from './domains.ts'
import { expensesRecord } from './expenses.ts'
import { mealsRecord } from './meals.ts'
import type { DomainRecord } from './record.ts'
import { scalesRecord } from './scales.ts'

/** The domains that this package contains. */
export const OUR_RECORDS: readonly DomainRecord[] = [mealsRecord, scalesRecord, expensesRecord, activitiesRecord]

export const OUR_DOMAINS: Domains = createDomains(OUR_RECORDS)
