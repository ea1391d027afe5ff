import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const program = fileURLToPath(new URL('../../bin/tributary.js', import.meta.url))

export interface Server {
  readonly url: string
  readonly admin?: string
  readonly mqtt?: string
  stop(): Promise<void>
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

const stopping = (child: ChildProcess) => async () => {
  if (child.exitCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

/** Starts one of the bare scripts of this folder, and waits until it has printed its address. */
export const startBare = async (script: 'bare-server' | 'bare-broker', ...args: readonly string[]): Promise<Server> => {
  const child = spawn(process.execPath, [fileURLToPath(new URL(`./${script}.js`, import.meta.url)), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { url, mqtt: url, stop: stopping(child) }
}

/** Starts the built program as a user does, and waits until it is ready. */
export const startTributary = async (env: Readonly<Record<string, string>>): Promise<Server> => {
  const [http, admin, mqtt] = [await freePort(), await freePort(), await freePort()]
  const settings = {
    TRIBUTARY_RATE_LIMIT: 'off',
    ...env,
    TRIBUTARY_HTTP: `127.0.0.1:${http}`,
    TRIBUTARY_ADMIN: `127.0.0.1:${admin}`,
    TRIBUTARY_MQTT: `127.0.0.1:${mqtt}`,
    TRIBUTARY_LOG_LEVEL: 'warn',
  }
  const child = spawn(process.execPath, [program, 'start'], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const server = {
    url: `http://127.0.0.1:${http}`,
    admin: `http://127.0.0.1:${admin}`,
    mqtt: `mqtt://127.0.0.1:${mqtt}`,
    stop: stopping(child),
  }
  for (;;) {
    if (child.exitCode !== null) throw new Error(`tributary start ended with ${child.exitCode}`)
    const answer = await fetch(`${server.admin}/readyz`).catch(() => undefined)
    if (answer?.ok) return server
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Runs a command of the built program, and returns its standard output. */
export const runTributary = async (env: Readonly<Record<string, string>>, args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, [program, ...args], { env: { ...process.env, ...env } })).stdout

export const makeToken = async (
  env: Readonly<Record<string, string>>,
  user: string,
  domain = 'meals',
): Promise<string> =>
  (
    JSON.parse(await runTributary(env, ['token', 'create', '--user', user, '--domain', domain, '--json'])) as {
      token: string
    }
  ).token
