import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { client, freshFolder, newToken, run, runProcess, runOk, type Env, type Ran, type Server } from './program.ts'

export const SPLIIT = join(import.meta.dirname, '..', 'projections', 'expenses', 'import', 'spliit-holiday.json')

const mealRow = (nth: number, user: string) => ({
  PK: `USER#${nth % 2 === 0 ? user : 'bob'}`,
  SK: `MEAL#${new Date(Date.UTC(2024, 2, 1, 8) + nth * 60_000).toISOString()}#${user}${nth}`,
  mealSummary: `Meal ${nth}`,
  calories: 300 + nth,
  protein: 10,
  carbs: 20,
  fat: 5,
  userDate: '2024-03-01',
})

/** Rows of an older meals table: `count` meals of the user and of bob, and targets, a nutrient and a token of the user. */
export const mealRows = (count: number, user = 'ada'): readonly object[] => [
  ...Array.from({ length: count }, (_, nth) => mealRow(nth, user)),
  {
    PK: `USER#${user}`,
    SK: 'CONFIG#TARGETS',
    calories: 2000,
    protein: 100,
    updatedAt: '2024-02-01T00:00:00.000Z',
    nutrientRegistry: { iron: { unit: 'mg' } },
  },
  {
    PK: `USER#${user}`,
    SK: 'PAT#old-1',
    GSI1PK: `PATHASH#${createHash('sha256').update(user).digest('hex')}`,
    name: 'phone',
    scopes: ['read'],
    createdAt: '2024-02-01T00:00:00.000Z',
    lastUsedAt: '2024-02-03',
  },
]

const expenseRow = (nth: number) => {
  const at = new Date(Date.UTC(2024, 0, 20, 18, 0, nth)).toISOString()
  return {
    PK: 'GROUP#g1',
    SK: `TX#${at}`,
    id: `e${nth}`,
    payerId: '1',
    amount: 10,
    currency: 'EUR',
    description: `Meal ${nth}`,
    splitType: 'equal',
    splits: [
      { userId: '1', amount: 5 },
      { userId: '2', amount: 5 },
    ],
    createdAt: at,
  }
}

/** Rows of an older expenses table: a group with a person who left, `count` expenses, a settlement, and an expense that a rule refuses. */
export const expenseRows = (count: number): readonly object[] => [
  {
    PK: 'GROUP#g1',
    SK: 'METADATA',
    id: 'g1',
    title: 'Roommates',
    currency: 'EUR',
    createdAt: '2024-01-15T10:30:00.000Z',
  },
  { PK: 'GROUP#g1', SK: 'USER#1', id: '1', telegramId: 1, name: 'Ann', joinedAt: '2024-01-15T10:35:00.000Z' },
  ...Array.from({ length: count }, (_, nth) => expenseRow(nth)),
  {
    PK: 'GROUP#g1',
    SK: 'SETTLE#2024-01-21T10:00:00.000Z',
    id: 's1',
    fromUserId: '2',
    toUserId: '1',
    amount: 20,
    currency: 'EUR',
    status: 'completed',
    createdAt: '2024-01-21T10:00:00.000Z',
    completedAt: '2024-01-21T10:00:05.000Z',
  },
  {
    PK: 'GROUP#g2',
    SK: 'TX#2024-01-22T10:00:00.000Z',
    id: 'lost',
    payerId: '1',
    amount: 10,
    currency: 'EUR',
    splitType: 'exact',
    splits: [{ userId: '2', amount: 10 }],
    createdAt: '2024-01-22T10:00:00.000Z',
  },
]

export const fileOf = (rows: readonly object[], name = 'rows.ndjson'): string => {
  const file = join(freshFolder(), name)
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  return file
}

export interface Report {
  readonly rows: number
  readonly events: number
  readonly known: number
  readonly derived: number
  readonly refused: readonly unknown[]
  readonly unreadable: readonly unknown[]
}

const reportOf = ({ stdout, stderr }: Ran): Report => {
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as Report
}

export const importFile = async (env: Env, domain: string, file: string): Promise<Report> =>
  reportOf(await run(['import', domain, file, '--json'], env))

/** The ids of all events in the log of a domain. */
export const eventIds = async (env: Env, domain: string): Promise<readonly string[]> =>
  (await metasIn(env, domain)).map(({ eventId }) => eventId)

interface ShownEvent {
  readonly event: { readonly meta: { readonly eventId: string; readonly source: string } }
}

const metasIn = async (env: Env, domain: string): Promise<readonly ShownEvent['event']['meta'][]> =>
  (await runOk(['events', '--domain', domain, '--json'], env))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as ShownEvent).event.meta)

/** Imports a file, then the same file, its rows in another order, and its two halves. Checks that only the first import appends events. */
export const importAgain = async (env: Env, domain: string, rows: readonly object[]): Promise<void> => {
  const file = fileOf(rows)
  const first = await importFile(env, domain, file)
  expect(first.events).toBeGreaterThan(0)
  const ids = await eventIds(env, domain)
  const others = [
    file,
    fileOf(rows.toReversed()),
    fileOf(rows.slice(0, rows.length >> 1)),
    fileOf(rows.slice(rows.length >> 1)),
  ]
  for (const other of others) {
    const again = await importFile(env, domain, other)
    expect(again).toMatchObject({ events: 0, unreadable: [] })
    // The second import must report all rows as known, except refused rows. A refused row can have several entries in `refused`, so the number of
    // refused rows is unknown, and the test compares only if no row is refused.
    if (again.refused.length === 0) expect(again.known).toBe(again.rows)
    expect(await eventIds(env, domain)).toEqual(ids)
  }
}

export const importSpliitAgain = async (env: Env): Promise<void> => {
  expect(await importFile(env, 'expenses', SPLIIT)).toMatchObject({ known: 0, refused: [], unreadable: [] })
  const ids = await eventIds(env, 'expenses')
  expect(await importFile(env, 'expenses', SPLIIT)).toMatchObject({ events: 0, refused: [], unreadable: [] })
  expect(await eventIds(env, 'expenses')).toEqual(ids)
}

/** Checks that a repeated import keeps the changes that people made after the first one. */
export const importAfterChanges = async (env: Env, server: Server): Promise<void> => {
  const file = fileOf(mealRows(4))
  await importFile(env, 'meals', file)
  const ada = client(server.url, await newToken(env, 'ada'))
  const [first, second] = (await ada.get('/v1/meals?day=2024-03-01')).body['items'] as readonly { id: string }[]
  expect((await ada.send('DELETE', `/v1/meals/${first?.id}`)).status).toBe(200)
  expect(
    (await ada.send('PATCH', `/v1/meals/${second?.id}`, { calories: 1, eatenAt: '2024-03-05T12:00:00Z', tz: 'UTC' }))
      .status,
  ).toBe(200)
  expect((await ada.send('PATCH', '/v1/targets', { calories: 1800 })).status).toBe(200)
  expect((await ada.send('DELETE', '/v1/nutrients/iron')).status).toBe(200)
  expect((await ada.send('DELETE', '/v1/tokens/old-1')).status).toBe(200)
  const shown = async () =>
    [
      await ada.get('/v1/meals?from=2024-03-01&to=2024-03-31'),
      await ada.get('/v1/targets'),
      await ada.get('/v1/summaries?from=2024-03-01&to=2024-03-31'),
    ].map(({ body }) => body)
  const before = await shown()
  const imported = await importedEvents(env)
  expect(await importFile(env, 'meals', file)).toMatchObject({ events: 0, known: 6, refused: [] })
  expect(await shown()).toEqual(before)
  expect(await importedEvents(env)).toEqual(imported)
}

/** The ids of the events that imports appended to the log of meals. */
const importedEvents = async (env: Env): Promise<readonly string[]> =>
  (await metasIn(env, 'meals')).filter(({ source }) => source === 'import').map(({ eventId }) => eventId)

/** Imports one file by two processes at the same time. Checks that each event is appended once. */
export const importTwiceAtOnce = async (env: Env): Promise<void> => {
  const file = fileOf(mealRows(1_500, 'eve'))
  const importing = async () => reportOf(await runProcess(['import', 'meals', file, '--json'], env))
  const reports = await Promise.all([importing(), importing()])
  const ids = await eventIds(env, 'meals')
  expect(new Set(ids).size).toBe(ids.length)
  expect(reports.reduce((sum, { events }) => sum + events, 0)).toBe(1_500 + 4)
}
