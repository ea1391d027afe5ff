import { expect, test } from 'vitest'
import { meals } from '../../processors/meals/domain.ts'
import { withAdmin } from './processes-under-load.ts'
import { describeOnServices } from './on-services.ts'
import { client, meal, newToken, readiness, run, startServer, statusOf, until } from './program.ts'
import type { Env, Server } from './program.ts'

const TOPIC = 2

const isReported =
  ({ stderr }: Server) =>
  async (): Promise<boolean> =>
    stderr()
      .split('\n')
      .some((line) => line.startsWith('{') && line.includes('"level":"error"') && line.includes('"code":"log-trimmed"'))

const metrics = async ({ admin }: Server): Promise<string> => (await fetch(`${admin}/metrics`)).text()

describeOnServices('a log from which events are removed, on Kafka and DynamoDB Local', (services) => {
  const setRetention = (ms: string) =>
    withAdmin(services.kafka, (admin) =>
      admin.alterConfigs({
        validateOnly: false,
        // Kafka resets the settings that this request does not name.
        resources: [
          {
            type: TOPIC,
            name: meals.topic,
            configEntries: [
              { name: 'retention.ms', value: ms },
              { name: 'message.timestamp.type', value: 'LogAppendTime' },
            ],
          },
        ],
      }),
    )

  test('every process and command reports it, reads that need the removed events fail, and folding continues', async () => {
    const env: Env = services.env({ TRIBUTARY_KAFKA_PARTITIONS: '1' })
    const [processor, edge] = [
      await startServer(env, ['--roles', 'processor,sender,timers']),
      await startServer(env, ['--roles', 'edge']),
    ]
    const ann = client(edge.url, await newToken(env, 'ann'))
    for (const index of [1, 2, 3]) expect((await ann.post('/v1/meals', meal(index))).status).toBe(201)
    const { items } = (await ann.get('/v1/meals?day=2026-11-16')).body as {
      readonly items: readonly { readonly id: string }[]
    }
    expect(items).toHaveLength(3)
    expect(await metrics(edge)).toContain('tributary_log_trimmed{domain="meals"} 0')
    expect(await run(['doctor'], env)).toMatchObject({ code: 0 })

    await setRetention('3600000')
    const removes = `topic ${meals.topic} removes events (retention.ms=3600000): set retention.ms=-1`
    await until(
      async () => (await run(['doctor'], env)).stdout.includes(removes),
      () => 'doctor does not report the retention',
    )
    const warned = await startServer(env, ['--roles', 'edge'])
    expect(warned.stderr()).toContain(removes)
    expect(await warned.stop()).toBe(0)
    await setRetention('-1')

    await withAdmin(services.kafka, async (admin) => {
      // Loads the metadata of the topic, because deleteTopicRecords deletes only from topics whose metadata is loaded.
      await admin.fetchTopicOffsets(meals.topic)
      await admin.deleteTopicRecords({ topic: meals.topic, partitions: [{ partition: 0, offset: '3' }] })
    })
    for (const server of [processor, edge]) await until(isReported(server), () => `not reported: ${server.stderr()}`)
    const text = `the first 3 events of ${meals.topic} partition 0`
    expect(await readiness(processor)).toEqual({ status: 503, text: expect.stringContaining(text) as string })
    expect(await readiness(edge)).toEqual({ status: 200, text: expect.stringContaining(text) as string })
    for (const server of [processor, edge]) {
      expect(await metrics(server)).toContain('tributary_log_trimmed{domain="meals"} 1')
      expect(await metrics(server)).toContain('tributary_log_trimmed{domain="scales"} 0')
    }
    expect(await run(['status'], env)).toMatchObject({ code: 1, stdout: expect.stringContaining(text) })
    expect(await statusOf(env)).toMatchObject({ trimmed: [{ partition: 0, low: 3 }] })
    expect(await run(['doctor'], env)).toMatchObject({ code: 1, stdout: expect.stringContaining(text) })

    const refused = { code: 1, stderr: expect.stringContaining('log-trimmed: ') }
    for (const args of [
      ['explain', 'meals', 'USER#ann', 'SUMMARY#2026-11-16'],
      ['events', '--domain', 'meals'],
      ['events', '--domain', 'meals', '--key', 'ann'],
      ['verify', 'meals'],
      ['verify', 'meals', '--sample', '5'],
      ['rebuild', 'meals', '--yes'],
      ['rebuild', 'meals', '--diff'],
      ['cost'],
    ]) {
      expect(await run(args, env), args.join(' ')).toMatchObject({ ...refused, stdout: '' })
    }
    expect((await run(['generations', 'meals', '--json'], env)).stdout.trim().split('\n')).toHaveLength(1)
    expect(await run(['events', '--domain', 'expenses'], env)).toMatchObject({ code: 0 })

    expect((await ann.post('/v1/meals', meal(4))).status).toBe(201)
    expect((await ann.get('/v1/meals?day=2026-11-16')).body['items']).toHaveLength(4)
    expect(await Promise.all([processor.stop(), edge.stop()])).toEqual([0, 0])
  }, 600_000)
})
