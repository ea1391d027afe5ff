import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface KafkaNode {
  readonly id: number
  readonly address: string
  pid(): number
  isUp(): Promise<boolean>
  start(): Promise<void>
  /** Stops the node by SIGTERM: it first moves the leadership of its partitions to other nodes. */
  stop(): Promise<void>
  /** Kills the node by SIGKILL. */
  kill(): Promise<void>
  /** Pauses the node by SIGSTOP: it does nothing until `resume`, and its connections stay open. */
  pause(): void
  resume(): void
}

interface NodePlan {
  id: number
  port: number
  jars: string
  config: string
  output: string
  detached: boolean
}

const START_TIMEOUT_MS = 180_000
const JVM = [
  '-Xmx256m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Xshare:auto',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
]

export function createNode({ id, port, jars, config, output, detached }: NodePlan): KafkaNode {
  let child: ChildProcess | undefined
  let exited: Promise<void> = Promise.resolve()
  const killNow = () => void child?.kill('SIGKILL')

  const start = async (): Promise<void> => {
    const log = openSync(output, 'a')
    child = spawn('java', [...JVM, '-cp', join(jars, '*'), 'kafka.Kafka', config], {
      stdio: ['ignore', log, log],
      detached,
    })
    closeSync(log)
    const started = child
    exited = new Promise((resolve) => started.once('exit', () => resolve()))
    if (detached) started.unref()
    else process.once('exit', killNow)
    await untilOpen(port, () => {
      if (started.exitCode !== null || started.signalCode !== null)
        throw new Error(`Kafka node ${id} ended: ${readFileSync(output, 'utf8').slice(-2000)}`)
    })
  }
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    process.off('exit', killNow)
    child?.kill(signal)
    await exited
  }
  return {
    id,
    address: `127.0.0.1:${port}`,
    pid: () => child?.pid ?? 0,
    isUp: () => isOpen(port),
    start,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
  }
}

export async function untilOpen(port: number, check: () => void): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS
  while (Date.now() < deadline) {
    check()
    if (await isOpen(port)) return
    await sleep(50)
  }
  throw new Error(`nothing opened port ${port} within ${START_TIMEOUT_MS} ms`)
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
