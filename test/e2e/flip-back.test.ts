import { describe, expect, test } from 'vitest'
import { prepared } from '../prepared.ts'
import { client, withFailingFold, fiveAm, meal, newToken, run, startServer, statusOf } from './program.ts'
import type { Client } from './program.ts'

const log = async (who: Client, index: number, fields: object = {}): Promise<void> =>
  expect(await who.post('/v1/meals', { ...meal(index), ...fields })).toMatchObject({ status: 201 })

const mealsOfDay = async (who: Client): Promise<unknown> =>
  (
    (await who.get('/v1/summaries?from=2026-11-16&to=2026-11-16')).body['items'] as readonly {
      readonly mealCount: number
    }[]
  )[0]?.mealCount

/** A data folder in which the older release has created a token and logged a meal. */
const older = prepared(async (folder) => {
  const env = { TRIBUTARY_DATA: folder }
  const server = await startServer(env)
  const token = await newToken(env, 'ann')
  await log(client(server.url, token), 1)
  expect(await server.stop()).toBe(0)
  return token
})

describe('back to an older release, embedded', { timeout: 240_000 }, () => {
  test('the older release serves its own generation with the events of the newer one, and the newer release then serves its own again', async () => {
    const { folder, made: token } = await older()
    const env = { TRIBUTARY_DATA: folder }
    const newer = await startServer(fiveAm(env))
    await log(client(newer.url, token), 2)
    await log(client(newer.url, token), 3)

    const next = /Stop it and run tributary start of the release with fold version 1/
    expect(await run(['flip', 'meals', '--to', '1'], env)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(next),
    })
    expect(await run(['flip', 'meals', '--to', '1'], fiveAm(env))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(next),
    })
    expect(await newer.stop()).toBe(0)
    expect(await run(['flip', 'meals', '--to', '1'], fiveAm(env))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /generation-stands-still: .*Run tributary start of the release with fold version 1/,
      ),
    })

    const back = await startServer(env)
    expect(back.stderr()).toContain(
      'meals: generation 2 serves with fold version 2; this release has version 1 and brings generation 1 up to date before it serves',
    )
    expect(await statusOf(env)).toMatchObject({ generation: 1, foldVersion: 1, lagEvents: 0 })
    expect(await mealsOfDay(client(back.url, token))).toBe(3)
    await log(client(back.url, token), 4)
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
    expect(await back.stop()).toBe(0)

    const forward = await startServer(fiveAm(env))
    expect(await statusOf(env)).toMatchObject({ generation: 2, foldVersion: 2, lagEvents: 0 })
    expect(await mealsOfDay(client(forward.url, token))).toBe(4)
    expect(await run(['verify', 'meals'], fiveAm(env))).toMatchObject({ code: 0 })
    expect(await forward.stop()).toBe(0)
  })

  test('keys that the older release cannot fold are named with the command that accepts it, and that command works', async () => {
    const { folder, made: token } = await older()
    const env = { TRIBUTARY_DATA: folder }
    const newer = await startServer(fiveAm(env))
    await log(client(newer.url, token), 2, { calories: 666 })
    expect(await newer.stop()).toBe(0)

    const refused = await run(['start'], {
      ...withFailingFold(env, 'throw'),
      TRIBUTARY_HTTP: '127.0.0.1:0',
      TRIBUTARY_ADMIN: '127.0.0.1:0',
      TRIBUTARY_MQTT: 'off',
    })
    expect(refused).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/flip-would-park: .*tributary flip meals --to 1 --accept-parked/),
    })
    expect(await run(['flip', 'meals', '--to', '1', '--accept-parked'], withFailingFold(env, 'throw'))).toMatchObject({
      code: 0,
    })
    const back = await startServer(withFailingFold(env, 'throw'))
    expect(await statusOf(env)).toMatchObject({ generation: 1, parked: 1 })
    expect(await back.stop()).toBe(0)
  })
})
