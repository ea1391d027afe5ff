import { describe, expect, test } from 'vitest'
import { client, freshFolder, meal, newToken, run, startServer, runOk } from './program.ts'

interface Step {
  readonly position: string
  readonly type: string
  readonly appendedAt: number
  readonly changes: readonly {
    readonly SK: string
    readonly before: { readonly mealCount: number } | null
    readonly after: { readonly mealCount: number } | null
  }[]
}
interface Explained {
  readonly steps: readonly Step[]
  readonly items: readonly { readonly SK: string; readonly mealCount?: number; readonly _pos: number }[]
}

describe('explain', { timeout: 120_000 }, () => {
  test('explain prints every event behind an item with its changes, and the item at any position and time', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const server = await startServer(env)
    const ann = client(server.url, await newToken(env, 'ann'))
    const made = [
      (await ann.post('/v1/meals', meal(1))).body,
      (await ann.post('/v1/meals', meal(2))).body,
    ] as readonly { readonly id?: string; readonly userDate?: string }[]
    const day = made[0]?.userDate ?? ''
    expect((await ann.send('DELETE', `/v1/meals/${made[0]?.id}`)).status).toBe(200)
    const explained = async (...more: string[]): Promise<Explained> =>
      JSON.parse(await runOk(['explain', 'meals', 'USER#ann', `SUMMARY#${day}`, '--json', ...more], env)) as Explained

    const whole = await explained()
    expect(
      whole.steps.map(({ type, changes }) => [type, changes[0]?.before?.mealCount, changes[0]?.after?.mealCount]),
    ).toEqual([
      ['MealLogged', undefined, 1],
      ['MealLogged', 1, 2],
      ['MealDeleted', 2, 1],
    ])
    expect(whole.items).toMatchObject([{ SK: `SUMMARY#${day}`, mealCount: 1 }])
    const second = whole.steps[1] as Step
    expect((await explained('--as-of', second.position)).items).toMatchObject([{ mealCount: 2 }])
    expect((await explained('--as-of', new Date(second.appendedAt).toISOString())).items).toMatchObject([
      { mealCount: 2 },
    ])

    // `events --to` ends with the same event as `explain --as-of` at the same time.
    const events = (await runOk(['events', '--to', new Date(second.appendedAt + 1).toISOString(), '--json'], env))
      .split('\n')
      .map((line) => JSON.parse(line) as { position: string; appendedAt: string })
    expect(events.at(-1)).toMatchObject({
      position: second.position,
      appendedAt: new Date(second.appendedAt).toISOString(),
    })
    expect(events[0]).not.toHaveProperty('recordedAt')

    const first = whole.steps[0] as Step
    expect(await run(['explain', 'meals', 'USER#ann', `SUMMARY#${day}`, '--as-of', '1999-01-01'], env)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`The first event that created it is ${first.position}, `),
    })
    for (const [position, why] of [
      ['1:0', 'Its events are in partition 0'],
      ['0:99999', 'The last event is 0:'],
      ['0:', 'neither a time nor a position'],
    ] as const) {
      expect(await run(['explain', 'meals', 'USER#ann', '--as-of', position], env), position).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(why),
      })
    }

    const shown = await runOk(['explain', 'meals', 'USER#ann', `SUMMARY#${day}`], env)
    expect(shown).toMatch(/0:\d+ +\S+ +MealLogged +/)
    expect(shown).toContain('mealCount 1 → 2')
    expect(await runOk(['explain', 'meals', 'USER#ann'], env)).toContain(`SUMMARY#${day}`)
  })

  test('explain reports an item that has never existed, or not yet, and lists existing ones', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    await newToken(env, 'ann')
    expect(await run(['explain', 'meals', 'USER#ann', 'PAT#none'], env)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/item-unknown: .*Existing items: PAT#/),
    })
    expect(await run(['explain', 'meals', 'USER#nobody'], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('has no event of nobody'),
    })
    expect(await run(['explain', 'meals', 'USER#ann', '--as-of', '2001-01-01'], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('item-unknown'),
    })
    expect(await run(['explain', 'meals', 'ann'], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('USER#ada'),
    })
    expect(await run(['explain', 'meals', 'USER#ann', '--as-of', 'yesterday'], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--as-of'),
    })
  })
})
