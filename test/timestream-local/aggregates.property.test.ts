import { CreateTableCommand, type _Record } from '@aws-sdk/client-timestream-write'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DATABASE, NOW, reading, startService, type Service } from './service.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

type Reading = Readonly<{ tap: string; agoMs: number; level: number; version: number }>
const readings = fc.array(
  fc.record({
    tap: fc.constantFrom('A', 'B'),
    agoMs: fc.oneof(
      fc.integer({ min: 0, max: DAY_MS }),
      fc.integer({ min: 0, max: 20 }).map((hours) => hours * HOUR_MS),
    ),
    level: fc.integer({ min: -4000, max: 4000 }).map((quarters) => quarters / 4),
    version: fc.integer({ min: 1, max: 3 }),
  }),
  { minLength: 1, maxLength: 60 },
)

/** The expected content of the table, computed in JavaScript: the first reading with the highest version of each tap and time. */
const expectedContent = (all: readonly Reading[]): Reading[] => {
  const points = new Map<string, Reading>()
  for (const entry of all) {
    const key = `${entry.tap} ${entry.agoMs}`
    const before = points.get(key)
    if (before === undefined || entry.version > before.version) points.set(key, entry)
  }
  return [...points.values()].sort((a, b) => b.agoMs - a.agoMs)
}

const printed = (ms: number) => `${new Date(ms).toISOString().replace('T', ' ').slice(0, 19)}.000000000`

let service: Service
let tables = 0
beforeAll(async () => {
  service = await startService()
  await service.createTables()
})
afterAll(() => service.close())

/** Writes the readings to a new table in two calls. The service can reject readings of a known time because their version is not higher. */
const writeReadings = async (all: readonly Reading[]): Promise<string> => {
  const TableName = `run-${++tables}`
  await service.writing.send(
    new CreateTableCommand({
      DatabaseName: DATABASE,
      TableName,
      RetentionProperties: { MemoryStoreRetentionPeriodInHours: 48, MagneticStoreRetentionPeriodInDays: 7 },
    }),
  )
  const records: _Record[] = all.map(({ tap, agoMs, level, version }) => ({
    ...reading(String(NOW - agoMs), { level }, { tap_id: tap }),
    Version: version,
  }))
  for (const half of [records.slice(0, records.length / 2), records.slice(records.length / 2)]) {
    if (half.length > 0)
      await service
        .write(half, undefined, TableName)
        .catch((error: Error) => (error.name === 'RejectedRecordsException' ? undefined : Promise.reject(error)))
  }
  return `"${DATABASE}"."${TableName}"`
}

test('aggregates by tap and bin over any readings are the same as in JavaScript', async () => {
  await fc.assert(
    fc.asyncProperty(
      readings,
      fc.constantFrom(['7m', 7 * 60_000] as const, ['1h', HOUR_MS] as const, ['6h', 6 * HOUR_MS] as const),
      async (all, [bin, binMs]) => {
        const table = await writeReadings(all)
        const groups = new Map<string, Reading[]>()
        for (const entry of expectedContent(all)) {
          const key = `${entry.tap} ${NOW - entry.agoMs - ((NOW - entry.agoMs) % binMs)}`
          groups.set(key, [...(groups.get(key) ?? []), entry])
        }
        const expected = [...groups]
          .map(([key, group]) => {
            const levels = group.map(({ level }) => level)
            const [tap = '', start = ''] = key.split(' ')
            const last = group.at(-1)?.level ?? NaN
            return {
              tap,
              t: printed(Number(start)),
              n: levels.length,
              total: levels.reduce((a, b) => a + b, 0),
              low: Math.min(...levels),
              high: Math.max(...levels),
              last,
              span: Math.trunc(((group[0]?.agoMs ?? 0) - (group.at(-1)?.agoMs ?? 0)) / 60_000),
            }
          })
          .sort((a, b) => (a.tap + a.t < b.tap + b.t ? -1 : 1))
        const { rows } =
          await service.query(`SELECT tap_id, bin(time, ${bin}) AS t, count(*) AS n, sum(level) AS total, avg(level) AS mean, min(level) AS low, max(level) AS high,
      max_by(level, time) AS last, date_diff('minute', min(time), max(time)) AS span FROM ${table} GROUP BY tap_id, bin(time, ${bin}) ORDER BY tap_id, t`)
        expect(
          rows.map(({ tap_id, t, n, total, low, high, last, span }) => ({
            tap: tap_id,
            t,
            n: Number(n),
            total: Number(total),
            low: Number(low),
            high: Number(high),
            last: Number(last),
            span: Number(span),
          })),
        ).toEqual(expected)
        for (const [index, { total, n }] of expected.entries())
          expect(Number(rows[index]?.['mean'])).toBeCloseTo(total / n, 9)
      },
    ),
    { numRuns: 40 },
  )
})

test('the steps between readings, by window functions, are the same as in JavaScript', async () => {
  await fc.assert(
    fc.asyncProperty(readings, async (all) => {
      const table = await writeReadings(all)
      const expected = ['A', 'B'].flatMap((tap) => {
        const ofTap = expectedContent(all).filter((entry) => entry.tap === tap)
        return ofTap.map(({ level, agoMs }, index) => [
          tap,
          printed(NOW - agoMs).slice(0, 19),
          index === 0 ? null : level - (ofTap[index - 1]?.level ?? NaN),
          ofTap.slice(0, index + 1).reduce((sum, entry) => sum + entry.level, 0),
        ])
      })
      const { rows } =
        await service.query(`SELECT tap_id, time, level - lag(level) OVER (PARTITION BY tap_id ORDER BY time) AS step,
      sum(level) OVER (PARTITION BY tap_id ORDER BY time) AS running FROM ${table} ORDER BY tap_id, time`)
      expect(
        rows.map(({ tap_id, time, step, running }) => [
          tap_id,
          time?.slice(0, 19),
          step === null ? null : Number(step),
          Number(running),
        ]),
      ).toEqual(expected)
    }),
    { numRuns: 25 },
  )
})
