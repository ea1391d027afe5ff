import { auditQueries, type AuditItem } from '../../projections/activities/audit.ts'
import { Problem } from '../http/problem.ts'
import { listing } from '../http/lists.ts'
import type { Route } from '../http/route.ts'
import { text } from '../http/schemas.ts'
import { optional, shape } from '../http/shape.ts'
import { requireNotDeleting } from './account.ts'

const entry = shape<AuditItem>()({
  eventType: text,
  result: text,
  atUtc: text,
  requestId: text,
  correlationId: text,
  method: optional(text),
  path: optional(text),
  subject: optional(text),
})

/** `domain`: the name of the domain that stores the audit. */
export const auditRoutes = (domain: string): readonly Route[] => [
  listing({
    url: '/audit',
    operationId: 'listAudit',
    summary: 'List the audit of your account, the newest entry first. Entries are kept for 90 days.',
    admit: requireNotDeleting,
    of: entry,
    page: ({ caller: { further, user } }, paging) => {
      const reader = further?.[domain]
      if (reader === undefined)
        throw new Problem(
          503,
          'audit-absent',
          `This process does not run the domain ${domain}, which stores the audit.`,
        )
      return auditQueries(reader).ofUser(user, paging)
    },
  }),
]
