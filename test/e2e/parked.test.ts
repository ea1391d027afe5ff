import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { longTest } from '../services/available.ts'
import {
  client,
  withFailingFold,
  freshFolder,
  meal,
  newToken,
  run,
  startServer,
  runOk,
  until,
  statusOf,
} from './program.ts'
import type { Client, Env, Ran, Server } from './program.ts'

const eat = async (who: Client, calories: number, minute: number): Promise<number> =>
  (
    await who.post(
      '/v1/meals',
      { ...meal(1), eatenAt: `2026-11-16T12:${String(minute).padStart(2, '0')}:00Z`, calories },
      { prefer: 'respond-async' },
    )
  ).status

const day = async (who: Client): Promise<unknown> =>
  ((await who.get('/v1/summaries?from=2026-11-16&to=2026-11-16')).body['items'] as readonly object[])[0]

const rowsOf = ({ stdout }: Ran): readonly Record<string, unknown>[] =>
  stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
const parked = async (env: Env, ...args: readonly string[]): Promise<readonly Record<string, unknown>[]> =>
  rowsOf(await run(['parked', '--json', ...args], env))

const caughtUp = (env: Env, server: Server): Promise<void> =>
  until(
    async () => (await statusOf(env))['lagEvents'] === 0,
    () => server.stderr(),
  )

/** Starts a server whose folds throw at a meal of 666 calories, and posts such a meal for ann. Her key is parked, and her later events wait. */
const parkedServer = async (followers: readonly number[] = [100, 200]) => {
  const env = { TRIBUTARY_DATA: freshFolder() }
  const server = await startServer(withFailingFold(env, 'throw'))
  const [annsToken, bobsToken] = [await newToken(env, 'ann'), await newToken(env, 'bob')]
  const ann = client(server.url, annsToken)
  for (const [index, calories] of [50, 666, ...followers].entries()) expect(await eat(ann, calories, index)).toBe(202)
  expect((await client(server.url, bobsToken).post('/v1/meals', meal(2))).status).toBe(201)
  await caughtUp(env, server)
  return { env, server, annsToken, bobsToken }
}

describe('a poison event', { timeout: 180_000 }, () => {
  test('is listed with reason, time and waiting events, shown with its stack, and healed in order by corrected folds', async () => {
    const { env, server, annsToken } = await parkedServer()
    const [row, ...others] = await parked(env)
    expect(others).toEqual([])
    // Two meals wait, and possibly a PatUsed event after them.
    const waiting = Number(row?.['waiting'])
    expect(waiting).toBeGreaterThanOrEqual(2)
    expect(row).toMatchObject({
      id: 'meals:0:meals:ann',
      key: 'ann',
      type: 'MealLogged',
      code: 'fold-threw',
      reason: 'a meal of 666 calories',
      generation: 1,
      record: { event: { type: 'MealLogged', data: { calories: 666_000 } } },
    })
    expect(Date.parse(String(row?.['since']))).toBeGreaterThan(Date.parse('2026-01-01'))
    const shown = await runOk(['parked', 'show', 'ann'], env)
    for (const part of [
      'MealLogged at 0:',
      `${waiting} more of the key's events wait`,
      'fold-threw: a meal of 666 calories',
      '"calories": 666000',
      'failing-fold.mjs',
    ])
      expect(shown).toContain(part)
    expect(await (await fetch(`${server.admin}/metrics`)).text()).toContain(
      `tributary_parked_waiting_events{domain="meals"} ${waiting}`,
    )
    expect(await run(['parked', 'retry', 'ann', '--json'], env)).toMatchObject({
      code: 4,
      stdout: '{"asked":1,"healed":0,"still":1,"pending":0}\n',
    })
    await server.stop()
    const mended = await startServer(env)
    expect(await run(['verify'], env)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 key is parked and compared up to the parked event'),
    })
    expect(await run(['parked', 'retry', String(row?.['position'])], env)).toMatchObject({
      code: 0,
      stdout: '1 of 1 healed\n',
    })
    expect(await day(client(mended.url, annsToken))).toMatchObject({ mealCount: 4, totalCalories: 1016 })
    expect(await run(['parked'], env)).toMatchObject({ code: 0, stdout: '' })
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
  })

  longTest('killed in the middle of a retry, it is healed by the next, each event once', async () => {
    const { env, server, annsToken } = await parkedServer([100, 667, 300])
    await server.stop()
    const dying = withFailingFold(env, `die ${join(freshFolder(), 'died')}`)
    const first = await startServer(dying)
    expect((await run(['parked', 'retry', '--all'], env)).code).toBe(1)
    expect(await first.ended).toBe('SIGKILL')
    const second = await startServer(dying)
    await until(
      async () => (await run(['parked', 'retry', '--all'], env)).code === 0,
      () => second.stderr(),
    )
    expect(await day(client(second.url, annsToken))).toMatchObject({
      mealCount: 5,
      totalCalories: 50 + 666 + 100 + 667 + 300,
    })
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
  })

  test('is discarded on the record, and no rebuild folds it', async () => {
    const { env, server, annsToken } = await parkedServer()
    const position = String((await parked(env))[0]?.['position'])
    const discarded = await run(['parked', 'discard', 'ann', '--reason', 'a test entry', '--by', 'Ruth'], env)
    expect(discarded).toMatchObject({
      code: 0,
      stdout: '1 of 1 healed\n',
      stderr: expect.stringContaining('Discarded by Ruth'),
    })
    expect(await day(client(server.url, annsToken))).toMatchObject({ mealCount: 3, totalCalories: 350 })
    expect(await parked(env, '--discarded')).toMatchObject([
      { domain: 'meals', position, key: 'ann', reason: 'a test entry', by: 'Ruth' },
    ])
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
    expect(await run(['rebuild', 'meals', '--yes', '--json'], withFailingFold(env, 'throw'))).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"parked":0'),
    })
    expect(await day(client(server.url, annsToken))).toMatchObject({ mealCount: 3, totalCalories: 350 })
    await server.stop()
    const mended = await startServer(env)
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
    expect(await run(['rebuild', 'meals', '--yes'], env)).toMatchObject({ code: 0 })
    expect(await day(client(mended.url, annsToken))).toMatchObject({ mealCount: 3, totalCalories: 350 })
    expect(await run(['parked', 'discard', position, '--reason', 'again'], env)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/parked-unknown: .* was discarded by Ruth on /),
    })
  })

  test('blocks the flip to a generation that parks keys which the serving one folds', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const server = await startServer(env)
    const ann = client(server.url, await newToken(env, 'ann'))
    for (const [index, calories] of [666, 100].entries()) expect(await eat(ann, calories, index)).toBe(202)
    await caughtUp(env, server)
    const broken = withFailingFold(env, 'throw')
    const refused = await run(['rebuild', 'meals', '--yes'], broken)
    expect(refused).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringMatching(
        /flip-would-park: Generation 2 of meals parks a key .*meals:0:meals:ann at 0:\d+ \(fold-threw: a meal of 666 calories\)/,
      ),
    })
    expect(await run(['parked', 'meals', '--generation', '2', '--json'], env)).toMatchObject({
      code: 4,
      stdout: expect.stringMatching(/"generation":2.*"waiting":[1-9]/),
    })
    expect(await run(['parked'], env)).toMatchObject({ code: 0 })
    expect(await day(ann)).toMatchObject({ mealCount: 2 })
    expect(await run(['flip', 'meals', '--to', '2'], env)).toMatchObject({ code: 4 })
    expect(await run(['flip', 'meals', '--to', '2', '--accept-parked'], env)).toMatchObject({ code: 0 })
    expect(await run(['parked', 'retry', 'ann'], env)).toMatchObject({ code: 0 })
    expect(await day(ann)).toMatchObject({ mealCount: 2, totalCalories: 766 })
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
  })

  test('with wrong arguments is reported: not parked, no reason, unknown generation', async () => {
    const { env, server } = await parkedServer()
    for (const args of [
      ['show', '0:999'],
      ['retry', 'cyd'],
      ['discard', 'cyd', '--reason', 'r'],
      ['discard', '0:0', '--reason', 'r'],
    ]) {
      expect(await run(['parked', ...args], env)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^tributary: parked-unknown: [^\n]+\n$/),
      })
    }
    for (const args of [
      ['discard', 'ann'],
      ['discard', 'ann', '--reason', ' '],
      ['discard', 'ann', '--reason', 'r', '--by', ''],
      ['retry'],
      ['retry', 'ann', '--all'],
      ['--generation', 'x'],
    ]) {
      expect(await run(['parked', ...args], env)).toMatchObject({ code: 2, stdout: '' })
    }
    expect(await run(['parked', 'meals', '--generation', '7'], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('generation-unknown'),
    })
    expect(await parked(env)).toHaveLength(1)
    expect(await parked(env, '--discarded')).toEqual([])
    await server.stop()
  })
})

describe('an event that kills the process', { timeout: 300_000 }, () => {
  test('is parked after a few crashes; other keys are served; corrected folds heal it', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const killing = withFailingFold(env, 'kill')
    const first = await startServer(killing)
    const [annsToken, bobsToken] = [await newToken(env, 'ann'), await newToken(env, 'bob')]
    const ann = client(first.url, annsToken)
    await eat(ann, 50, 0)
    await eat(ann, 666, 1).catch(() => undefined)
    expect(await first.ended).toBe('SIGKILL')
    let deaths = 1
    const alive = async (): Promise<Server> => {
      for (; deaths <= 6; deaths += 1) {
        const server = await startServer(killing).catch(() => undefined)
        if (server === undefined) continue
        // Reads the metric from the server directly, because a command would lock the folder if the server is dead.
        const counts = async () =>
          (await (await fetch(`${server.admin}/metrics`)).text()).includes('tributary_parked_keys{domain="meals"} 1')
        const outcome = await Promise.race([
          server.ended,
          until(counts, () => server.stderr()).then(
            () => 'parked',
            () => 'died',
          ),
        ])
        if (outcome === 'parked') return server
      }
      throw new Error(`it died ${deaths} times`)
    }
    const server = await alive()
    expect(deaths).toBeLessThanOrEqual(6)
    expect(await parked(env)).toMatchObject([
      { key: 'ann', type: 'MealLogged', code: 'killed-the-process', projection: '*' },
    ])
    expect((await client(server.url, bobsToken).post('/v1/meals', meal(2))).status).toBe(201)
    expect(await eat(client(server.url, annsToken), 100, 2)).toBe(202)
    expect(await run(['verify'], killing)).toMatchObject({ code: 0 })
    expect(await run(['rebuild', 'meals', '--yes'], killing)).toMatchObject({
      code: 4,
      stdout: expect.stringContaining('1 key parked, serving'),
    })
    await server.stop()
    const mended = await startServer(env)
    expect(await run(['parked', 'retry', '--all'], env)).toMatchObject({ code: 0, stdout: '1 of 1 healed\n' })
    expect(await day(client(mended.url, annsToken))).toMatchObject({ mealCount: 3, totalCalories: 816 })
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
  })
})
