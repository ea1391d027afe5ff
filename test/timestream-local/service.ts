import {
  CreateDatabaseCommand,
  CreateTableCommand,
  TimestreamWriteClient,
  WriteRecordsCommand,
  type _Record,
} from '@aws-sdk/client-timestream-write'
import { QueryCommand, TimestreamQueryClient } from '@aws-sdk/client-timestream-query'
import { startTimestreamLocal } from '../../timestream-local/server.ts'

export const DATABASE = 'scale-sense'
export const TABLE = 'keg-readings'
export const NOW = Date.parse('2026-03-18T12:00:00Z')
export const HOUR = 3_600_000

type Row = Record<string, string | null>

/** Starts timestream-local on a free port with a clock that only `advance` moves, and opens clients of the AWS SDK. */
export const startService = async (options: { data?: string; now?: number } = {}) => {
  let now = options.now ?? NOW
  const server = await startTimestreamLocal({
    port: 0,
    now: () => now,
    ...(options.data !== undefined && { data: options.data }),
  })
  const config = {
    endpoint: server.endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  }
  const writing = new TimestreamWriteClient(config)
  const querying = new TimestreamQueryClient(config)

  const write = async (Records: readonly _Record[], CommonAttributes?: _Record, TableName = TABLE) =>
    (
      await writing.send(
        new WriteRecordsCommand({
          DatabaseName: DATABASE,
          TableName,
          Records: [...Records],
          ...(CommonAttributes && { CommonAttributes }),
        }),
      )
    ).RecordsIngested

  /** Runs a query and reads all its pages. Rows are objects by column name. */
  const query = async (
    QueryString: string,
    MaxRows?: number,
  ): Promise<{ rows: Row[]; types: Record<string, string>; pages: number }> => {
    const rows: Row[] = []
    let types: Record<string, string> = {}
    let [pages, NextToken] = [0, undefined as string | undefined]
    do {
      const page = await querying.send(
        new QueryCommand({ QueryString, ...(MaxRows && { MaxRows }), ...(NextToken && { NextToken }) }),
      )
      const names = (page.ColumnInfo ?? []).map(({ Name }) => Name ?? '')
      types = Object.fromEntries((page.ColumnInfo ?? []).map(({ Name, Type }) => [Name ?? '', Type?.ScalarType ?? '']))
      for (const { Data } of page.Rows ?? [])
        rows.push(
          Object.fromEntries(
            (Data ?? []).map((datum, index) => [
              names[index] ?? '',
              datum.NullValue ? null : (datum.ScalarValue ?? ''),
            ]),
          ),
        )
      pages += 1
      NextToken = page.NextToken
    } while (NextToken !== undefined)
    return { rows, types, pages }
  }

  return {
    ...server,
    config,
    writing,
    querying,
    write,
    query,
    /** Runs a query. Returns the name and the message of its error, or `the query succeeded`. */
    refusal: (sql: string) =>
      query(sql).then(
        () => 'the query succeeded',
        (error: unknown) => `${(error as Error).name}: ${(error as Error).message}`,
      ),
    advance: (ms: number) => {
      now += ms
    },
    createTables: async (properties: Partial<ConstructorParameters<typeof CreateTableCommand>[0]> = {}) => {
      await writing.send(new CreateDatabaseCommand({ DatabaseName: DATABASE }))
      await writing.send(
        new CreateTableCommand({
          DatabaseName: DATABASE,
          TableName: TABLE,
          RetentionProperties: { MemoryStoreRetentionPeriodInHours: 24, MagneticStoreRetentionPeriodInDays: 365 },
          ...properties,
        }),
      )
    },
    close: async () => {
      writing.destroy()
      querying.destroy()
      await server.close()
    },
  }
}

export type Service = Awaited<ReturnType<typeof startService>>

export const at = (hoursAgo: number, from = NOW): string => String(from - hoursAgo * HOUR)

export const reading = (
  time: string,
  values: Record<string, number>,
  dimensions: Record<string, string> = {},
): _Record => ({
  Dimensions: Object.entries({
    tap_id: 'loc-001#TAP#07',
    loc_id: 'loc-001',
    device_id: 'SCALE-0042',
    ...dimensions,
  }).map(([Name, Value]) => ({ Name, Value })),
  MeasureName: 'reading',
  MeasureValueType: 'MULTI',
  MeasureValues: Object.entries(values).map(([Name, value]) => ({ Name, Value: String(value), Type: 'DOUBLE' })),
  Time: time,
})

export const single = (time: string, name: string, value: number, more: Partial<_Record> = {}): _Record => ({
  Dimensions: Object.entries({ tap_id: 'loc-001#TAP#07', loc_id: 'loc-001', device_id: 'SCALE-0042' }).map(
    ([Name, Value]) => ({ Name, Value }),
  ),
  MeasureName: name,
  MeasureValue: String(value),
  MeasureValueType: 'DOUBLE',
  Time: time,
  ...more,
})
