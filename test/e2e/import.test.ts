import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  eventIds,
  expenseRows,
  fileOf,
  importAfterChanges,
  importAgain,
  importFile,
  importSpliitAgain,
  importTwiceAtOnce,
  mealRows,
} from './imports.ts'
import { freshFolder, run, sharedServer, startCommand, startServer, until } from './program.ts'

/** Two tests import into this server: one test for the user ada, the other for eve. */
const shared = sharedServer()

describe('a repeated import', { timeout: 180_000 }, () => {
  test('M20: appends no event of meals, in any order and in parts', () =>
    importAgain({ TRIBUTARY_DATA: freshFolder() }, 'meals', mealRows(20)))

  test('E45: appends no event of expenses, in any order and in parts, also not for refused rows', () =>
    importAgain({ TRIBUTARY_DATA: freshFolder() }, 'expenses', expenseRows(20)))

  test('appends no event of a Spliit export', () => importSpliitAgain({ TRIBUTARY_DATA: freshFolder() }))

  test('restores nothing that was changed, moved, deleted or revoked since', async () => {
    const { env, server } = await shared()
    await importAfterChanges(env, server)
    expect(await run(['verify'], env)).toMatchObject({ code: 0 })
  })

  test('by two processes at the same time appends each event once', async () => {
    const { env } = await shared()
    await importTwiceAtOnce(env)
  })

  test('M20: a cut file is reported with the number of imported rows, and the whole file completes it', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const [whole, folder] = [gzipSync(readFileSync(fileOf(mealRows(5_000)))), freshFolder()]
    const files = { cut: whole.subarray(0, whole.length / 2), whole, odd: Buffer.from('no gzip at all') }
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, `${name}.gz`), content)
    writeFileSync(join(folder, 'cut.json'), '[{"PK":"USER#ada"')
    const { code, stdout, stderr } = await run(['import', 'meals', join(folder, 'cut.gz')], env)
    expect([code, stdout]).toEqual([1, ''])
    const imported = Number(
      /import-file-damaged: .*cut\.gz cannot be read to its end: .* Of the [\d,]+ rows before, ([\d,]+) were imported/
        .exec(stderr)?.[1]
        ?.replace(',', ''),
    )
    expect(imported).toBeGreaterThan(0)
    expect(stderr).not.toMatch(/^ +at /m)
    for (const name of ['odd.gz', 'cut.json'])
      expect((await run(['import', 'meals', join(folder, name)], env)).stderr).toMatch(
        /import-file-damaged: .* Nothing was imported\./,
      )
    expect(await importFile(env, 'meals', join(folder, 'whole.gz'))).toMatchObject({ rows: 5_002, known: imported })
  })

  test('after a kill of the server in the middle appends the rest, and nothing twice', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const file = fileOf(mealRows(5_000))
    const server = await startServer(env)
    const cut = startCommand(['import', 'meals', file], env)
    await until(
      async () => (await eventIds(env, 'meals')).length > 0,
      () => 'the import appends nothing',
    )
    server.kill('SIGKILL')
    await Promise.all([server.ended, cut.ended])
    await startServer(env)
    expect((await importFile(env, 'meals', file)).known).toBeGreaterThan(0)
    const ids = await eventIds(env, 'meals')
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toHaveLength(5_000 + 4 + 2)
    expect(await run(['verify', 'meals'], env)).toMatchObject({ code: 0 })
  })
})
