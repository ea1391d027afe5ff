import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Available } from './available.ts'
import { fetchJars, jarsAvailable, type JavaProgram } from './jars.ts'
import { freePort } from './kafka-node.ts'
import { leased, shared } from './shared.ts'

/** DynamoDB Local as a plain process. */
export interface DynamoDb {
  readonly endpoint: string
  readonly pid: number
  stop(): Promise<void>
}

const PROGRAM: JavaProgram = {
  name: 'DynamoDB Local',
  version: '2.6.1',
  artifacts: ['com.amazonaws:DynamoDBLocal:2.6.1'],
}
const START_TIMEOUT_MS = 60_000

export const dynamodbAvailable = (): Available => jarsAvailable(PROGRAM)

const startShared = async ({
  detached,
}: {
  readonly detached: boolean
}): Promise<{ state: Pick<DynamoDb, 'endpoint'>; pids: number[] }> => {
  const { endpoint, pid } = await startDynamoDb({ detached })
  return { state: { endpoint }, pids: [pid] }
}

/** Returns the DynamoDB Local that all test files of a run share. Each test needs its own tables. */
export const sharedDynamoDb = (): Promise<Pick<DynamoDb, 'endpoint'>> => shared('dynamodb', startShared)

/** Leases a DynamoDB Local for tests of the program, whose tables have fixed names. No other test file uses it until the lease is released. */
export const leasedDynamoDb = () => leased('dynamodb', startShared)

/** Starts DynamoDB Local. If detached, it keeps running when this process ends, and the teardown of the test run stops it. */
export const startDynamoDb = async ({ detached = false }: { readonly detached?: boolean } = {}): Promise<DynamoDb> => {
  const jars = fetchJars(PROGRAM)
  const port = await freePort()
  const child = spawn(
    'java',
    [
      ...['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', join(jars, '*')],
      ...['com.amazonaws.services.dynamodbv2.local.main.ServerRunner', '-port', `${port}`],
      ...['-inMemory', '-sharedDb', '-disableTelemetry'],
    ],
    { detached, stdio: 'ignore', env: { ...process.env, DDB_LOCAL_TELEMETRY: '0' } },
  )
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = async () => {
    process.off('exit', kill)
    child.kill('SIGKILL')
    await exited
  }
  const kill = () => void child.kill('SIGKILL')
  // Without `detached`, the service must end with the test process, also if `stop` is not called.
  if (detached) child.unref()
  else process.once('exit', kill)
  const endpoint = `http://127.0.0.1:${port}`
  await untilReady(endpoint, child).catch(async (error: unknown) => {
    await stop()
    throw error
  })
  return { endpoint, pid: child.pid ?? 0, stop }
}

/** Waits until the service answers an unsigned GET with 400. */
const untilReady = async (endpoint: string, child: ChildProcess): Promise<void> => {
  const deadline = Date.now() + START_TIMEOUT_MS
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`DynamoDB Local ended with ${child.exitCode}`)
    const status = await fetch(endpoint).then(
      (answer) => answer.status,
      () => 0,
    )
    if (status === 400) return
    await sleep(50)
  }
  throw new Error(`DynamoDB Local did not answer at ${endpoint} within ${START_TIMEOUT_MS} ms`)
}
