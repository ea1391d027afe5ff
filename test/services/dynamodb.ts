import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Available } from './available.ts'
import { freePort } from './kafka-node.ts'
import { shared } from './shared.ts'

/** DynamoDB Local as a plain process: its jars come through Maven once and stay in .cache/ of the repository. */
export interface DynamoDb {
  readonly endpoint: string
  readonly pid: number
  stop(): Promise<void>
}

const VERSION = '2.6.1'
const POM = fileURLToPath(new URL('pom-dynamodb.xml', import.meta.url))
const CACHE = fileURLToPath(new URL('../../.cache/', import.meta.url))
const JARS = join(CACHE, `dynamodb-local-${VERSION}`)
const START_TIMEOUT_MS = 60_000

export const dynamodbAvailable = (): Available => {
  if (!answers('java', '-version')) return { ok: false, how: 'DynamoDB Local needs Java 17 or later on the PATH' }
  if (existsSync(JARS) || answers('mvn', '-v')) return { ok: true }
  return { ok: false, how: 'DynamoDB Local needs Maven on the PATH to fetch its jars (once)' }
}

/** The one that all test files of a run share; each test takes tables of its own. */
export const sharedDynamoDb = (): Promise<Pick<DynamoDb, 'endpoint'>> =>
  shared('dynamodb', async ({ detached }) => {
    const { endpoint, pid } = await startDynamoDb({ detached })
    return { state: { endpoint }, pids: [pid] }
  })

/** Detached: left running when this process ends; whoever shares it stops it. */
export const startDynamoDb = async ({ detached = false }: { readonly detached?: boolean } = {}): Promise<DynamoDb> => {
  const jars = fetchJars()
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
  // A test process that ends without stopping it must not leave it behind.
  if (detached) child.unref()
  else process.once('exit', kill)
  const endpoint = `http://127.0.0.1:${port}`
  await untilReady(endpoint, child).catch(async (error: unknown) => {
    await stop()
    throw error
  })
  return { endpoint, pid: child.pid ?? 0, stop }
}

/** Fetched aside and renamed, so that two test processes at once end with one whole folder. */
const fetchJars = (): string => {
  if (existsSync(JARS)) return JARS
  mkdirSync(CACHE, { recursive: true })
  const aside = mkdtempSync(join(CACHE, 'dynamodb-local-'))
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'
  const maven = spawnSync('mvn', ['-q', '-B', '-ntp', '-f', POM, goal, '-DincludeScope=runtime', `-DoutputDirectory=${aside}`], { encoding: 'utf8' })
  if (maven.status !== 0) {
    rmSync(aside, { recursive: true, force: true })
    throw new Error(`Maven could not fetch DynamoDB Local ${VERSION}: ${maven.stdout}${maven.stderr}`)
  }
  try {
    renameSync(aside, JARS)
  } catch (error) {
    rmSync(aside, { recursive: true, force: true })
    if (!existsSync(JARS)) throw error
  }
  return JARS
}

/** An unsigned GET is answered with 400 as soon as it serves. */
const untilReady = async (endpoint: string, child: ChildProcess): Promise<void> => {
  const deadline = Date.now() + START_TIMEOUT_MS
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`DynamoDB Local ended with ${child.exitCode}`)
    const status = await fetch(endpoint).then((answer) => answer.status, () => 0)
    if (status === 400) return
    await sleep(50)
  }
  throw new Error(`DynamoDB Local did not answer at ${endpoint} within ${START_TIMEOUT_MS} ms`)
}

const answers = (command: string, argument: string): boolean => spawnSync(command, [argument], { stdio: 'ignore' }).status === 0
