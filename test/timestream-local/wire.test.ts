import { DescribeEndpointsCommand, QueryCommand, TimestreamQueryClient } from '@aws-sdk/client-timestream-query'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at, reading, startService, type Service } from './service.ts'

describe('the wire protocol', () => {
  let service: Service
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.close())

  const post = async (target: string | undefined, body: string | Uint8Array, method = 'POST') => {
    const response = await fetch(service.endpoint, {
      method,
      headers: target === undefined ? {} : { 'X-Amz-Target': target },
      ...(method === 'POST' && { body }),
    })
    return { status: response.status, ...((await response.json()) as { __type?: string; message?: string }) }
  }

  test('answers JSON 1.0 with a request id', async () => {
    const response = await fetch(service.endpoint, {
      method: 'POST',
      headers: { 'X-Amz-Target': 'Timestream_20181101.ListDatabases' },
      body: '{}',
    })
    expect(response.headers.get('content-type')).toBe('application/x-amz-json-1.0')
    expect(response.headers.get('x-amzn-requestid')).toMatch(/^[0-9a-f-]{36}$/)
    expect(await response.json()).toEqual({ Databases: [] })
  })

  test('returns its own address and port as the endpoint', async () => {
    const { Endpoints } = await service.querying.send(new DescribeEndpointsCommand({}))
    expect(Endpoints).toEqual([{ Address: `127.0.0.1:${service.port}`, CachePeriodInMinutes: 1440 }])
  })

  test('a client that discovers its endpoint uses the returned one', async () => {
    const { endpoint: _endpoint, ...config } = service.config
    const client = new TimestreamQueryClient({ ...config, region: 'us-east-1' })
    const hosts: string[] = []
    client.middlewareStack.add(
      (next) => (args) => {
        const request = args.request as { hostname: string; headers: Record<string, string> }
        hosts.push(request.hostname)
        // The client sends its first request to the address of AWS. The test redirects it to this machine, without TLS.
        const port = request.hostname.includes('amazonaws') ? service.port : Number(request.hostname.split(':')[1])
        Object.assign(request, {
          protocol: 'http:',
          hostname: '127.0.0.1',
          port,
          headers: { ...request.headers, host: `127.0.0.1:${port}` },
        })
        return next(args)
      },
      { step: 'finalizeRequest', priority: 'low', name: 'toThisMachine' },
    )
    const { Rows } = await client.send(new QueryCommand({ QueryString: 'SELECT 1' }))
    client.destroy()
    expect(Rows).toEqual([{ Data: [{ ScalarValue: '1' }] }])
    expect(hosts).toEqual(['query.timestream.us-east-1.amazonaws.com', `127.0.0.1:${service.port}`])
  })

  test.each([
    ['an unsupported operation', 'Timestream_20181101.CreateScheduledQuery', '{}', 'UnknownOperationException'],
    [
      'an operation named like a property of objects',
      'Timestream_20181101.constructor',
      '{}',
      'UnknownOperationException',
    ],
    ['another service', 'DynamoDB_20120810.ListTables', '{}', 'UnknownOperationException'],
    ['no target', undefined, '{}', 'UnknownOperationException'],
    ['JSON that is cut off', 'Timestream_20181101.Query', '{"QueryString": "SEL', 'SerializationException'],
    ['JSON that is no object', 'Timestream_20181101.Query', '[]', 'SerializationException'],
    [
      'bytes that are no UTF-8',
      'Timestream_20181101.Query',
      new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]),
      'SerializationException',
    ],
    ['a field of the wrong type', 'Timestream_20181101.Query', '{"QueryString": 1}', 'ValidationException'],
    [
      'records that are no list',
      'Timestream_20181101.WriteRecords',
      '{"DatabaseName": "a", "TableName": "b", "Records": 5}',
      'ResourceNotFoundException',
    ],
    [
      'a body of 2 MB',
      'Timestream_20181101.Query',
      JSON.stringify({ QueryString: 'x'.repeat(2_000_000) }),
      'RequestEntityTooLargeException',
    ],
  ])('%s gets an error in the format of the SDK', async (_what, target, body, type) => {
    expect(await post(target, body)).toMatchObject({ status: 400, __type: type, message: expect.stringMatching(/./) })
  })

  test('the answer to a GET describes the right request', async () => {
    expect(await post(undefined, '', 'GET')).toMatchObject({
      status: 400,
      message: expect.stringContaining('POST with X-Amz-Target'),
    })
  })
})

describe('pages', () => {
  let service: Service
  const SQL = 'SELECT time, level_pct FROM "scale-sense"."keg-readings" ORDER BY time'
  beforeAll(async () => {
    service = await startService()
    await service.createTables()
    await service.write(Array.from({ length: 25 }, (_, hour) => reading(at(hour * 0.9), { level_pct: hour })))
  })
  afterAll(() => service.close())

  const page = (input: Partial<ConstructorParameters<typeof QueryCommand>[0]> = {}) =>
    service.querying.send(new QueryCommand({ QueryString: SQL, ...input }))

  test('a result with at most MaxRows rows is one page', async () => {
    const { rows, pages } = await service.query(SQL, 25)
    expect([rows.length, pages]).toEqual([25, 1])
  })

  test('a larger result begins with a page without rows, and its pages contain every row once, in order', async () => {
    const first = await page({ MaxRows: 10 })
    expect([first.Rows, typeof first.NextToken, first.QueryStatus?.ProgressPercentage]).toEqual([[], 'string', 100])
    const { rows, pages } = await service.query(SQL, 10)
    expect(pages).toBe(4)
    expect(rows).toEqual((await service.query(SQL)).rows)
  })

  test('a page that is requested again is the same, even after new rows were written', async () => {
    const { NextToken } = await page({ MaxRows: 10 })
    const [second] = [await page({ MaxRows: 10, ...(NextToken && { NextToken }) })]
    await service.write([reading(at(23.9), { level_pct: 99 })])
    const again = await page({ MaxRows: 10, ...(NextToken && { NextToken }) })
    expect(again.Rows).toEqual(second?.Rows)
    expect([again.QueryId, again.NextToken]).toEqual([second?.QueryId, second?.NextToken])
  })

  test('a result of more than 1 MB has pages even without MaxRows', async () => {
    const wide = `WITH a AS (SELECT 1 AS x FROM "scale-sense"."keg-readings" LIMIT 20) SELECT '${'x'.repeat(1000)}' AS v FROM a, a b, a c`
    const { rows, pages } = await service.query(wide)
    expect([rows.length, pages]).toEqual([8000, 9])
  })

  test('a token of another query, an invented token and an expired token are rejected', async () => {
    const { NextToken = '' } = await page({ MaxRows: 10 })
    const invalid = { name: 'ValidationException', message: expect.stringContaining('Invalid pagination token') }
    await expect(service.querying.send(new QueryCommand({ QueryString: 'SELECT 1', NextToken }))).rejects.toMatchObject(
      invalid,
    )
    await expect(page({ NextToken: 'made-up' })).rejects.toMatchObject(invalid)
    service.advance(15 * 60_000 + 1)
    await expect(page({ NextToken })).rejects.toMatchObject(invalid)
  })

  test('MaxRows is between 1 and 1,000', async () => {
    await expect(page({ MaxRows: 1001 })).rejects.toMatchObject({
      name: 'ValidationException',
      message: expect.stringContaining('between 1 and 1000'),
    })
  })
})

describe('a folder', () => {
  test('contains tables, columns, records and versions after a restart', async () => {
    const data = await mkdtemp(join(tmpdir(), 'timestream-local-'))
    const before = await startService({ data })
    await before.createTables()
    await before.write([{ ...reading(at(1), { level_pct: 80 }), Version: 3 }])
    await before.close()
    const after = await startService({ data })
    try {
      await expect(after.write([{ ...reading(at(1), { level_pct: 81 }), Version: 3 }])).rejects.toMatchObject({
        RejectedRecords: [{ RecordIndex: 0, ExistingVersion: 3 }],
      })
      await after.write([reading(at(0), { level_pct: 70, gallons: 9 })])
      expect(
        (await after.query('SELECT level_pct, gallons FROM "scale-sense"."keg-readings" ORDER BY time')).rows,
      ).toEqual([
        { level_pct: '80.0', gallons: null },
        { level_pct: '70.0', gallons: '9.0' },
      ])
    } finally {
      await after.close()
      await rm(data, { recursive: true })
    }
  })
})
