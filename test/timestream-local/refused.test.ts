import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at, reading, startService, type Service } from './service.ts'

const FROM = 'FROM "scale-sense"."keg-readings"'

/** Queries that must be rejected, with a part of the message. The service must never return a wrong answer for a query that it does not support. */
const REFUSED: readonly (readonly [sql: string, why: string])[] = [
  // Types
  [`SELECT 1 ${FROM} WHERE time >= '2026-03-18'`, "line 1:55: '>=' cannot be applied to timestamp, varchar"],
  [`SELECT 1 ${FROM} WHERE '2026-03-18' < time`, "'<' cannot be applied to varchar, timestamp"],
  [
    `SELECT 1 ${FROM} WHERE time BETWEEN '2026-03-18' AND now()`,
    'Cannot check if timestamp is BETWEEN varchar and timestamp',
  ],
  [
    `SELECT 1 ${FROM} WHERE time IN ('2026-03-18')`,
    'IN value and list items must be the same type: timestamp, varchar',
  ],
  [`SELECT 1 ${FROM} WHERE time > 1773835200000`, "'>' cannot be applied to timestamp, bigint"],
  [`SELECT 1 ${FROM} WHERE level_pct = '90'`, "'=' cannot be applied to double, varchar"],
  [`SELECT 1 ${FROM} WHERE tap_id = 7`, "'=' cannot be applied to varchar, integer"],
  [`SELECT 1 ${FROM} WHERE level_pct`, 'WHERE clause must evaluate to a boolean (actual: double)'],
  [
    `SELECT 1 ${FROM} WHERE tap_id = 'a' AND 1h`,
    'Right side of logical expression must evaluate to a boolean (actual: interval day to second)',
  ],
  [`SELECT time - time ${FROM}`, "'-' cannot be applied to timestamp, timestamp"],
  [`SELECT tap_id + 1 ${FROM}`, "'+' cannot be applied to varchar, integer"],
  [`SELECT avg(tap_id) ${FROM}`, 'Unexpected parameters (varchar) for function avg'],
  [`SELECT avg(time) ${FROM}`, 'Unexpected parameters (timestamp) for function avg'],
  [`SELECT bin(level_pct, 1h) ${FROM}`, 'Unexpected parameters (double, interval day to second) for function bin'],
  [`SELECT bin(time, 60) ${FROM}`, 'for function bin'],
  [`SELECT ago('1h')`, 'Unexpected parameters (varchar) for function ago'],
  [`SELECT level_pct || 'x' ${FROM}`, "'||' cannot be applied to double, varchar"],
  [`SELECT CASE WHEN TRUE THEN 1 ELSE 'a' END`, 'All CASE results must be the same type: integer, varchar'],
  [`SELECT CAST(1.5 AS varchar)`, 'Cannot cast double to varchar here'],
  [`SELECT CAST('a' AS decimal)`, 'Unknown type: decimal'],
  [`SELECT from_iso8601_timestamp('18.3.2026')`, "'18.3.2026' is not a timestamp"],
  [`SELECT from_iso8601_timestamp('2026-02-30T00:00:00Z')`, 'is not a timestamp'],
  // Values that cannot be computed
  [`SELECT 1 / 0`, 'Division by zero'],
  [`SELECT 1 % 0`, 'Division by zero'],
  [`SELECT 9223372036854775807 + 1`, 'Overflow'],
  [`SELECT CAST('1.5' AS bigint)`, 'Cannot cast a varchar to bigint'],
  [`SELECT ago(30000d)`, 'before 1970'],
  // Names
  [`SELECT nothing ${FROM}`, "line 1:8: Column 'nothing' does not exist"],
  [`SELECT\n  k.nothing\n${FROM} k`, "line 2:3: Column 'k.nothing' does not exist"],
  [`SELECT t ${FROM} WHERE t > now()`, "Column 't' does not exist"],
  [`SELECT time AS t ${FROM} WHERE t > now()`, "Column 't' does not exist"],
  [`SELECT bin(time, 1h) AS t, count(*) ${FROM} GROUP BY t`, "Column 't' does not exist"],
  [
    `SELECT time FROM (SELECT time ${FROM}) a JOIN (SELECT time ${FROM}) b ON a.time = b.time`,
    "Column 'time' is ambiguous",
  ],
  [`SELECT 1 FROM "scale-sense"."nothing"`, 'Table scale-sense.nothing does not exist'],
  [`SELECT 1 FROM "nowhere"."keg-readings"`, 'Table nowhere.keg-readings does not exist'],
  [`SELECT 1 FROM "keg-readings"`, 'Table keg-readings does not exist'],
  [`SELECT x.* ${FROM}`, "Table 'x' does not exist"],
  [`SELECT *`, 'SELECT * needs a FROM clause'],
  [`SELECT interpolate_linear(level_pct) ${FROM}`, 'Function interpolate_linear not registered'],
  [`SELECT read_csv('/etc/passwd')`, 'Function read_csv not registered'],
  [`SELECT error('x')`, 'Function error not registered'],
  [`SELECT constructor(1)`, 'Function constructor not registered'],
  [`SELECT date_trunc('fortnight', now())`, "'fortnight' is not a valid TIMESTAMP field"],
  [`SELECT EXTRACT(EPOCH FROM now())`, 'EXTRACT does not support the field epoch'],
  // Grouping
  [`SELECT tap_id, count(*) ${FROM}`, "'tap_id' must be an aggregate expression or appear in GROUP BY clause"],
  [`SELECT time, avg(level_pct) ${FROM} GROUP BY bin(time, 1h)`, "'time' must be an aggregate expression"],
  [`SELECT abs(level_pct + avg(gallons)) ${FROM}`, "'level_pct' must be an aggregate expression"],
  [`SELECT * ${FROM} GROUP BY tap_id`, "'device_id' must be an aggregate expression"],
  [`SELECT tap_id ${FROM} GROUP BY tap_id ORDER BY time`, "'time' must be an aggregate expression"],
  [`SELECT tap_id ${FROM} GROUP BY tap_id HAVING level_pct > 1`, "'level_pct' must be an aggregate expression"],
  [`SELECT 1 ${FROM} WHERE avg(level_pct) > 1`, 'WHERE clause cannot contain aggregations'],
  [`SELECT count(*) ${FROM} GROUP BY count(*)`, 'GROUP BY clause cannot contain aggregations'],
  [`SELECT count(*) ${FROM} GROUP BY 1`, 'GROUP BY clause cannot contain aggregations'],
  [`SELECT avg(max(level_pct)) ${FROM}`, "Cannot nest aggregations inside aggregation 'avg'"],
  [`SELECT tap_id ${FROM} GROUP BY 3`, 'GROUP BY position 3 is not in select list'],
  [`SELECT tap_id ${FROM} ORDER BY 2`, 'ORDER BY position 2 is not in select list'],
  [
    `SELECT DISTINCT tap_id ${FROM} ORDER BY time`,
    'For SELECT DISTINCT, ORDER BY expressions must appear in select list',
  ],
  [`SELECT lag(level_pct, -1) OVER (ORDER BY time) ${FROM}`, 'lag takes its offset as a literal whole number'],
  [`SELECT row_number() ${FROM}`, 'Window function row_number requires OVER'],
  [`SELECT 1 ${FROM} WHERE row_number() OVER (ORDER BY time) = 1`, 'cannot contain aggregations or window functions'],
  // SQL outside of the supported subset
  [`INSERT INTO "scale-sense"."keg-readings" VALUES (1)`, 'only SELECT is supported'],
  [`DROP TABLE data_1`, 'only SELECT is supported'],
  [`SHOW TABLES`, 'only SELECT is supported'],
  [`SELECT 1; SELECT 2`, "'SELECT' is not supported here"],
  [`SELECT 1 UNION ALL SELECT 2`, "'UNION' is not supported here"],
  [`SELECT 1 OFFSET 5`, "'OFFSET' is not supported here"],
  [`SELECT 1 ${FROM} WHERE tap_id IN (SELECT tap_id ${FROM})`, 'a subquery is supported in FROM only'],
  [`SELECT (SELECT 1)`, 'a subquery is supported in FROM only'],
  [`SELECT 1 ${FROM} WHERE EXISTS (SELECT 1)`, "expected a value instead of 'EXISTS'"],
  [`SELECT 1 ${FROM} a FULL JOIN b ON TRUE`, "'FULL' is not supported here"],
  [`SELECT 1 ${FROM} GROUP BY ROLLUP (tap_id)`, 'Function rollup not registered'],
  [`SELECT level_pct::varchar ${FROM}`, "'::varchar' cannot be read as SQL"],
  [`SELECT ARRAY[1, 2]`, 'cannot be read as SQL'],
  [`SELECT date '2026-03-18'`, "DATE '…' is not supported here"],
  [`SELECT interval '1' month`, 'an interval of month is not supported'],
  [`SELECT ago(1mo)`, 'cannot be read as SQL'],
  [
    `SELECT sum(level_pct) OVER (ORDER BY time RANGE BETWEEN 1h PRECEDING AND CURRENT ROW) ${FROM}`,
    'a frame begins and ends at',
  ],
  [`SELECT 1 LIMIT ALL`, "LIMIT takes a whole number, not 'ALL'"],
  [`SELECT 'open`, 'cannot be read as SQL'],
  [`SELECT 1 +`, "expected a value instead of 'the end of the query'"],
  [`SELECT a b c`, "'c' is not supported here"],
  [`SELECT ${'('.repeat(200)}1${')'.repeat(200)}`, 'nested deeper than 100'],
  [`SELECT ${Array.from({ length: 12_000 }, () => '1').join('+')}`, 'more than 20000 words and symbols'],
  [`SELECT ${Array.from({ length: 600 }, () => '1').join('+')}`, 'more than 500 operators in a row'],
  ['', 'QueryString is missing'],
  [`SELECT '${'x'.repeat(270_000)}'`, 'longer than 262144 bytes'],
]

describe('SQL that is rejected', () => {
  let service: Service
  beforeAll(async () => {
    service = await startService()
    await service.createTables()
    await service.write([reading(at(1), { level_pct: 90, gallons: 13 })])
  })
  afterAll(() => service.close())

  test.each(REFUSED.map(([sql, why]) => [sql.length > 120 ? `${sql.slice(0, 120)}…` : sql, why, sql] as const))(
    '%s: %s',
    async (_shown, why, sql) => {
      expect(await service.refusal(sql)).toMatch(/^ValidationException: /)
      expect(await service.refusal(sql)).toContain(why)
    },
  )
})
