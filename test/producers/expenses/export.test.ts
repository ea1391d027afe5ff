import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { csvHeader, csvRows } from '../../../producers/exporting.ts'
import { expensesExporter } from '../../../producers/expenses/export.ts'
import { expensesImporter } from '../../../projections/expenses/import/importer.ts'
import type { Event } from '../../../schemas/event.ts'
import { contents } from '../../../testing/folds.ts'
import { tableOf } from '../../processors/expenses/given.ts'
import { metaOf } from '../../processors/expenses/events.ts'
import { createMemoryTable } from '../../../testing/edge/table.ts'
import { NOON } from '../../../testing/event.ts'
import { expensesTable } from '../../../projections/expenses/table.ts'
import { expensesQueries } from '../../../projections/expenses/queries.ts'
import { keyOf } from '../../../projections/item.ts'
import { openGroupOfThree } from './group-of-three.ts'

let setup: Awaited<ReturnType<typeof openGroupOfThree>>

beforeAll(async () => {
  setup = await openGroupOfThree()
  const { ann, bob, cyd, group } = setup
  setup.edge.clock.at += 60_000
  for (let nth = 0; nth < 7; nth += 1)
    await ann.sendCommand('POST', `${group}/expenses`, {
      amount: 100,
      description: `Dinner ${nth}`,
      date: `2026-11-0${nth + 1}T12:00:00Z`,
    })
  await bob.sendCommand('POST', `${group}/expenses`, {
    amount: '33.34',
    description: '=HYPERLINK("http://x.example","free")',
    splitType: 'percentage',
    splits: [
      { userId: '123', percentage: 33.33 },
      { userId: '456', percentage: 66.67 },
    ],
  })
  await cyd.sendCommand('POST', `${group}/expenses`, {
    amount: 7,
    payerId: '456',
    currency: 'TON',
    description: 'Taxi, "late"\nat night',
    splitType: 'shares',
    splits: [
      { userId: '123', shares: 2 },
      { userId: '456', shares: 1 },
    ],
  })
  const gone = (await ann.sendCommand('POST', `${group}/expenses`, { amount: 50, description: 'Mistake' })).body.id
  await ann.sendCommand('DELETE', `${group}/expenses/${gone}`)
  const {
    body: { id },
  } = await bob.sendCommand('POST', `${group}/settlements`, { toUserId: '123', amount: 20, currency: 'EUR' })
  await ann.sendCommand('PUT', `${group}/settlements/${id}`, { status: 'completed', txHash: 'a1b2c3d4'.repeat(8) })
  await bob.sendCommand('POST', `${group}/settlements`, { toUserId: '123', amount: 5, currency: 'EUR' })
  await cyd.sendCommand('POST', `${group}/leave`)
})
afterAll(() => setup.edge.app.close())

type Row = Readonly<Record<string, unknown>> & { readonly kind: string }

const exported = async (query = ''): Promise<readonly Row[]> => {
  const rows: Row[] = []
  let cursor: string | undefined
  do {
    const { status, body } = await setup.ann.getPath(
      `${setup.group}/export?limit=3${query}${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    expect(status).toBe(200)
    rows.push(...body.items.map((row) => ({ ...row, kind: String(row['kind']) })))
    cursor = body.cursor
  } while (cursor !== undefined)
  return rows
}

const counts = (rows: readonly Row[]): Record<string, number> =>
  rows.reduce<Record<string, number>>((all, { kind }) => ({ ...all, [kind]: (all[kind] ?? 0) + 1 }), {})

describe('an export', () => {
  test('contains everything of the group once, in pages of any size, and the history unless the request excludes it', async () => {
    expect(counts(await exported())).toEqual({ group: 1, member: 3, balance: 2, expense: 9, settlement: 2, entry: 19 })
    expect(counts(await exported('&history=false'))).toEqual({
      group: 1,
      member: 3,
      balance: 2,
      expense: 9,
      settlement: 2,
    })
    const ids = (await exported()).filter(({ kind }) => kind === 'expense').map(({ id }) => id)
    expect(new Set(ids).size).toBe(9)
  })

  test('E45: imported into an empty pipeline it gives the same balances, members and expenses', async () => {
    const rows = await exported()
    const lines = rows.map((row, index) => ({ line: index + 1, text: JSON.stringify(row) }))
    const events = (expensesImporter.sortLines?.(lines, {}) ?? []).flatMap(({ text }): readonly Event[] => {
      const read = expensesImporter.read(JSON.parse(text), { importId: 'i', rowHash: text, at: NOON + 3_600_000 })
      if (read.kind === 'unreadable') throw new Error(read.reason)
      return read.kind !== 'events'
        ? []
        : read.events.map(({ key, person, occurredAt, type, data, personal }) => ({
            type,
            data,
            personal,
            meta: metaOf({ key, occurredAt, actorId: person, subjectId: person, source: 'import' }),
          }))
    })
    const table = createMemoryTable(() => 0, expensesTable)
    for (const item of Object.values(contents(tableOf(events)))) table.items.set(keyOf(item), item)
    const again: Row[] = []
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = await expensesExporter.page(table.reader, setup.id, {
        limit: 200,
        history: false,
        ...(cursor !== undefined && { cursor }),
      })
      again.push(...(page?.items ?? []))
      cursor = page?.cursor
    }
    const comparable = (all: readonly Row[]) =>
      all
        .filter(({ kind }) => kind !== 'entry')
        .map(({ changedAt, joinedAt, leftAt, updatedAt, createdBy, revision, createdAt, groupTitle, ...row }) =>
          JSON.stringify(row, sorted),
        )
        .sort()
    expect(comparable(again)).toEqual(comparable(rows))
    const recordings = (all: readonly Row[]) =>
      all
        .filter(({ kind }) => kind === 'expense')
        .map(({ id, date, createdAt, createdBy }) => ({ id, date, createdAt, createdBy }))
    expect(recordings(again)).toEqual(recordings(rows))
    expect(recordings(rows)).toContainEqual({
      id: expect.any(String) as string,
      date: '2026-11-01T12:00:00.000Z',
      createdAt: '2026-11-16T12:01:00.000Z',
      createdBy: '123',
    })
    expect(recordings(rows).find(({ createdBy }) => createdBy === '789')).toBeDefined()
    expect(await expensesQueries(table.reader).balances(setup.id)).toHaveLength(2)
  })

  test('as CSV has the same fields in every line, and no text that a spreadsheet would compute', async () => {
    const first = await setup.ann.getPath(`${setup.group}/export?format=csv&limit=200`)
    expect(first.headers['content-type']).toBe('text/csv; charset=utf-8; header=present')
    expect(first.headers['link']).toMatch(/^<\?format=csv&limit=200&cursor=expenses\.>; rel="next"$/)
    const rows = await exported()
    const text = csvHeader(expensesExporter) + csvRows(expensesExporter, rows)
    const lines = parsed(text)
    expect(new Set(lines.map((line) => line.length))).toEqual(new Set([expensesExporter.columns.length]))
    const description = expensesExporter.columns.indexOf('description')
    expect(lines.map((line) => line[description])).toEqual(
      expect.arrayContaining(['\'=HYPERLINK("http://x.example","free")', 'Taxi, "late"\nat night']),
    )
    expect(lines.flat().filter((cell) => /^[=+@\t]/.test(cell))).toEqual([])
    expect(lines.slice(1).filter(([, date]) => !/^\d{4}-\d\d-\d\dT/.test(date ?? ''))).toEqual([])
    const net = expensesExporter.columns.indexOf('net')
    expect(lines.some((line) => /^-\d+\.\d\d$/.test(line[net] ?? ''))).toBe(true)
  })

  test('is for members only, and another cursor is refused', async () => {
    const stranger = await setup.edge.token('999')
    expect(
      (await setup.edge.app.inject({ url: `${setup.group}/export`, headers: { authorization: `Bearer ${stranger}` } }))
        .statusCode,
    ).toBe(404)
    expect((await setup.ann.getPath(`${setup.group}/export?cursor=nothing`)).body).toMatchObject({
      status: 400,
      code: 'bad-cursor',
    })
  })
})

const sorted = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** A parser of RFC 4180 that shares no code with the export. */
const parsed = (text: string): readonly (readonly string[])[] => {
  const lines: string[][] = []
  let [line, cell, quoted] = [[] as string[], '', false]
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at)
    if (quoted && sign === '"' && text.charAt(at + 1) === '"') cell += text.charAt((at += 1))
    else if (sign === '"') quoted = !quoted
    else if (!quoted && (sign === ',' || sign === '\r')) {
      line.push(cell)
      cell = ''
      if (sign === '\r') {
        lines.push(line)
        line = []
        at += 1
      }
    } else cell += sign
  }
  return lines
}
