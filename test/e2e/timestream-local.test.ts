import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import {
  CreateDatabaseCommand,
  CreateTableCommand,
  TimestreamWriteClient,
  WriteRecordsCommand,
} from '@aws-sdk/client-timestream-write'
import { QueryCommand, TimestreamQueryClient } from '@aws-sdk/client-timestream-query'
import { expect, onTestFinished, test } from 'vitest'
import { DATABASE, TABLE, reading } from '../timestream-local/service.ts'

const PROGRAM = join(import.meta.dirname, '..', '..', 'bin', 'timestream-local.js')

const start = async (...args: string[]) => {
  const child = spawn(process.execPath, [PROGRAM, '--port', '0', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const endpoint = /http:\S+\d/.exec(line)?.[0] ?? ''
  const config = { endpoint, region: 'local', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ((await once(child, 'exit')) as [number | null])[0]
  }
  return { line, end, writing: new TimestreamWriteClient(config), querying: new TimestreamQueryClient(config) }
}

test('the program prints its address, keeps acknowledged points through kill -9, and ends on a signal', async () => {
  const data = mkdtempSync(join(tmpdir(), 'timestream-local-'))
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  const first = await start('--data', data)
  expect(first.line).toMatch(/^timestream-local listens on http:\/\/127\.0\.0\.1:\d+, in /)
  await first.writing.send(new CreateDatabaseCommand({ DatabaseName: DATABASE }))
  await first.writing.send(new CreateTableCommand({ DatabaseName: DATABASE, TableName: TABLE }))
  await first.writing.send(
    new WriteRecordsCommand({
      DatabaseName: DATABASE,
      TableName: TABLE,
      Records: [reading(String(Date.now()), { level_pct: 80 })],
    }),
  )
  await first.end('SIGKILL')

  const second = await start('--data', data)
  const { Rows } = await second.querying.send(
    new QueryCommand({ QueryString: `SELECT level_pct FROM "${DATABASE}"."${TABLE}"` }),
  )
  expect(Rows).toEqual([{ Data: [{ ScalarValue: '80.0' }] }])
  expect(await second.end('SIGTERM')).toBe(0)
})
