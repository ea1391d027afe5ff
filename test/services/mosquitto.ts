import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { withoutServices, type Available } from './available.ts'
import { freePort, untilOpen } from './kafka-node.ts'
import { probedOnce } from './shared.ts'

/** The possible paths of Mosquitto. On Debian, only the PATH of root contains its folder. */
const PATHS = ['mosquitto', '/usr/sbin/mosquitto', '/usr/local/sbin/mosquitto']

const found = (): string | undefined =>
  probedOnce('mosquitto', () => PATHS.find((path) => spawnSync(path, ['-h'], { stdio: 'ignore' }).error === undefined))

export const mosquittoAvailable = (): Available =>
  withoutServices() ??
  (found() === undefined ? { ok: false, how: 'install Mosquitto (Debian: apt-get install mosquitto)' } : { ok: true })

export interface Mosquitto {
  readonly url: string
  /** Kills the broker by SIGKILL. `start` starts it again with its stored messages. */
  kill(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

export interface MosquittoOptions {
  readonly users?: Readonly<Record<string, string>>
  /** The lines of the ACL file. */
  readonly acl?: readonly string[]
}

export async function startMosquitto({ users = {}, acl }: MosquittoOptions = {}): Promise<Mosquitto> {
  const program = found() ?? 'mosquitto'
  const folder = mkdtempSync(join(tmpdir(), 'tributary-mosquitto-'))
  const port = await freePort()
  const [config, passwords, rights] = ['mosquitto.conf', 'passwords', 'acl'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(passwords, '', { mode: 0o600 })
  for (const [user, password] of Object.entries(users)) {
    const { status, stderr } = spawnSync('mosquitto_passwd', ['-b', passwords, user, password], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`mosquitto_passwd: ${stderr}`)
  }
  if (acl) writeFileSync(rights, `${acl.join('\n')}\n`, { mode: 0o600 })
  writeFileSync(
    config,
    [
      `listener ${port} 127.0.0.1`,
      `user ${userInfo().username}`,
      'persistence true',
      `persistence_location ${folder}/`,
      'autosave_on_changes true',
      'autosave_interval 1',
      ...(Object.keys(users).length > 0
        ? ['allow_anonymous false', `password_file ${passwords}`]
        : ['allow_anonymous true']),
      ...(acl ? [`acl_file ${rights}`] : []),
      '',
    ].join('\n'),
  )
  let child: ChildProcess | undefined
  let exited: Promise<unknown> = Promise.resolve()
  const killNow = () => void child?.kill('SIGKILL')
  process.once('exit', killNow)
  const start = async (): Promise<void> => {
    const started = spawn(program, ['-c', config], { stdio: 'ignore' })
    child = started
    exited = new Promise((resolve) => started.once('exit', resolve))
    await untilOpen(port, () => {
      if (started.exitCode !== null) throw new Error(`Mosquitto ended with ${started.exitCode}`)
    })
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child?.kill(signal)
    await exited
  }
  await start()
  return {
    url: `mqtt://127.0.0.1:${port}`,
    start,
    kill: () => end('SIGKILL'),
    async stop() {
      process.off('exit', killNow)
      await end('SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
