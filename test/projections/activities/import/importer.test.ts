import { describe, expect, test } from 'vitest'
import { activitiesImporter } from '../../../../projections/activities/import/importer.ts'
import { activitiesTable } from '../../../../projections/activities/table.ts'
import type { ImportedEvent, ImportOptions, ReadRow } from '../../../../projections/importing.ts'
import type { Event } from '../../../../schemas/event.ts'
import { createMemoryTable } from '../../../../testing/edge/table.ts'
import { eventOf } from '../../../../testing/event.ts'
import { keyOf } from '../../../../projections/item.ts'
import { contents, tableOf } from '../../../processors/activities/given.ts'

const NOW = Date.parse('2026-11-19T12:00:00.000Z')
const reverse = (id: string): string => `ref${[...id].reverse().join('')}`

const readAll = (items: readonly unknown[], options: ImportOptions = {}): readonly ReadRow[] => {
  const lines = items.map((item, at) => ({ line: at + 1, text: JSON.stringify(item) }))
  const sorted = activitiesImporter.sortLines?.(lines, options) ?? lines
  return sorted.map(({ text }) =>
    activitiesImporter.read(JSON.parse(text), { importId: 'i', rowHash: text, at: NOW, pseudonymOf: reverse }),
  )
}
const importedOf = (rows: readonly ReadRow[]): readonly ImportedEvent[] =>
  rows.flatMap((row) => (row.kind === 'events' ? row.events : []))
const eventsOf = (imported: readonly ImportedEvent[]): readonly Event[] =>
  imported.map(({ type, key, person, subject, occurredAt, data, personal }, at) =>
    eventOf(type, {
      key,
      data,
      personal,
      meta: { eventId: `e${at}`, actorId: person, subjectId: subject ?? person, occurredAt, recordedAt: NOW },
    }),
  )

const PART = (index: number) => ({ partName: `Part ${index}`, meshFile: `p${index}.glb`, attachPoint: `at${index}` })
const source = [
  {
    PK: 'USER#ada',
    SK: 'MILESTONE#m1#AWARD#1',
    ...PART(1),
    awardedAtUtc: '2026-03-02T09:00:00Z',
    progressValueAtAward: 600,
  },
  {
    PK: 'USER#ada',
    SK: 'MILESTONE#m1',
    modelId: 'rocket',
    sport: 'RIDE',
    targetType: 'DISTANCE_METERS',
    totalTarget: 1000,
    partsTotal: 2,
    periodStartAtUtc: '2026-03-01T00:00:00Z',
    createdAtUtc: '2026-03-01T08:00:00Z',
    progressValue: 600,
    status: 'ACTIVE',
    version: 3,
  },
  {
    PK: 'USER#ada',
    SK: 'WORKOUT#STRAVA#17000000000000001',
    sportType: 'GravelRide',
    startDateUtc: '2026-03-02T08:00:00Z',
    distanceMeters: 600,
    totalElevationGain: 12.5,
    movingTime: 60,
    elapsedTime: 61,
  },
  { PK: 'USER#ada', SK: 'WORKOUT#STRAVA#2', status: 'DELETED', isDeleted: true },
  { PK: 'USER#ada', SK: 'STRAVA#CONNECTION', accessToken: 'secret', refreshToken: 'secret' },
  { PK: 'USER#ada', SK: 'PROFILE', email: 'ada@example.org', createdAtUtc: '2026-01-01T00:00:00Z' },
  { PK: 'MODEL#rocket', SK: 'PART#1', ...PART(1) },
  { PK: 'MODEL#rocket', SK: 'PART#2', ...PART(2) },
  { PK: 'MODEL#rocket', SK: 'META', partsTotal: 2, isActive: true },
  { PK: 'STRAVA#ATHLETE#7', SK: 'OWNER', userId: 'ada' },
  { IdempotencyKey: 'STRAVA#EVT#1' },
]

describe('items of the source document', () => {
  const rows = readAll(source)
  const events = eventsOf(importedOf(rows))
  const table = tableOf(events)

  test('become the profile, the workouts, the milestone with its award, and the model', () => {
    const items = contents(table)
    expect(items).toMatchObject({
      PROFILE: { email: 'ada@example.org', createdAtUtc: '2026-01-01T00:00:00.000Z' },
      'WORKOUT#STRAVA#17000000000000001': { distanceMeters: 600, totalElevationGain: 12.5, sportType: 'GravelRide' },
      'MILESTONE#m1': { progressValue: 600, partsAwardedCount: 1, createdAtUtc: '2026-03-01T08:00:00.000Z' },
      'MILESTONE#m1#AWARD#01': { ...PART(1), awardedAtUtc: '2026-03-02T09:00:00.000Z', progressValueAtAward: 600 },
      'PARTS#m1': { parts: [PART(1), PART(2)] },
      'MODEL#rocket META': { partsTotal: 2, isActive: true },
      'MODEL#rocket PART#02': PART(2),
    })
    expect(items).not.toHaveProperty('WORKOUT#STRAVA#2')
  })

  test('no token and no id of Strava is in an event outside of its sealed field', () => {
    const clear = JSON.stringify(events.map(({ personal: _personal, ...event }) => event))
    expect(clear).not.toMatch(/secret|17000000000000001/)
  })

  test('activities are sealed for the link 0 and are older than every webhook', () => {
    expect(events.find(({ type }) => type === 'ActivityFetched')).toMatchObject({
      meta: { subjectId: 'ada~strava~0' },
      data: { epoch: 0, via: 'import', ref: 'ref10000000000000071', asked: Date.parse('2026-03-02T08:00:00Z') / 1000 },
    })
  })

  test('connections, owners and other rows that the folds compute are left out, and an unknown row is reported', () => {
    expect(rows.filter(({ kind }) => kind === 'derived')).toHaveLength(2)
    expect(rows.filter(({ kind }) => kind === 'unreadable')).toHaveLength(1)
  })

  test('isPresent finds the activities, awards and models that the items contain', async () => {
    const memory = createMemoryTable(() => NOW, activitiesTable)
    for (const item of table.values()) memory.items.set(keyOf(item), item)
    const present: string[] = []
    for (const event of importedOf(rows))
      if (await activitiesImporter.isPresent?.(event, memory.reader)) present.push(event.type)
    expect(present.sort()).toEqual([
      'ActivityFetched',
      'AwardsTold',
      'ModelPartDefined',
      'ModelPartDefined',
      'ModelPublished',
    ])
  })
})

test('an archived and completed milestone keeps its progress, its completion and its parts', () => {
  const [award, milestone, workout] = source
  const items = contents(
    tableOf(
      eventsOf(
        importedOf(
          readAll([
            {
              ...milestone,
              status: 'COMPLETED',
              completedAtUtc: '2026-03-03T00:00:00Z',
              archivedAtUtc: '2026-04-01T00:00:00Z',
            },
            award,
            { ...award, SK: 'MILESTONE#m1#AWARD#02', ...PART(2), awardedAtUtc: '2026-03-03T00:00:00Z' },
            workout,
          ]),
        ),
      ),
    ),
  )
  expect(items['MILESTONE#m1']).toMatchObject({
    progressValue: 600,
    status: 'COMPLETED',
    completedAtUtc: '2026-03-03T00:00:00.000Z',
    archivedAtUtc: '2026-04-01T00:00:00.000Z',
    partsAwardedCount: 2,
  })
  expect(items['MILESTONE#m1#AWARD#02']).toMatchObject(PART(2))
})

test.each([
  [{ startDateUtc: 'yesterday' }, 'its startDateUtc "yesterday" is not an instant'],
  [{ distanceMeters: -1 }, 'its distance is not an amount'],
  [{ SK: 'WORKOUT#STRAVA#x' }, 'its activity id "x" is not an id of digits'],
])('a workout with %j is unreadable', (change, reason) => {
  expect(readAll([{ ...source[2], ...change }])).toEqual([{ kind: 'unreadable', reason }])
})

test('with --user, rows of other people are unreadable', () => {
  expect(readAll([source[2]], { user: 'bob' })).toEqual([
    { kind: 'unreadable', reason: 'it belongs to another person than bob' },
  ])
})
