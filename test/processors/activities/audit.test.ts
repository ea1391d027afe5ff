import { describe, expect, test } from 'vitest'
import { activitiesAudit } from '../../../processors/activities/audit.ts'
import { activities } from '../../../processors/activities/domain.ts'
import { auditQueries } from '../../../projections/activities/audit.ts'
import { eventOf } from '../../../testing/event.ts'
import { foldsOf } from '../../../testing/folds.ts'
import { readerOf } from '../../projections/reader.ts'
import { checked, deauthorised, linked, MORNING, START_S, told, webhook } from './events.ts'

const { given, tableOf } = foldsOf(activitiesAudit, ({ SK }) => SK)

const noted = eventOf('AuditNoted', {
  key: 'ada',
  data: {
    eventType: 'AUTH_LOGIN',
    result: 'OK',
    requestId: 'req-1',
    method: 'POST',
    path: '/auth/session',
    ipHash: 'ab12',
  },
  meta: { occurredAt: MORNING, correlationId: 'corr-1' },
})

describe('the audit', () => {
  test('A12 has a key of time and request, two indexes, and expires after 90 days', () => {
    given()
      .when(noted)
      .then({
        [`AUDIT#${START_S}#req-1`]: {
          eventType: 'AUTH_LOGIN',
          GSI1PK: 'CORR#corr-1',
          GSI2PK: 'EVENT#AUTH_LOGIN#202605',
          ttl: START_S + 90 * 86_400,
        },
      })
  })

  test('A12 A16 is read by user, correlation, and type and month, each by a key condition', async () => {
    const queries = auditQueries(readerOf(tableOf([noted, webhook()]), 0, () => {}, activitiesAudit.table))
    const paging = { limit: 10 }
    const types = async (page: Promise<{ readonly items: readonly { readonly eventType: string }[] }>) =>
      (await page).items.map(({ eventType }) => eventType)
    expect(await types(queries.ofUser('ada', paging))).toEqual(['STRAVA_ACTIVITY_CREATE', 'AUTH_LOGIN'])
    expect(await types(queries.ofCorrelation('corr-1', paging))).toEqual(['AUTH_LOGIN'])
    expect(await types(queries.ofType('AUTH_LOGIN', '202605', paging))).toEqual(['AUTH_LOGIN'])
  })

  test('A13 is a domain of its own with the same log, so that its failure stops nothing else', () => {
    expect(activitiesAudit.topic).toBe(activities.topic)
    expect(activitiesAudit.name).not.toBe(activities.name)
    expect(activitiesAudit.table.name).not.toBe(activities.table.name)
  })

  test('notes awards, and revocations that are ignored or refuted', () => {
    const { items } = given(linked()).when(
      told({ data: { awards: [1, 2].map((part) => ({ part, at: MORNING })) } }),
      deauthorised({ time: -10 }),
      deauthorised({ time: 500 }),
      checked({ data: { verdict: 'valid' } }),
    )
    const types = Object.values(items).flatMap(({ eventType }) => eventType ?? [])
    expect(types.sort()).toEqual([
      'MILESTONE_PART_MINTED',
      'MILESTONE_PART_MINTED',
      'STRAVA_CONNECTED',
      'STRAVA_DEAUTHORISATION_IGNORED',
      'STRAVA_DEAUTHORISATION_REFUTED',
      'STRAVA_DEAUTHORISED',
    ])
  })
})
