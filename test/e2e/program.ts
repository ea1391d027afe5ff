import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, onTestFinished } from 'vitest'
import { messageOf } from '../../schemas/fault.ts'
import { folderOf, type Release } from './releases.ts'

const root = join(import.meta.dirname, '..', '..')

export type Env = Readonly<Record<string, string>>

/** The environment of this process without the variables that the program reads, and with the variables that the test sets. */
export const cleanEnv = (env: Env): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !name.startsWith('TRIBUTARY_') && name !== 'COLUMNS' && name !== 'FORCE_COLOR',
    ),
  ),
  NO_COLOR: '1',
  ...env,
})

export const freshFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-e2e-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The environment of a program whose fold fails at certain meals. `how`: see failing-fold.mjs. */
export const withFailingFold = (env: Env, how: string): Env => ({
  ...env,
  FAILING_FOLD: how,
  NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'failing-fold.mjs')).href}`,
})

/** The variable that names the release to run. Default: the built program. */
const RELEASE = 'TEST_RELEASE'

const ofRelease = (env: Env, release: Release): Env => ({ ...env, [RELEASE]: release })

/** The environment of a later release, in which a day begins at five in the morning instead of four. */
export const fiveAm = (env: Env): Env => ofRelease(env, 'five-am')

/** The environment of a later release, which detects no pours of less than half a gallon. */
export const largePours = (env: Env): Env => ofRelease(env, 'large-pours')

const launch = (args: readonly string[], { [RELEASE]: release, ...env }: Env): ChildProcess => {
  if (!existsSync(join(root, 'dist', 'cli', 'main.js'))) throw new Error('The program is not built: npm run build')
  const program = join(release === undefined ? root : folderOf(release as Release), 'bin', 'tributary.js')
  return spawn(process.execPath, [program, ...args], {
    env: cleanEnv(env),
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

export interface Ran {
  /** The exit code. Null if a signal ended the process. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Started {
  readonly ended: Promise<Ran>
  /** The text on stderr so far. */
  stderr(): string
  kill(signal: NodeJS.Signals): void
}

export const startCommand = (args: readonly string[], env: Env): Started => {
  const child = launch(args, env)
  const texts = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (texts.stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (texts.stderr += text))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...texts }))
  return { ended, stderr: () => texts.stderr, kill: (signal) => void child.kill(signal) }
}

/** Runs a command to its end in its own process. */
export const runProcess = (args: readonly string[], env: Env): Promise<Ran> => startCommand(args, env).ended

/** True if the command cannot run in the test process: `start` handles signals, and another release or NODE_OPTIONS change the loaded program. */
const needsProcess = ([command]: readonly string[], env: Env): boolean =>
  command === 'start' || RELEASE in env || 'NODE_OPTIONS' in env

/** Runs a command of the built program to its end. Runs it in the test process, which is much faster, unless it needs its own process. */
export const run = async (args: readonly string[], env: Env): Promise<Ran> => {
  if (needsProcess(args, env)) return runProcess(args, env)
  const { columnsIn, createOutput, runCommand } = await import('./built.mjs')
  const texts = { stdout: '', stderr: '' }
  const output = createOutput({
    out: { write: (text) => (texts.stdout += text) },
    err: { write: (text) => (texts.stderr += text) },
    color: false,
    columns: columnsIn(env),
    now: Date.now,
  })
  const code = await runCommand(
    { env: cleanEnv(env), input: Readable.from([]), output, signal: new AbortController().signal },
    args,
  )
  return { code, ...texts }
}

/** Runs a command that must succeed. Returns its stdout. */
export const runOk = async (args: readonly string[], env: Env): Promise<string> => {
  const { code, stdout, stderr } = await run(args, env)
  if (code !== 0) throw new Error(`tributary ${args.join(' ')} ended with ${code}: ${stderr}`)
  return stdout.trim()
}

export interface Server {
  readonly pid: number
  readonly url: string
  readonly admin: string
  /** The address of the built-in broker. Empty if the broker does not run. */
  readonly mqtt: string
  stderr(): string
  kill(signal: NodeJS.Signals): void
  /** Resolves to the exit code, or to the signal that ended the program. */
  readonly ended: Promise<number | NodeJS.Signals>
  /** Stops the program with SIGTERM. */
  stop(): Promise<number | NodeJS.Signals>
}

/** Starts the built program on free ports. Resolves when it is ready. `atEnd` receives the function that kills it. Default: `onTestFinished`. */
export const startServer = async (
  env: Env,
  args: readonly string[] = [],
  atEnd: (kill: () => Promise<void>) => void = onTestFinished,
): Promise<Server> => {
  const child = launch(['start', ...args], {
    TRIBUTARY_HTTP: '127.0.0.1:0',
    TRIBUTARY_ADMIN: '127.0.0.1:0',
    TRIBUTARY_MQTT: '127.0.0.1:0',
    TRIBUTARY_LOG_LEVEL: 'warn',
    TRIBUTARY_RATE_LIMIT: 'off',
    ...env,
  })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals)
  atEnd(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await ended
  })
  const { url, admin, mqtt } = await greetingOf(child, ended, () => stderr)
  const died = ended.then((how) => {
    throw new Error(`the server ended (${how}): ${stderr}`)
  })
  await Promise.race([
    until(
      async () => (await fetch(`${admin}/readyz`)).ok,
      () => `not ready: ${stderr}`,
    ),
    died,
  ])
  const stop = async (): Promise<number | NodeJS.Signals> => {
    child.kill('SIGTERM')
    return ended
  }
  return {
    pid: child.pid ?? 0,
    url,
    admin,
    mqtt,
    stderr: () => stderr,
    kill: (signal) => void child.kill(signal),
    ended,
    stop,
  }
}

/** The time limit for stopping a shared server, in milliseconds. A server that works ends much earlier. */
const STOP_BOUND_MS = 60_000

/**
 * Returns a function that gives the tests of a file one server. The first call runs `prepare` on an empty data folder, and starts the server on it.
 * After the last test the server is stopped, and must end with 0. Call `sharedServer` outside of tests. Tests that share a server do not stop it
 * and do not rebuild its domains, and each test has its own users, locations and devices.
 */
export const sharedServer = <T>(
  prepare?: (env: Env) => Promise<T>,
): (() => Promise<{ readonly env: Env; readonly server: Server; readonly made: T }>) => {
  let shared: ReturnType<typeof start> | undefined
  const cleanups: (() => Promise<void> | void)[] = []
  const start = async () => {
    const env = { TRIBUTARY_DATA: mkdtempSync(join(tmpdir(), 'tributary-e2e-')) }
    cleanups.push(() => rmSync(env.TRIBUTARY_DATA, { recursive: true, force: true }))
    const made = (await prepare?.(env)) as T
    return { env, made, server: await startServer(env, [], (kill) => void cleanups.push(kill)) }
  }
  afterAll(async () => {
    // If the server did not start, a test has failed already, and there is nothing to stop.
    const server = await shared?.then(
      (started) => started.server,
      () => undefined,
    )
    const bound = setTimeout(() => server?.kill('SIGKILL'), STOP_BOUND_MS)
    const how = await server?.stop()
    clearTimeout(bound)
    for (const clean of cleanups.toReversed()) await clean()
    if (how !== undefined) expect(how, server?.stderr()).toBe(0)
  })
  return () => (shared ??= start())
}

const greetingOf = async (
  child: ChildProcess,
  ended: Promise<unknown>,
  stderr: () => string,
): Promise<Pick<Server, 'url' | 'admin' | 'mqtt'>> => {
  let [url, mqtt] = ['', '']
  const lines = async (): Promise<Pick<Server, 'url' | 'admin' | 'mqtt'>> => {
    if (child.stdout === null) throw new Error('no stdout')
    for await (const line of createInterface({ input: child.stdout })) {
      url = /listens on (http:\S+)/.exec(line)?.[1] ?? url
      mqtt = /^mqtt:\s+(mqtt:\S+)/.exec(line)?.[1] ?? mqtt
      const admin = /^admin:\s+(http:\S+)\/readyz/.exec(line)?.[1]
      if (admin !== undefined) return { url, admin, mqtt }
    }
    throw new Error(`the server ended (${String(await ended)}): ${stderr()}`)
  }
  return lines()
}

/** Requests `/readyz` and returns the status and the text of the answer. */
export const readiness = async ({ admin }: Pick<Server, 'admin'>) => {
  const answer = await fetch(`${admin}/readyz`)
  return { status: answer.status, text: await answer.text() }
}

/** Waits until `isMet` returns true. After `timeoutMs`, fails with the text of `otherwise`. */
export const until = async (
  isMet: () => Promise<boolean>,
  otherwise: () => string,
  timeoutMs = 60_000,
): Promise<void> => {
  let last = ''
  const failed = (error: unknown): boolean => {
    last = `: ${messageOf(error)}`
    return false
  }
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await delay(20))
    if (await isMet().catch(failed)) return
  throw new Error(`${otherwise()}${last}`)
}

/** Runs `tributary status`, and returns the row of the domain. */
export const statusOf = async <Row = Readonly<Record<string, unknown>>>(env: Env, domain = 'meals'): Promise<Row> => {
  const { code, stdout, stderr } = await run(['status', '--json'], env)
  if (stdout === '') throw new Error(`tributary status ended with ${code}: ${stderr}`)
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly domain: string })
  return rows.find((row) => row.domain === domain) as Row
}

export const newToken = (env: Env, user: string, scopes = 'read,write'): Promise<string> =>
  runOk(['token', 'create', '--user', user, '--scopes', scopes], env)

export interface Client {
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: { readonly [name: string]: unknown }
}

export const client = (url: string, token: string): Client => {
  const send: Client['send'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? {} : (JSON.parse(text) as Answer['body']),
    }
  }
  return {
    send,
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body, headers) => send('POST', path, body, headers),
  }
}

export const meal = (index: number, day = '2026-11-16') => ({
  mealSummary: `Meal ${index}`,
  eatenAt: `${day}T${String(6 + (index % 12)).padStart(2, '0')}:${String(index % 60).padStart(2, '0')}:00Z`,
  tz: 'UTC',
  calories: 100 + (index % 7) / 8,
  protein: 10.125,
  carbs: 20,
  fat: 5.5,
})
