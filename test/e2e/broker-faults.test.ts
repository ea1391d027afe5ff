import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import {
  codesIn,
  committedOffsets,
  processesOn,
  GROUP,
  isReady,
  leaderOf,
  metricOf,
  needForOffsets,
  notReady,
  statusOf,
  untilWhole,
  withAdmin,
} from './processes-under-load.ts'
import { progress, progressOnEveryKey } from './load.ts'
import { describeOnOwnServices } from './on-services.ts'
import { client, meal, run, until } from './program.ts'

const OUTAGE_MS = 60_000
const TIMEOUT_MS = 600_000
const ZOMBIES = 15
const REFUSED_MS = 60_000
const MAX_ATTEMPTS = 3
const NODES = [0, 1, 2]

/**
 * Each record has three replicas, and Kafka acknowledges it when two of them contain it. After each fault, every acknowledged event exists once,
 * and the items equal their fold.
 */
describeOnOwnServices(
  'three brokers, an edge and two processors under load',
  (services) => {
    // Starts brokers that a failed test left stopped, so that it does not affect the next test.
    afterEach(async () => {
      for (const index of NODES)
        if (!(await services.kafka.node(index).isUp())) await services.kafka.node(index).start()
    })
    const startProcesses = processesOn(services)
    const committing = (since: readonly string[]): Promise<void> =>
      until(
        async () => (await committedOffsets(services.kafka)).every((offset) => !since.includes(offset)),
        () => `no offsets are committed after ${since.join(', ')}`,
      )

    test(
      'the leader of a partition is killed and restarted; doctor names it meanwhile',
      async () => {
        const { env, edge, load, users, finish } = await startProcesses('2026-10-01')
        await progress(load, edge, 40)
        const leader = await leaderOf(services.kafka, 0)
        await leader.kill()
        await progressOnEveryKey(load, edge, users)
        const doctor = await run(['doctor'], env)
        expect(doctor).toMatchObject({
          code: 1,
          stdout: expect.stringMatching(new RegExp(`BAD +Kafka ${leader.address}`)),
        })
        expect(doctor.stdout).toMatch(/ok +pipeline/)
        await until(
          () => isReady(edge),
          () => `two brokers are enough to be ready: ${edge.stderr()}`,
        )
        await leader.start()
        await untilWhole(services.kafka)
        await progressOnEveryKey(load, edge, users)
        await finish()
      },
      TIMEOUT_MS,
    )

    test(
      'every broker is restarted normally, one after another',
      async () => {
        const { edge, load, users, finish } = await startProcesses('2026-10-02')
        for (const index of NODES) {
          await progress(load, edge, 30)
          await services.kafka.node(index).stop()
          await progressOnEveryKey(load, edge, users)
          await services.kafka.node(index).start()
          await untilWhole(services.kafka)
        }
        await finish()
      },
      TIMEOUT_MS,
    )

    test(
      'processors are killed, join and leave during batches',
      async () => {
        const {
          edge,
          processors: [first, second],
          load,
          users,
          addProcessor,
          finish,
        } = await startProcesses('2026-10-03')
        await progress(load, edge, 40)
        first?.kill('SIGKILL')
        await progressOnEveryKey(load, edge, users)
        const third = await addProcessor()
        await progress(load, edge, 20)
        const fourth = await addProcessor()
        await progress(load, edge, 20)
        expect(await third.stop()).toBe(0)
        await progress(load, edge, 20)
        second?.kill('SIGKILL')
        await progressOnEveryKey(load, edge, users)
        await finish()
        expect(await fourth.stop()).toBe(0)
      },
      TIMEOUT_MS,
    )

    test(
      'a processor that was paused for longer than its session continues with old items: its writes are fenced off, and no event is doubled',
      async () => {
        const {
          edge,
          processors: [zombie],
          load,
          users,
          finish,
        } = await startProcesses('2026-10-04')
        if (zombie === undefined) throw new Error('no processor')
        // Counts the rejected writes of the paused process. A write is rejected by the moved checkpoint, or by the position of an item.
        const refused = async () =>
          (await metricOf(zombie, 'tributary_fold_conflicts_total')) +
          codesIn(zombie).filter((code) => code === 'checkpoint-moved').length
        await progress(load, edge, 40)
        // The group session of the processor must end after it has loaded items and before it commits. A paused DynamoDB makes it wait there.
        for (let attempts = 0; attempts < ZOMBIES && (await refused()) === 0; attempts += 1) {
          process.kill(services.dynamodb.pid, 'SIGSTOP')
          await delay(20)
          zombie.kill('SIGSTOP')
          process.kill(services.dynamodb.pid, 'SIGCONT')
          await progressOnEveryKey(load, edge, users)
          zombie.kill('SIGCONT')
          await until(
            () => isReady(zombie),
            () => `the resumed processor is not ready: ${zombie.stderr()}`,
          )
          await progressOnEveryKey(load, edge, users)
        }
        expect(await refused()).toBeGreaterThan(0)
        await finish()
      },
      TIMEOUT_MS,
    )

    test(
      'commits of offsets are rejected and the processors die: the checkpoints in the tables are enough',
      async () => {
        const { edge, processors, load, users, addProcessor, finish } = await startProcesses('2026-10-05')
        await progress(load, edge, 40)
        await services.kafka.node(2).stop()
        const refused = (): boolean => processors.some((each) => codesIn(each).includes('offsets-refused'))
        try {
          // The test waits for a rejected commit. While Kafka rejects offsets, a group without coordinator cannot form again, and does not commit.
          // So each attempt first lets Kafka accept offsets until the group has committed, and then lets Kafka reject them.
          for (let attempts = 1; !refused(); attempts += 1) {
            await needForOffsets(services.kafka, 2)
            await committing(await committedOffsets(services.kafka))
            await needForOffsets(services.kafka, 3)
            await until(
              async () => refused(),
              () => `no process reports that commits are refused: ${edge.stderr()}`,
              REFUSED_MS,
            ).catch((error: unknown) => {
              if (attempts === MAX_ATTEMPTS) throw error
            })
          }
          for (const each of processors) each.kill('SIGKILL')
        } finally {
          await needForOffsets(services.kafka, 2)
        }
        await addProcessor()
        await addProcessor()
        await progressOnEveryKey(load, edge, users)
        await committing(await committedOffsets(services.kafka))
        await services.kafka.node(2).start()
        await untilWhole(services.kafka)
        await finish()
      },
      TIMEOUT_MS,
    )

    test(
      'the offsets of the group have expired while no processor ran',
      async () => {
        const { env, edge, processors, load, users, addProcessor, finish } = await startProcesses('2026-10-06')
        await progress(load, edge, 40)
        expect(await Promise.all(processors.map((each) => each.stop()))).toEqual([0, 0])
        await until(
          async () => (await statusOf(env)).lagEvents > 0,
          () => 'nothing is appended without processors',
        )
        await withAdmin(services.kafka, (admin) => admin.deleteGroups([GROUP]))
        expect(await committedOffsets(services.kafka)).toEqual(NODES.concat(3).map((partition) => `${partition}:-1`))
        await addProcessor()
        await addProcessor()
        await progressOnEveryKey(load, edge, users)
        await finish()
      },
      TIMEOUT_MS,
    )

    test(
      'all brokers are down for a minute: every process reports it, and continues by itself afterwards',
      async () => {
        const { env, edge, processors, load, tokens, users, finish } = await startProcesses('2026-10-07')
        await progress(load, edge, 40)
        const gone = Date.now()
        await Promise.all(NODES.map((index) => services.kafka.node(index).kill()))
        for (const each of [edge, ...processors])
          await until(
            async () => (await notReady(each)) !== undefined,
            () => 'it goes on being ready without a log',
          )
        expect(await notReady(edge)).toMatch(/log|Kafka/)
        for (const each of processors)
          await until(
            () => Promise.resolve(codesIn(each).includes('log-unavailable')),
            () => `it does not report the cause: ${each.stderr()}`,
          )
        const refused = await client(edge.url, tokens[0] ?? '').post('/v1/meals', meal(1), {
          'idempotency-key': 'while-all-are-gone',
        })
        expect({ status: refused.status, code: refused.body['code'] }).toEqual({
          status: 503,
          code: expect.stringMatching(/^(log-unavailable|append-unknown)$/),
        })
        const doctor = await run(['doctor'], env)
        expect(doctor.code).toBe(1)
        for (const address of services.kafka.brokers) expect(doctor.stdout).toMatch(new RegExp(`BAD +Kafka ${address}`))
        await delay(Math.max(0, gone + OUTAGE_MS - Date.now()))
        await Promise.all(NODES.map((index) => services.kafka.node(index).start()))
        await progressOnEveryKey(load, edge, users)
        for (const each of [edge, ...processors])
          await until(
            () => isReady(each),
            () => `not ready again: ${each.stderr()}`,
          )
        await untilWhole(services.kafka)
        await finish()
      },
      TIMEOUT_MS,
    )
  },
  { nodes: 3, long: true },
)
