import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { lmdbStores } from '../../processors/adapters/lmdb/store.ts'
import { meals } from '../../processors/meals/domain.ts'
import { prepared } from '../prepared.ts'
import { client, fiveAm, freshFolder, meal, newToken, run, startServer, runOk } from './program.ts'

/** Changes the day summary of ann in the store, without events. Removes the item if the change makes its PK empty. */
const tamper = async (folder: string, change: (total: { [name: string]: unknown }) => void): Promise<void> => {
  const stores = lmdbStores({ folder: join(folder, 'tables') })
  const store = await stores.open(meals.table, 1)
  const key = { PK: 'USER#ann', SK: 'SUMMARY#2026-11-16' }
  const [item] = await store.load([key])
  const changed = { ...item, ...key, _pos: item?._pos ?? 0 }
  change(changed)
  if (changed.PK === '') await store.commit([[[{ remove: key, expect: changed._pos }]]])
  else await store.bulk([changed])
  await stores.close()
}

const metric = async (admin: string, name: string): Promise<number | undefined> => {
  const text = await (await fetch(`${admin}/metrics`)).text()
  const value = new RegExp(`^${name}\\{domain="meals"\\} (\\S+)$`, 'm').exec(text)?.[1]
  return value === undefined ? undefined : Number(value)
}

const mealsOfThree = prepared(async (folder) => {
  const env = { TRIBUTARY_DATA: folder }
  const server = await startServer(env)
  for (const user of ['ann', 'bob', 'cia']) {
    const one = client(server.url, await newToken(env, user))
    for (const index of [1, 2, 3]) expect((await one.post('/v1/meals', meal(index))).status).toBe(201)
  }
  await server.stop()
})

/** Returns the environment of a stopped program that has three meals for each of three users. */
const withMeals = async () => ({ TRIBUTARY_DATA: (await mealsOfThree()).folder })

describe('verify', { timeout: 120_000 }, () => {
  test('a sample compares whole keys, is reported as a sample, and is stored for the metrics', async () => {
    const env = await withMeals()
    const server = await startServer(env)
    expect(await metric(server.admin, 'tributary_verify_timestamp_seconds')).toBe(0)
    expect(JSON.parse(await runOk(['verify', 'meals', '--sample', '2', '--json'], env))).toMatchObject({
      keys: 2,
      differences: [],
    })
    expect(await metric(server.admin, 'tributary_verify_differences')).toBe(0)
    expect(await metric(server.admin, 'tributary_verify_timestamp_seconds')).toBeGreaterThan(1_700_000_000)
    expect(JSON.parse(await runOk(['verify', 'meals', '--sample', '99', '--json'], env))).toMatchObject({
      keys: 3,
      differences: [],
    })
    expect(await run(['verify', 'meals', '--sample', '2', '--key', 'ann'], env)).toMatchObject({ code: 2 })
  })

  test.each([
    ['a hand-edited item', 'changed', (item: { [name: string]: unknown }) => (item['totalCalories'] = 1)],
    ['a wrong position', 'changed', (item: { [name: string]: unknown }) => (item['_pos'] = 1)],
    ['a missing item', 'missing', (item: { [name: string]: unknown }) => (item['PK'] = '')],
    ['an extra item', 'extra', (item: { [name: string]: unknown }) => (item['SK'] = 'SUMMARY#1999-01-01')],
  ])(
    '%s is found, by a full verify and by a sample with its key, and the metric reports it',
    async (_, kind, change) => {
      const env = await withMeals()
      await tamper(env.TRIBUTARY_DATA, change)
      for (const scope of [[], ['--key', 'ann'], ['--sample', '3']]) {
        expect(await run(['verify', 'meals', ...scope], env)).toMatchObject({
          code: 3,
          stdout: expect.stringContaining(`${kind} USER#ann SUMMARY#`),
        })
      }
      expect(await run(['verify', 'meals', '--key', 'bob'], env)).toMatchObject({ code: 0 })
      const server = await startServer(env)
      expect(await metric(server.admin, 'tributary_verify_differences')).toBe(1)
    },
  )

  test('differences are reported field by field, with the number of those that are left out', async () => {
    const env = await withMeals()
    await tamper(env.TRIBUTARY_DATA, (item) => (item['totalCalories'] = 1))
    const { stdout } = await run(['verify', 'meals'], env)
    expect(stdout).toMatch(
      /^changed USER#ann SUMMARY#2026-11-16\n  totalCalories: stored 1, folded \d+(\.\d+)?\nmeals: \d+ events folded, \d+ items compared, 1 differ\n$/,
    )
    for (const day of Array.from({ length: 24 }, (_, index) => `1999-01-${index + 10}`))
      await tamper(env.TRIBUTARY_DATA, (item) => (item['SK'] = `SUMMARY#${day}`))
    const many = await run(['verify', 'meals'], env)
    expect(many.stdout.match(/^extra /gm)?.length).toBeLessThanOrEqual(20)
    expect(many.stdout).toContain('and 5 items more; --json shows all of them')
  })

  test('verify accepts only generations of these folds, and stores a result only for the serving one', async () => {
    const env = await withMeals()
    expect(await run(['verify', 'meals'], fiveAm(env))).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('folds-differ: Generation 1 of meals was built with fold version 1'),
    })
    await runOk(['rebuild', 'meals', '--no-flip', '--yes'], env)
    await tamper(env.TRIBUTARY_DATA, (item) => (item['totalCalories'] = 1))
    expect(await run(['verify', 'meals', '--generation', '2'], env)).toMatchObject({ code: 0 })
    expect(await run(['verify', 'meals', '--generation', '7'], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('generation-unknown'),
    })
    const server = await startServer(env)
    expect(await metric(server.admin, 'tributary_verify_timestamp_seconds')).toBe(0)
    expect(await run(['verify', 'meals', '--generation', '1'], env)).toMatchObject({ code: 3 })
    expect(await metric(server.admin, 'tributary_verify_differences')).toBe(1)
  })

  test('a running server exports every metric that an alert names', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const server = await startServer(env)
    await newToken(env, 'ann')
    await runOk(['verify'], env)
    const text = await (await fetch(`${server.admin}/metrics`)).text()
    const rules = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'alerts.yml'), 'utf8')
    const named = new Set(rules.match(/(tributary|nodejs|process)_\w+/g)?.map((name) => name.replace(/_bucket$/, '')))
    expect(named.size).toBeGreaterThan(4)
    for (const name of named) expect(text).toContain(`# TYPE ${name} `)
  })
})
