import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { ROLES, untilWhole } from './processes-under-load.ts'
import { describeOnOwnServices } from './on-services.ts'
import { startServer, until } from './program.ts'
import type { Server } from './program.ts'

const NODES = [0, 1, 2]
/** The program ends at most 25 s after SIGTERM. A process that still runs after this time counts as spinning. */
const STOP_BOUND_MS = 60_000
const WINDOW_MS = 4_000
/** The maximum share of one core that an idle process may use. */
const IDLE_SHARE = 0.5
const TICKS_PER_SECOND = 100
const TIMEOUT_MS = 900_000

/** The processor time that a process has used so far, in seconds. */
const cpuSecondsOf = ({ pid }: Server): number => {
  // The second field is the name in parentheses, which may contain spaces. So the text is cut after it, and fields[0] is the third field.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

const shareOf = async (server: Server): Promise<number> => {
  const [from, cpu] = [performance.now(), cpuSecondsOf(server)]
  await delay(WINDOW_MS)
  return (cpuSecondsOf(server) - cpu) / ((performance.now() - from) / 1000)
}

/** Stops the process. Resolves to its exit code, or to `spins` if it does not end within STOP_BOUND_MS. */
const stopped = async (server: Server): Promise<unknown> => {
  const late = new AbortController()
  const bound = delay(STOP_BOUND_MS, 'spins', { signal: late.signal, ref: false }).catch(() => 'ended')
  try {
    return await Promise.race([server.stop(), bound])
  } finally {
    late.abort()
  }
}

describeOnOwnServices(
  'three brokers are restarted in turn while processors join and stop',
  (services) => {
    afterEach(async () => {
      for (const index of NODES)
        if (!(await services.kafka.node(index).isUp())) await services.kafka.node(index).start()
    })

    test.skipIf(process.platform !== 'linux')(
      'every process ends in time, and no process uses a whole core',
      async () => {
        const env = services.env({ TRIBUTARY_KAFKA_PARTITIONS: '4', TRIBUTARY_KAFKA_SESSION_MS: '6000' })
        const staying = [await startServer(env, ['--roles', 'edge']), await startServer(env, ROLES)]
        let leaving = [await startServer(env, ROLES), await startServer(env, ROLES)]
        const ends: unknown[] = []
        for (const index of NODES) {
          const [first, second] = leaving as [Server, Server]
          // kafkajs rebuilds its fetchers when a broker leaves and when it returns. The test stops one process during each of the two.
          const gone = services.kafka.node(index).stop()
          await delay(500 * index)
          ends.push(await stopped(first))
          await gone
          await services.kafka.node(index).start()
          const ending = stopped(second)
          leaving = [await startServer(env, ROLES), await startServer(env, ROLES)]
          ends.push(await ending)
          await untilWhole(services.kafka)
        }
        // The exit code is 0, or 1 if the stop reached its time limit. A process that spins does not end.
        for (const end of ends) expect([0, 1]).toContain(end)
        const running = [...staying, ...leaving]
        for (const server of running)
          await until(
            async () => (await shareOf(server)) < IDLE_SHARE,
            () => `a process keeps a core busy: ${server.stderr()}`,
            120_000,
          )
        expect(await Promise.all(running.map(stopped))).toEqual(running.map(() => 0))
      },
      TIMEOUT_MS,
    )
  },
  { nodes: 3, long: true },
)
