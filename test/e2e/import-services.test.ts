import { expect, test } from 'vitest'
import { rawRecords } from '../services/raw-topic.ts'
import {
  expenseRows,
  importAfterChanges,
  importAgain,
  importSpliitAgain,
  importTwiceAtOnce,
  mealRows,
} from './imports.ts'
import { describeOnServices } from './on-services.ts'
import { client, meal, newToken, run, startServer, runOk, until } from './program.ts'

const TIMEOUT = 180_000

describeOnServices('on Kafka and DynamoDB, a repeated import', (services) => {
  test(
    'appends no event, in any order and in parts, and restores nothing',
    async () => {
      const env = services.env({ TRIBUTARY_KAFKA_PARTITIONS: '2' })
      const server = await startServer(env)
      await importAgain(env, 'expenses', expenseRows(10))
      await importSpliitAgain(env)
      await importAfterChanges(env, server)
      await importAgain(env, 'meals', mealRows(20))
      expect(await run(['verify'], env)).toMatchObject({ code: 0 })
      await server.stop()
    },
    TIMEOUT,
  )

  test(
    'by two processes at the same time appends each event once',
    async () => {
      const env = services.env()
      const server = await startServer(env)
      await importTwiceAtOnce(env)
      await server.stop()
    },
    TIMEOUT,
  )

  test(
    'every record of every topic has CloudEvents headers, independent of the part that appended it',
    async () => {
      const env = services.env()
      const server = await startServer(env)
      const ann = client(server.url, await newToken(env, 'ann-lee'))
      expect((await ann.post('/v1/meals', meal(1))).status).toBe(201)
      const bar = client(
        server.url,
        await runOk(['token', 'create', '--user', 'bo-west', '--domain', 'scales', '--scopes', 'read,write'], env),
      )
      expect((await bar.post('/v1/locations/loc-001/devices', { device_id: 'SCALE-0042' })).status).toBe(201)
      await runOk(['forget', '--subject', 'ann-lee', '--yes'], env)
      await until(
        async () =>
          (await rawRecords(services.kafka.brokers, 'scales.events')).some(
            ({ headers }) => headers['ce_type'] === 'DeviceRegistered',
          ),
        () => 'no derived event',
      )
      const sources = new Set<string>()
      for (const topic of ['meals.events', 'scales.events', 'expenses.events']) {
        for (const { key, headers } of await rawRecords(services.kafka.brokers, topic)) {
          for (const name of [
            'ce_specversion',
            'ce_id',
            'ce_source',
            'ce_type',
            'ce_time',
            'ce_dataschema',
            'content-type',
          ])
            expect(headers, `${topic} ${key}`).toHaveProperty([name])
          expect(headers['ce_subject'] ?? key).toBe(key)
          expect(JSON.stringify(headers)).not.toMatch(/ann-lee|bo-west/)
          sources.add(headers['ce_source'] ?? '')
        }
      }
      expect([...sources]).toEqual(
        expect.arrayContaining([
          'urn:tributary:meals:edge',
          'urn:tributary:scales:edge',
          'urn:tributary:scales:derived',
          'urn:tributary:meals:forget',
        ]),
      )
    },
    TIMEOUT,
  )
})
