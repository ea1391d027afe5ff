import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { expect, test } from 'vitest'
import { startLoad } from './load.ts'
import { describeOnServices } from './on-services.ts'
import { cleanEnv, newToken, run, startServer, runOk, until } from './program.ts'
import type { Env } from './program.ts'

const program = join(import.meta.dirname, '..', '..', 'bin', 'tributary.js')

interface Row {
  readonly generation: number
  readonly state: string
}

const rows = async (env: Env): Promise<readonly Row[]> =>
  (await runOk(['generations', 'meals', '--json'], env)).split('\n').map((line) => JSON.parse(line) as Row)

describeOnServices(
  'generations on Kafka and DynamoDB Local, with two processor processes',
  (services) => {
    test('under load a generation is rebuilt, killed while it writes items, resumed, flipped to, flipped back and dropped', async () => {
      const env = services.env({ TRIBUTARY_KAFKA_PARTITIONS: '4' })
      const servers = [
        await startServer(env, ['--roles', 'edge']),
        await startServer(env, ['--roles', 'processor,sender']),
        await startServer(env, ['--roles', 'processor,sender']),
      ] as const
      const [edge] = servers
      const tokens: string[] = []
      for (const user of ['ann', 'bob', 'cyd', 'dan']) tokens.push(await newToken(env, user))
      const load = startLoad({ url: () => edge.url, tokens, connections: 4 })
      const more = (acks: number) => {
        const enough = load.acked.size + acks
        return until(
          () => Promise.resolve(load.acked.size >= enough),
          () => `no progress at ${load.acked.size}; ${edge.stderr()}`,
          120_000,
        )
      }
      await more(150)

      // The limit of writes makes the rebuild so slow that the test can kill it while it writes to DynamoDB.
      const killed = spawn(
        process.execPath,
        [program, 'rebuild', 'meals', '--no-flip', '--yes', '--max-writes-per-second', '20'],
        { env: cleanEnv(env), stdio: 'ignore' },
      )
      const ended = once(killed, 'exit')
      await until(
        async () =>
          (
            await new DynamoDB({
              endpoint: services.dynamodb.endpoint,
              region: 'local',
              credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
            }).listTables({})
          ).TableNames?.includes('chatkcal.g2') === true,
        () => 'no table is made',
        120_000,
      )
      expect(await run(['rebuild', 'meals', '--yes'], env)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('rebuild-running'),
      })
      killed.kill('SIGKILL')
      await ended
      const resumed = await run(['rebuild', 'meals', '--resume', '--no-flip', '--yes', '--json'], env)
      expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining('"generation":2') })

      await more(20)
      expect(await runOk(['flip', 'meals'], env)).toContain('generation 2 of meals serves')
      await more(40)
      await runOk(['flip', 'meals', '--to', '1'], env)
      await more(20)
      await runOk(['flip', 'meals', '--to', '2'], env)
      await more(20)
      expect(await run(['generations', 'meals', '--drop', '2', '--yes'], env)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('generation-serving'),
      })
      expect(await run(['generations', 'meals', '--drop', '1', '--yes'], env)).toMatchObject({ code: 0 })
      await more(20)
      await load.stop()
      await load.settle(() => edge.url)
      expect(load.unexpected).toEqual([])
      expect(await rows(env)).toMatchObject([{ generation: 2, state: 'serving' }])
      expect(await run(['verify', 'meals', '--json'], env)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('"differences":[]'),
      })
      expect(await Promise.all(servers.map((server) => server.stop()))).toEqual([0, 0, 0])
    }, 600_000)
  },
  { long: true },
)
