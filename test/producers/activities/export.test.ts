import { expect, test } from 'vitest'
import { activitiesAudit } from '../../../processors/activities/audit.ts'
import { activitiesExporter } from '../../../producers/activities/export.ts'
import { csvHeader, csvRows, type ExportRow } from '../../../producers/exporting.ts'
import { activitiesImporter } from '../../../projections/activities/import/importer.ts'
import { auditTable } from '../../../projections/activities/audit.ts'
import { activitiesTable } from '../../../projections/activities/table.ts'
import { keyOf } from '../../../projections/item.ts'
import type { Reader, TableSpec } from '../../../projections/table.ts'
import type { Event } from '../../../schemas/event.ts'
import type { PatIssued } from '../../../schemas/generated/common.ts'
import { createMemoryTable } from '../../../testing/edge/table.ts'
import { eventOf } from '../../../testing/event.ts'
import { foldsOf, type Table } from '../../../testing/folds.ts'
import { accountOpened, created, deauthorised, fetched, idOf, linked } from '../../processors/activities/events.ts'
import { contents, tableOf } from '../../processors/activities/given.ts'

const NOW = Date.parse('2026-06-01T00:00:00.000Z')
const history: readonly Event[] = [
  accountOpened({ personal: { email: 'ada@example.org' }, meta: { subjectId: 'ada~activities' } }),
  eventOf<PatIssued>('PatIssued', {
    key: 'ada',
    data: { patId: 'p1', hash: 'ab'.repeat(32), scopes: ['read'] },
    personal: { name: 'phone' },
  }),
  linked(),
  created(),
  fetched({ name: 'Ride, "wet"', distanceDm: 500_000 }),
  fetched({ ref: 'r2', asked: 101 }),
]

const readerOf = (table: Table, spec: TableSpec): Reader => {
  const memory = createMemoryTable(() => NOW, spec)
  for (const item of table.values()) memory.items.set(keyOf(item), item)
  return memory.reader
}

const exported = async (events: readonly Event[]): Promise<readonly ExportRow[]> => {
  const reader = readerOf(tableOf(events), activitiesTable)
  const further = { 'activities-audit': readerOf(foldsOf(activitiesAudit).tableOf(events), auditTable) }
  const rows: ExportRow[] = []
  let cursor: string | undefined
  do {
    const paging = { limit: 2, history: false, further, ...(cursor !== undefined && { cursor }) }
    const page = await activitiesExporter.page(reader, 'ada', paging)
    rows.push(...(page?.items ?? []))
    cursor = page?.cursor
  } while (cursor !== undefined)
  return rows
}

test('an export has the profile, the connection, token names, milestones, awards, workouts and the audit', async () => {
  const rows = await exported(history)
  expect(rows.map(({ kind }) => kind)).toEqual([
    'profile',
    'connection',
    'token',
    'milestone',
    ...Array.from({ length: 7 }, () => 'award'),
    'workout',
    'workout',
    'audit',
    'audit',
  ])
  expect(rows.find(({ kind }) => kind === 'token')).toMatchObject({ name: 'phone', scopes: ['read'] })
  expect(JSON.stringify(rows)).not.toMatch(/PATHASH|"_|secretRef|GSI1/)
})

test('an import of the export gives another program the same workouts, milestones and awards', async () => {
  const lines = (await exported(history)).map((row, at) => ({ line: at + 1, text: JSON.stringify(row) }))
  const events = (activitiesImporter.sortLines?.(lines, {}) ?? []).flatMap(({ text }, at) => {
    const read = activitiesImporter.read(JSON.parse(text), {
      importId: 'i',
      rowHash: text,
      at: NOW,
      pseudonymOf: (id) => `other${id}`,
    })
    expect(read.kind, text).not.toBe('unreadable')
    return (read.kind === 'events' ? read.events : []).map(({ type, key, person, subject, ...event }, nth) =>
      eventOf(type, {
        key,
        data: event.data,
        personal: event.personal,
        meta: {
          eventId: `e${at}-${nth}`,
          actorId: person,
          subjectId: subject ?? person,
          occurredAt: event.occurredAt,
          recordedAt: NOW,
        },
      }),
    )
  })
  const [before, after] = [contents(tableOf(history)), contents(tableOf(events))]
  const workout = `WORKOUT#STRAVA#${idOf('r1')}`
  expect(after['PROFILE']).toEqual(before['PROFILE'])
  expect(after[workout]).toMatchObject({ name: 'Ride, "wet"', utcOffsetS: 7200, distanceMeters: 50_000 })
  expect(after['MILESTONE#m1']).toEqual({
    ...before['MILESTONE#m1'],
    _awards: 'ttttttt.....',
    version: expect.any(Number) as number,
    _toldVersion: expect.any(Number) as number,
  })
  for (let part = 1; part <= 7; part += 1)
    expect(after[`MILESTONE#m1#AWARD#0${part}`]).toEqual({ ...before[`MILESTONE#m1#AWARD#0${part}`], told: true })
})

test('while a revocation is checked, an export contains no data from Strava', async () => {
  const rows = await exported([...history, deauthorised({ time: 500 })])
  const connection = rows.find(({ kind }) => kind === 'connection')
  expect(connection).toMatchObject({ status: 'REVOKING', athleteId: null, athleteName: null })
  expect(rows.some(({ kind }) => kind === 'workout')).toBe(false)
  expect(rows.find(({ kind }) => kind === 'milestone')).toMatchObject({ progressValue: null, highWaterProgress: null })
  expect(rows.find(({ kind }) => kind === 'award')).toMatchObject({ progressValueAtAward: null })
})

test('each row is a row of CSV', async () => {
  const rows = await exported(history)
  const csv = csvHeader(activitiesExporter) + csvRows(activitiesExporter, rows)
  expect(csv.trimEnd().split('\r\n')).toHaveLength(rows.length + 1)
  expect(csv).toContain(`workout,2026-05-20T06:00:00.000Z,${idOf('r1')},"Ride, ""wet""",Ride,50000,0,3600,3700,,,,,,`)
})

test('a person of whom nothing is stored has no export, and a foreign cursor is refused', async () => {
  const reader = readerOf(tableOf([]), activitiesTable)
  expect(await activitiesExporter.page(reader, 'ada', { limit: 9, history: false })).toBeUndefined()
  await expect(activitiesExporter.page(reader, 'ada', { limit: 9, history: false, cursor: 'x' })).rejects.toMatchObject(
    { code: 'bad-cursor' },
  )
})
