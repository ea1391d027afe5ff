import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at, reading, single, startService, type Service } from './service.ts'

const FROM = 'FROM "scale-sense"."keg-readings"'

describe('the query language', () => {
  let service: Service
  beforeAll(async () => {
    service = await startService()
    await service.createTables()
    await service.write([
      reading(at(3), { level_pct: 90, gallons: 13.5 }),
      reading(at(2), { level_pct: 80, gallons: 12 }),
      reading(at(1), { level_pct: 60 }),
      reading(at(2), { level_pct: 40, gallons: 6 }, { tap_id: 'B' }),
      reading(at(1), { level_pct: 40, gallons: 5 }, { tap_id: 'B' }),
      { ...single(at(1), 'pours', 3), MeasureValueType: 'BIGINT' },
      { ...single(at(2), 'pours', 4), MeasureValueType: 'BIGINT' },
    ])
  })
  afterAll(() => service.close())

  /** Runs a query. Returns its rows as lists of values. */
  const rows = async (sql: string) => (await service.query(sql)).rows.map((row) => Object.values(row))
  const value = async (expression: string) => {
    const {
      rows: [row],
      types,
    } = await service.query(`SELECT ${expression} AS v`)
    return [row?.['v'], types['v']]
  }

  test.each([
    ['1 + 2 * 3', '7', 'INTEGER'],
    ['(1 + 2) * 3', '9', 'INTEGER'],
    ['7 / 2', '3', 'INTEGER'],
    ['-7 / 2', '-3', 'INTEGER'],
    ['7 % 4', '3', 'INTEGER'],
    ['7 / 2.0', '3.5', 'DOUBLE'],
    ['6.0', '6.0', 'DOUBLE'],
    ['1e7', '1.0E7', 'DOUBLE'],
    ['0.0001', '1.0E-4', 'DOUBLE'],
    ['0.1 + 0.2', '0.30000000000000004', 'DOUBLE'],
    ['1.0 / 0', 'Infinity', 'DOUBLE'],
    ['0.0 / 0', 'NaN', 'DOUBLE'],
    ['0.0 / 0 > 1', 'false', 'BOOLEAN'],
    ['0.0 / 0 = 0.0 / 0', 'false', 'BOOLEAN'],
    ['0.0 / 0 <> 1.0', 'true', 'BOOLEAN'],
    ['1.0 BETWEEN 0.5 AND 0.0 / 0', 'false', 'BOOLEAN'],
    ['1.0 / 0 > 1', 'true', 'BOOLEAN'],
    ['3000000000', '3000000000', 'BIGINT'],
    ["'it''s' || '!'", "it's!", 'VARCHAR'],
    ["concat('a', 'b', 'c')", 'abc', 'VARCHAR'],
    ["concat('a', NULL)", null, 'VARCHAR'],
    ['TRUE AND NOT FALSE', 'true', 'BOOLEAN'],
    ['NULL', null, 'UNKNOWN'],
    ["'b' BETWEEN 'a' AND 'c'", 'true', 'BOOLEAN'],
    ['2 NOT IN (1, 3)', 'true', 'BOOLEAN'],
    ["'100%' LIKE '100!%' ESCAPE '!'", 'true', 'BOOLEAN'],
    ["'abc' LIKE 'A%'", 'false', 'BOOLEAN'],
    ['NULL IS NULL', 'true', 'BOOLEAN'],
    ["CASE WHEN 1 > 2 THEN 'a' ELSE 'b' END", 'b', 'VARCHAR'],
    ['CASE 2 WHEN 1 THEN 10 WHEN 2 THEN 2.5 END', '2.5', 'DOUBLE'],
    ['IF(1 = 1, 5)', '5', 'INTEGER'],
    ['COALESCE(NULL, 4, 5.0)', '4.0', 'DOUBLE'],
    ['NULLIF(4, 4)', null, 'INTEGER'],
    ['GREATEST(1, 3, 2)', '3', 'INTEGER'],
    ['GREATEST(1, NULL)', null, 'INTEGER'],
    ['LEAST(1.5, 3)', '1.5', 'DOUBLE'],
    ['ABS(-2.5)', '2.5', 'DOUBLE'],
    ['ROUND(2.5)', '3.0', 'DOUBLE'],
    ['ROUND(-2.5)', '-3.0', 'DOUBLE'],
    ['ROUND(1.2345, 2)', '1.23', 'DOUBLE'],
    ['CEIL(1.2) + FLOOR(1.8)', '3.0', 'DOUBLE'],
    ['FLOOR(5) / 2', '2', 'INTEGER'],
    ['SIGN(-2.5)', '-1.0', 'DOUBLE'],
    ['POWER(2, 10)', '1024.0', 'DOUBLE'],
    ['MOD(7, 4)', '3', 'INTEGER'],
    ["LENGTH('äb')", '2', 'BIGINT'],
    ["UPPER('a') || LOWER('B')", 'Ab', 'VARCHAR'],
    ["CAST('12' AS bigint)", '12', 'BIGINT'],
    ["TRY_CAST('x' AS double)", null, 'DOUBLE'],
    ['CAST(2.5 AS bigint)', '3', 'BIGINT'],
    ['CAST(12 AS varchar)', '12', 'VARCHAR'],
    ['CAST(1 AS double)', '1.0', 'DOUBLE'],
    ["CAST(TIMESTAMP '2026-03-18 12:00:00.5' AS varchar)", '2026-03-18 12:00:00.500000000', 'VARCHAR'],
    ["CAST('2026-03-18' AS timestamp)", '2026-03-18 00:00:00.000000000', 'TIMESTAMP'],
  ])('%s is %s', async (expression, expected, type) => {
    expect(await value(expression)).toEqual([expected, type])
  })

  test.each([
    ['now()', '2026-03-18 12:00:00.000000000'],
    ['current_timestamp', '2026-03-18 12:00:00.000000000'],
    ['ago(90s)', '2026-03-18 11:58:30.000000000'],
    ['ago(100ms)', '2026-03-18 11:59:59.900000000'],
    ['ago(2day)', '2026-03-16 12:00:00.000000000'],
    ["now() - interval '1' hour", '2026-03-18 11:00:00.000000000'],
    ['now() + 2 * 15m', '2026-03-18 12:30:00.000000000'],
    ["bin(TIMESTAMP '2026-03-18 12:34:56', 15m)", '2026-03-18 12:30:00.000000000'],
    ["bin(TIMESTAMP '2026-03-18 12:34:56', 7d)", '2026-03-12 00:00:00.000000000'],
    ["date_trunc('hour', TIMESTAMP '2026-03-18 12:34:56')", '2026-03-18 12:00:00.000000000'],
    ["date_trunc('week', TIMESTAMP '2026-03-18 12:34:56')", '2026-03-16 00:00:00.000000000'],
    ["date_trunc('quarter', TIMESTAMP '2026-03-18 12:34:56')", '2026-01-01 00:00:00.000000000'],
    ["date_add('month', 1, TIMESTAMP '2026-01-31 12:00:00.000000001')", '2026-02-28 12:00:00.000000001'],
    ["date_add('day', -1, now())", '2026-03-17 12:00:00.000000000'],
    ["from_iso8601_timestamp('2026-03-18T12:00:00.123456789+01:00')", '2026-03-18 11:00:00.123456789'],
    ["from_iso8601_timestamp('2026-03-18')", '2026-03-18 00:00:00.000000000'],
    ['from_milliseconds(1773835200001)', '2026-03-18 12:00:00.001000000'],
  ])('%s is %s', async (expression, expected) => {
    expect(await value(expression)).toEqual([expected, 'TIMESTAMP'])
  })

  test.each([
    ["date_diff('hour', TIMESTAMP '2026-03-18 11:59:00', TIMESTAMP '2026-03-18 12:58:59')", '0'],
    ["date_diff('minute', TIMESTAMP '2026-03-18 12:58:59', TIMESTAMP '2026-03-18 11:59:00')", '-59'],
    ["date_diff('day', TIMESTAMP '2026-03-17 12:00:01', TIMESTAMP '2026-03-18 12:00:00')", '0'],
    ["date_diff('month', TIMESTAMP '2026-01-31 00:00:00', TIMESTAMP '2026-03-30 00:00:00')", '1'],
    ["EXTRACT(HOUR FROM TIMESTAMP '2026-03-18 12:34:56')", '12'],
    ["EXTRACT(dow FROM TIMESTAMP '2026-03-22 12:34:56')", '7'],
    ["year(TIMESTAMP '2026-03-18 12:34:56') * 100 + month(now())", '202603'],
    ['to_milliseconds(now())', '1773835200000'],
  ])('%s counts %s', async (expression, expected) => {
    expect(await value(expression)).toEqual([expected, 'BIGINT'])
  })

  test('an interval is printed with its days', async () => {
    expect(await value('1d + 90m')).toEqual(['1 01:30:00.000000000', 'INTERVAL_DAY_TO_SECOND'])
  })

  test('aggregates skip nulls, count rows, and are null without rows', async () => {
    expect(
      await rows(
        `SELECT count(*), count(gallons), count(DISTINCT tap_id), approx_distinct(level_pct), avg(gallons), min(level_pct), max(time), sum(gallons) ${FROM} WHERE measure_name = 'reading'`,
      ),
    ).toEqual([['5', '4', '2', '4', '9.125', '40.0', '2026-03-18 11:00:00.000000000', '36.5']])
    expect(await rows(`SELECT count(*), sum(gallons), max(time) ${FROM} WHERE tap_id = 'nobody'`)).toEqual([
      ['0', null, null],
    ])
  })

  test('the sum of whole numbers is a whole number, their average is a double', async () => {
    const { rows: found, types } = await service.query(
      `SELECT sum(measure_value::bigint) AS s, avg(measure_value::bigint) AS a ${FROM} WHERE measure_name = 'pours'`,
    )
    expect([found, types]).toEqual([[{ s: '7', a: '3.5' }], { s: 'BIGINT', a: 'DOUBLE' }])
  })

  test('max_by and min_by return the value in the row of the extreme, even if it is null', async () => {
    expect(
      await rows(
        `SELECT tap_id, max_by(gallons, time), min_by(gallons, time) ${FROM} WHERE measure_name = 'reading' GROUP BY tap_id ORDER BY 1`,
      ),
    ).toEqual([
      ['B', '5.0', '6.0'],
      ['loc-001#TAP#07', null, '13.5'],
    ])
  })

  test('deviation, percentile and flags', async () => {
    expect(
      await rows(`SELECT round(stddev(level_pct), 6), round(stddev_pop(level_pct), 6), approx_percentile(level_pct, 0.5), bool_or(level_pct > 80), bool_and(level_pct > 80), count_if(level_pct >= 80)
      ${FROM} WHERE tap_id <> 'B' AND measure_name = 'reading'`),
    ).toEqual([['15.275252', '12.472191', '80.0', 'true', 'false', '2']])
  })

  test('FILTER and CASE restrict an aggregate', async () => {
    expect(
      await rows(`SELECT count(*) FILTER (WHERE tap_id = 'B'), sum(CASE WHEN tap_id = 'B' THEN 1 ELSE 0 END) ${FROM}`),
    ).toEqual([['2', '2']])
  })

  test('GROUP BY takes expressions and positions, and HAVING filters groups', async () => {
    const expected = [
      ['2026-03-18 10:00:00.000000000', '60.0'],
      ['2026-03-18 11:00:00.000000000', '50.0'],
    ]
    expect(
      await rows(
        `SELECT bin(time, 1h), avg(level_pct) ${FROM} WHERE measure_name = 'reading' GROUP BY 1 HAVING count(*) > 1 ORDER BY 1`,
      ),
    ).toEqual(expected)
    expect(
      await rows(
        `SELECT bin(time, 1h) AS t, avg(level_pct) AS v ${FROM} WHERE measure_name = 'reading' GROUP BY bin(time, 1h) HAVING count(*) > 1 ORDER BY t + 1h DESC, v`,
      ),
    ).toEqual(expected.toReversed())
  })

  test('nulls sort last in both directions by default', async () => {
    const gallons = async (order: string) =>
      (
        await rows(`SELECT gallons ${FROM} WHERE measure_name = 'reading' AND tap_id <> 'B' ORDER BY gallons ${order}`)
      ).flat()
    expect(await gallons('ASC')).toEqual(['12.0', '13.5', null])
    expect(await gallons('DESC')).toEqual(['13.5', '12.0', null])
    expect(await gallons('DESC NULLS FIRST')).toEqual([null, '13.5', '12.0'])
  })

  test('window functions use the neighbouring rows', async () => {
    expect(
      await rows(`SELECT level_pct, lag(level_pct) OVER (PARTITION BY tap_id ORDER BY time), lead(level_pct, 1, 0) OVER (PARTITION BY tap_id ORDER BY time),
      row_number() OVER (ORDER BY level_pct DESC), sum(level_pct) OVER (ORDER BY time ROWS BETWEEN 1 PRECEDING AND CURRENT ROW),
      first_value(level_pct) OVER (ORDER BY time), last_value(gallons) IGNORE NULLS OVER (ORDER BY time)
      ${FROM} WHERE measure_name = 'reading' AND tap_id <> 'B' ORDER BY time`),
    ).toEqual([
      ['90.0', null, '80.0', '1', '90.0', '90.0', '13.5'],
      ['80.0', '90.0', '60.0', '2', '170.0', '90.0', '12.0'],
      ['60.0', '80.0', '0.0', '3', '140.0', '90.0', '12.0'],
    ])
  })

  test('queries in FROM and in WITH can use each other and have column names', async () => {
    expect(
      await rows(`WITH steps AS (
        SELECT tap_id, time, gallons - lag(gallons) OVER (PARTITION BY tap_id ORDER BY time) AS step ${FROM} WHERE measure_name = 'reading'
      ), poured (tap, total) AS (SELECT tap_id, -sum(step) FROM steps WHERE step < 0 GROUP BY tap_id)
      SELECT p.tap, p.total, n.readings FROM poured p JOIN (SELECT tap_id, count(*) AS readings FROM steps GROUP BY tap_id) AS n ON n.tap_id = p.tap ORDER BY total DESC`),
    ).toEqual([
      ['loc-001#TAP#07', '1.5', '3'],
      ['B', '1.0', '2'],
    ])
  })

  test('a LEFT JOIN returns rows without a match', async () => {
    expect(
      await rows(
        `SELECT a.tap_id, b.n FROM (SELECT DISTINCT tap_id ${FROM}) a LEFT JOIN (SELECT tap_id, count(*) AS n ${FROM} WHERE gallons > 10 GROUP BY tap_id) b ON a.tap_id = b.tap_id ORDER BY 1`,
      ),
    ).toEqual([
      ['B', null],
      ['loc-001#TAP#07', '2'],
    ])
  })

  test('SELECT * returns dimensions, measure_name, time, and the existing measures', async () => {
    const { types } = await service.query(`SELECT * ${FROM} LIMIT 1`)
    expect(Object.entries(types)).toEqual([
      ['device_id', 'VARCHAR'],
      ['loc_id', 'VARCHAR'],
      ['tap_id', 'VARCHAR'],
      ['measure_name', 'VARCHAR'],
      ['time', 'TIMESTAMP'],
      ['measure_value::bigint', 'BIGINT'],
      ['gallons', 'DOUBLE'],
      ['level_pct', 'DOUBLE'],
    ])
  })

  test('measure_value::double of a multi-measure record is null', async () => {
    expect(await rows(`SELECT DISTINCT measure_value::double ${FROM} WHERE measure_name = 'reading'`)).toEqual([[null]])
  })

  test('names are case-insensitive, quoted or not, and result columns have the names of the query', async () => {
    expect(
      (await service.query(`select "tap_id" "Tap", COUNT(*) ${FROM} where LEVEL_PCT = 90 group by Tap_Id`)).rows,
    ).toEqual([{ Tap: 'loc-001#TAP#07', _col1: '1' }])
  })

  test('NaN from a division is not above any bound, also in an inner query', async () => {
    expect(
      await rows(
        `WITH a AS (SELECT (gallons - gallons) / (gallons - gallons) AS rate ${FROM} WHERE gallons IS NOT NULL) SELECT count(*), count_if(rate > 1) FROM a WHERE NOT rate BETWEEN 0.0 AND 1.0`,
      ),
    ).toEqual([['4', '0']])
  })

  test('comments and a final semicolon are ignored', async () => {
    expect(await rows('SELECT 1 -- one\n /* and\n two */ , 2;')).toEqual([['1', '2']])
  })

  test("the SQL for DuckDB contains the caller's text in literals only", async () => {
    expect(
      await rows(
        `SELECT 'x''); DROP TABLE data_1; --' AS v ${FROM} WHERE tap_id = '''; SELECT 1; --' OR 1 = 1 LIMIT 1`,
      ),
    ).toEqual([["x'); DROP TABLE data_1; --"]])
    expect(await rows(`SELECT count(*) ${FROM}`)).toEqual([['7']])
  })
})
