import type { _Record, RejectedRecordsException } from '@aws-sdk/client-timestream-write'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { HOUR, NOW, at, reading, single, startService, type Service } from './service.ts'

const ALL = 'SELECT * FROM "scale-sense"."keg-readings" ORDER BY time, measure_name'
const NAMELESS: _Record = { MeasureName: 'level_pct', MeasureValue: '1', MeasureValueType: 'DOUBLE', Time: String(NOW) }

describe('WriteRecords', () => {
  let service: Service
  beforeEach(async () => {
    service = await startService()
    await service.createTables()
  })
  afterEach(() => service.close())

  const rejections = (promise: Promise<unknown>) =>
    promise.then(
      () => [],
      (error: RejectedRecordsException) =>
        error.name === 'RejectedRecordsException' ? (error.RejectedRecords ?? []) : Promise.reject(error as Error),
    )
  const levels = async () =>
    (await service.query('SELECT level_pct FROM "scale-sense"."keg-readings" ORDER BY time')).rows.map(
      (row) => row['level_pct'],
    )

  test('records get missing fields from the common attributes and have the dimensions of both', async () => {
    const ingested = await service.write(
      [
        { MeasureName: 'level_pct', MeasureValue: '80' },
        { MeasureName: 'gallons', MeasureValue: '12', Dimensions: [{ Name: 'keg_id', Value: 'keg-1' }], Time: at(1) },
      ],
      { Dimensions: [{ Name: 'tap_id', Value: 'tap' }], Time: at(0), MeasureValueType: 'DOUBLE', Version: 7 },
    )
    expect(ingested).toEqual({ Total: 2, MemoryStore: 2, MagneticStore: 0 })
    expect((await service.query(ALL)).rows).toEqual([
      {
        tap_id: 'tap',
        keg_id: 'keg-1',
        measure_name: 'gallons',
        time: '2026-03-18 11:00:00.000000000',
        'measure_value::double': '12.0',
      },
      {
        tap_id: 'tap',
        keg_id: null,
        measure_name: 'level_pct',
        time: '2026-03-18 12:00:00.000000000',
        'measure_value::double': '80.0',
      },
    ])
  })

  test('S18, S66: every type is read as it was written', async () => {
    const values = [
      ['d', 'DOUBLE', '1.5E-4'],
      ['b', 'BIGINT', '-9223372036854775808'],
      ['v', 'VARCHAR', "it's"],
      ['f', 'BOOLEAN', 'true'],
      ['t', 'TIMESTAMP', String(NOW)],
    ] as const
    await service.write([
      { ...reading(at(0), {}), MeasureValues: values.map(([Name, Type, Value]) => ({ Name, Type, Value })) },
    ])
    const { rows, types } = await service.query('SELECT d, b, v, f, t FROM "scale-sense"."keg-readings"')
    expect(types).toEqual({ d: 'DOUBLE', b: 'BIGINT', v: 'VARCHAR', f: 'BOOLEAN', t: 'TIMESTAMP' })
    expect(rows).toEqual([
      { d: '1.5E-4', b: '-9223372036854775808', v: "it's", f: 'true', t: '2026-03-18 12:00:00.000000000' },
    ])
  })

  test('single-measure records of each type have a column for each type', async () => {
    await service.write([
      single(at(0), 'a', 1.5),
      { ...single(at(0), 'b', 2), MeasureValueType: 'BIGINT' },
      { ...single(at(0), 'c', 0), MeasureValueType: 'VARCHAR', MeasureValue: 'x' },
      { ...single(at(0), 'd', 0), MeasureValueType: 'BOOLEAN', MeasureValue: 'false' },
    ])
    const { rows } =
      await service.query(`SELECT measure_value::double AS a, measure_value::bigint AS b, measure_value::varchar AS c, measure_value::boolean AS d
      FROM "scale-sense"."keg-readings" ORDER BY measure_name`)
    expect(rows).toEqual([
      { a: '1.5', b: null, c: null, d: null },
      { a: null, b: '2', c: null, d: null },
      { a: null, b: null, c: 'x', d: null },
      { a: null, b: null, c: null, d: 'false' },
    ])
  })

  test.each([
    ['SECONDS', '1773835200', '000000000'],
    ['MILLISECONDS', '1773835200001', '001000000'],
    ['MICROSECONDS', '1773835200000001', '000001000'],
    ['NANOSECONDS', '1773835200000000001', '000000001'],
  ] as const)('a time in %s keeps all its digits', async (TimeUnit, Time, fraction) => {
    await service.write([{ ...reading(Time, { level_pct: 1 }), TimeUnit }])
    expect((await service.query('SELECT time FROM "scale-sense"."keg-readings"')).rows).toEqual([
      { time: `2026-03-18 12:00:00.${fraction}` },
    ])
  })

  test('the same values again are accepted and change nothing', async () => {
    const record = reading(at(1), { level_pct: 80 })
    await service.write([record])
    expect(await service.write([record])).toEqual({ Total: 1, MemoryStore: 1, MagneticStore: 0 })
    expect(await levels()).toEqual(['80.0'])
  })

  test('other values need a higher version, and the rejection contains the existing version', async () => {
    await service.write([{ ...reading(at(1), { level_pct: 80 }), Version: 5 }])
    expect(await rejections(service.write([{ ...reading(at(1), { level_pct: 81 }), Version: 5 }]))).toMatchObject([
      {
        RecordIndex: 0,
        ExistingVersion: 5,
        Reason: expect.stringContaining('A higher record version must be specified'),
      },
    ])
    expect(await rejections(service.write([{ ...reading(at(1), { level_pct: 81 }), Version: 4 }]))).toMatchObject([
      {
        RecordIndex: 0,
        ExistingVersion: 5,
        Reason: expect.stringContaining('version 4 is lower than the existing version 5'),
      },
    ])
    expect(await levels()).toEqual(['80.0'])
    await service.write([{ ...reading(at(1), { level_pct: 81 }), Version: 6 }])
    expect(await levels()).toEqual(['81.0'])
  })

  test('the default version is 1', async () => {
    await service.write([reading(at(1), { level_pct: 80 })])
    expect(await rejections(service.write([reading(at(1), { level_pct: 81 })]))).toMatchObject([{ ExistingVersion: 1 }])
  })

  test('a higher version of the same values raises the version', async () => {
    await service.write([reading(at(1), { level_pct: 80 })])
    await service.write([{ ...reading(at(1), { level_pct: 80 }), Version: 9 }])
    expect(await rejections(service.write([{ ...reading(at(1), { level_pct: 81 }), Version: 9 }]))).toMatchObject([
      { ExistingVersion: 9 },
    ])
  })

  test('a higher version replaces the complete record', async () => {
    await service.write([reading(at(1), { level_pct: 80, gallons: 9 })])
    await service.write([{ ...reading(at(1), { level_pct: 81 }), Version: 2 }])
    expect((await service.query('SELECT level_pct, gallons FROM "scale-sense"."keg-readings"')).rows).toEqual([
      { level_pct: '81.0', gallons: null },
    ])
  })

  test('the valid records of a call are stored if others are rejected, each by its index', async () => {
    await service.write([reading(at(2), { level_pct: 70 })])
    const rejected = await rejections(
      service.write([
        reading(at(3), { level_pct: 60 }),
        reading(at(2), { level_pct: 71 }),
        reading(at(1), { level_pct: 80 }),
        reading(at(-1), { level_pct: 90 }),
      ]),
    )
    expect(rejected.map(({ RecordIndex }) => RecordIndex)).toEqual([1, 3])
    expect(await levels()).toEqual(['60.0', '70.0', '80.0'])
  })

  test('duplicates in one call: equal ones are accepted, a different one is rejected, a higher version replaces', async () => {
    const record = reading(at(1), { level_pct: 80 })
    expect(await service.write([record, record])).toMatchObject({ Total: 2 })
    expect(
      await rejections(service.write([reading(at(2), { level_pct: 1 }), reading(at(2), { level_pct: 2 })])),
    ).toMatchObject([{ RecordIndex: 1, ExistingVersion: 1 }])
    await service.write([reading(at(3), { level_pct: 3 }), { ...reading(at(3), { level_pct: 4 }), Version: 2 }])
    expect(await levels()).toEqual(['4.0', '1.0', '80.0'])
  })

  test('another dimension value, measure name or time is another record', async () => {
    await service.write([
      reading(at(1), { level_pct: 1 }),
      reading(at(1), { level_pct: 2 }, { tap_id: 'other' }),
      { ...reading(at(1), { level_pct: 3 }), MeasureName: 'other' },
      reading(at(2), { level_pct: 4 }),
    ])
    expect((await levels()).toSorted()).toEqual(['1.0', '2.0', '3.0', '4.0'])
  })

  test('S63: without magnetic writes, records outside of the memory store are rejected', async () => {
    await service.write([reading(at(24), { level_pct: 1 })])
    expect(await rejections(service.write([reading(at(24.01), { level_pct: 1 })]))).toMatchObject([
      {
        RecordIndex: 0,
        Reason:
          'The record timestamp is outside the time range [2026-03-17T12:00:00.000Z, 2026-03-18T12:15:00.000Z) of the data ingestion window.',
      },
    ])
  })

  test('records up to fifteen minutes in the future are accepted, later ones are rejected', async () => {
    await service.write([reading(at(-0.25), { level_pct: 1 })])
    expect(await rejections(service.write([reading(String(NOW + 15 * 60_000 + 1), { level_pct: 1 })]))).toHaveLength(1)
  })

  test('the window moves with the clock', async () => {
    service.advance(25 * HOUR)
    expect(await rejections(service.write([reading(at(0), { level_pct: 1 })]))).toHaveLength(1)
  })

  test('a measure cannot change its type, and a dimension cannot become a measure', async () => {
    await service.write([reading(at(1), { level_pct: 1 })])
    const wrongType = {
      ...reading(at(0), {}),
      MeasureValues: [{ Name: 'level_pct', Value: '1', Type: 'BIGINT' as const }],
    }
    expect(await rejections(service.write([wrongType]))).toMatchObject([
      { Reason: 'The measure level_pct is DOUBLE in this table and cannot be BIGINT.' },
    ])
    expect(await rejections(service.write([reading(at(0), { tap_id: 1 })]))).toMatchObject([
      { Reason: expect.stringContaining('tap_id is a dimension') },
    ])
  })

  test('only the record over 2 KB is rejected', async () => {
    const large = {
      ...reading(at(0), {}),
      MeasureValues: [{ Name: 'note', Value: 'x'.repeat(2000), Type: 'VARCHAR' as const }],
    }
    expect(await rejections(service.write([reading(at(1), { level_pct: 1 }), large]))).toMatchObject([
      { RecordIndex: 1, Reason: expect.stringContaining('A record has at most 2048') },
    ])
    expect(await levels()).toEqual(['1.0'])
  })

  test('a call with a hundred records is accepted, one with a hundred and one or none is rejected', async () => {
    const many = Array.from({ length: 101 }, (_, minute) =>
      reading(String(NOW - minute * 60_000), { level_pct: minute }),
    )
    await expect(service.write(many)).rejects.toMatchObject({
      name: 'ValidationException',
      message: expect.stringContaining('1 to 100 Records. This one has 101'),
    })
    await expect(service.write([])).rejects.toMatchObject({ name: 'ValidationException' })
    expect(await service.write(many.slice(0, 100))).toMatchObject({ Total: 100 })
  })

  test('a table has at most 8,192 measure names, and only a record with another one is rejected', async () => {
    const named = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ MeasureName: `m${from + index}`, MeasureValue: '1' }))
    const common: _Record = { Dimensions: [{ Name: 'tap_id', Value: 'tap' }], Time: at(0), MeasureValueType: 'DOUBLE' }
    for (let from = 0; from < 8_191; from += 100) await service.write(named(from, Math.min(100, 8_191 - from)), common)
    expect(await rejections(service.write([...named(8_191, 2), ...named(0, 1)], common))).toEqual([
      { RecordIndex: 1, Reason: 'The table would have more than 8192 measure names.' },
    ])
    expect(
      (await service.query('SELECT count(DISTINCT measure_name) AS n FROM "scale-sense"."keg-readings"')).rows,
    ).toEqual([{ n: '8192' }])
  })

  test('parallel writers lose nothing and store nothing twice', async () => {
    const batches = Array.from({ length: 20 }, (_, batch) =>
      Array.from({ length: 20 }, (_, index) =>
        reading(String(NOW - (batch * 10 + index) * 1000), { level_pct: batch * 10 + index }),
      ),
    )
    await Promise.all(batches.map((batch) => service.write(batch)))
    expect(
      (await service.query('SELECT count(*) AS n, count(DISTINCT time) AS times FROM "scale-sense"."keg-readings"'))
        .rows,
    ).toEqual([{ n: '210', times: '210' }])
  })
})

describe('parallel writers and readers', () => {
  test('a query reads a table before or after a new column, never in between', async () => {
    const service = await startService()
    await service.createTables()
    await service.write([reading(at(23), { level_pct: 0 })])
    const writes = Array.from({ length: 30 }, (_, index) =>
      service.write([reading(at(22 - index / 2), { level_pct: index, [`extra_${index}`]: index })]),
    )
    const queries = Array.from({ length: 60 }, () => service.query('SELECT * FROM "scale-sense"."keg-readings"'))
    for (const { rows } of await Promise.all(queries)) expect(rows.every((row) => row['level_pct'] !== null)).toBe(true)
    await Promise.all(writes)
    expect(
      (await service.query('SELECT count(*) AS n, max(extra_29) AS e FROM "scale-sense"."keg-readings"')).rows,
    ).toEqual([{ n: '31', e: '29.0' }])
    await service.close()
  })
})

describe('WriteRecords with magnetic writes', () => {
  let service: Service
  beforeEach(async () => {
    service = await startService()
    await service.createTables({ MagneticStoreWriteProperties: { EnableMagneticStoreWrites: true } })
  })
  afterEach(() => service.close())

  test('S63: older records are written to the magnetic store and counted separately', async () => {
    expect(
      await service.write([
        reading(at(1), { level_pct: 1 }),
        reading(at(25), { level_pct: 2 }),
        reading(at(365 * 24), { level_pct: 3 }),
      ]),
    ).toEqual({ Total: 3, MemoryStore: 1, MagneticStore: 2 })
  })

  test('records beyond the magnetic retention are rejected', async () => {
    await expect(service.write([reading(at(365 * 24 + 0.1), { level_pct: 1 })])).rejects.toMatchObject({
      name: 'RejectedRecordsException',
    })
  })

  test('a version conflict in the magnetic store is accepted and the record is lost, as in the service', async () => {
    await service.write([reading(at(48), { level_pct: 1 })])
    expect(await service.write([reading(at(48), { level_pct: 2 })])).toEqual({
      Total: 1,
      MemoryStore: 0,
      MagneticStore: 1,
    })
    expect((await service.query('SELECT level_pct FROM "scale-sense"."keg-readings"')).rows).toEqual([
      { level_pct: '1.0' },
    ])
  })

  test('a query does not return records beyond the retention', async () => {
    await service.write([reading(at(0), { level_pct: 1 })])
    service.advance(365 * 24 * HOUR)
    expect((await service.query('SELECT level_pct FROM "scale-sense"."keg-readings"')).rows).toHaveLength(1)
    service.advance(1)
    expect((await service.query('SELECT level_pct FROM "scale-sense"."keg-readings"')).rows).toEqual([])
  })
})

describe('WriteRecords of malformed records', () => {
  let service: Service
  beforeAll(async () => {
    service = await startService()
    await service.createTables()
  })
  afterAll(() => service.close())

  test.each<[string, _Record, string]>([
    ['a double that is none', { ...NAMELESS, MeasureValue: 'abc' }, 'is not a DOUBLE: abc'],
    ['NaN', { ...NAMELESS, MeasureValue: 'NaN' }, 'NaN and Infinity cannot be stored'],
    ['Infinity', { ...NAMELESS, MeasureValue: 'Infinity' }, 'cannot be stored'],
    ['a bigint with decimals', { ...NAMELESS, MeasureValueType: 'BIGINT', MeasureValue: '1.5' }, 'not a whole number'],
    [
      'a bigint of 65 bits',
      { ...NAMELESS, MeasureValueType: 'BIGINT', MeasureValue: '9223372036854775808' },
      'not a 64-bit number',
    ],
    ['a boolean that is neither', { ...NAMELESS, MeasureValueType: 'BOOLEAN', MeasureValue: 'yes' }, 'not a BOOLEAN'],
    [
      'a single TIMESTAMP',
      { ...NAMELESS, MeasureValueType: 'TIMESTAMP' },
      'TIMESTAMP is an invalid measure value type',
    ],
    ['no time', { ...NAMELESS, Time: undefined }, 'has no Time'],
    ['a time of the calendar', { ...NAMELESS, Time: '2026-03-18' }, 'not a whole number'],
    ['no measure name', { ...NAMELESS, MeasureName: undefined }, 'has no MeasureName'],
    ['no value', { ...NAMELESS, MeasureValue: undefined }, 'has no MeasureValue'],
    [
      'MULTI without measures',
      { ...NAMELESS, MeasureValue: undefined, MeasureValueType: 'MULTI' },
      'has no MeasureValues',
    ],
    [
      'MULTI with a value',
      { ...NAMELESS, MeasureValueType: 'MULTI', MeasureValues: [{ Name: 'a', Value: '1', Type: 'DOUBLE' }] },
      'Send MeasureValues only',
    ],
    [
      'a measure twice',
      {
        ...NAMELESS,
        MeasureValue: undefined,
        MeasureValueType: 'MULTI',
        MeasureValues: ['1', '2'].map((Value) => ({ Name: 'a', Value, Type: 'DOUBLE' as const })),
      },
      'names a measure twice',
    ],
    [
      'a dimension twice',
      { ...NAMELESS, Dimensions: ['1', '2'].map((Value) => ({ Name: 'a', Value })) },
      'names a dimension twice',
    ],
    [
      'a dimension without a value',
      { ...NAMELESS, Dimensions: [{ Name: 'a', Value: '' }] },
      'without a name or a value',
    ],
    [
      'a dimension name of 61 bytes',
      { ...NAMELESS, Dimensions: [{ Name: 'a'.repeat(61), Value: '1' }] },
      'longer than 60 bytes',
    ],
    ['a dimension called time', { ...NAMELESS, Dimensions: [{ Name: 'Time', Value: '1' }] }, 'reserved name'],
    [
      '129 dimensions',
      { ...NAMELESS, Dimensions: Array.from({ length: 129 }, (_, index) => ({ Name: `d${index}`, Value: '1' })) },
      'A record has at most 128',
    ],
    ['version 0', { ...NAMELESS, Version: 0 }, 'Version is 0'],
    ['another unit of time', { ...NAMELESS, TimeUnit: 'MINUTES' as 'SECONDS' }, 'TimeUnit that is none of'],
    ['a time of milliseconds in seconds', { ...NAMELESS, TimeUnit: 'SECONDS', Time: `${NOW}0` }, 'Check its TimeUnit'],
  ])('%s fails the whole call', async (_what, record, message) => {
    await expect(service.write([reading(at(0), { level_pct: 1 }), record])).rejects.toMatchObject({
      name: 'ValidationException',
      message: expect.stringContaining(message),
    })
    await expect(service.query('SELECT level_pct FROM "scale-sense"."keg-readings"')).rejects.toMatchObject({
      message: expect.stringContaining("Column 'level_pct' does not exist"),
    })
  })
})
