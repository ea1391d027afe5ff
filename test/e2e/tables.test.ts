import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { widthOf } from '../../cli/table.ts'
import { lmdbLogs } from '../../processors/adapters/lmdb/log.ts'
import { meals } from '../../processors/meals/domain.ts'
import { client, fiveAm, freshFolder, meal, newToken, run, startServer, runOk } from './program.ts'

/** The arguments of every command that prints a table, by the source file that formats the table. */
const TABLES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  // The table of waiting calls needs a flip. The test of the commands runs `asks`.
  'commands/asks.ts': [],
  'commands/cost.ts': [['cost', 'meals', '--events-per-month', '123456789']],
  'commands/explain.ts': [['explain', 'meals', `USER#${'a'.repeat(64)}`]],
  'commands/generations.ts': [['generations']],
  'commands/parked.ts': [['parked'], ['parked', '--discarded']],
  'commands/schemas.ts': [['schemas', 'show']],
  'commands/status.ts': [['status']],
  'commands/token.ts': [['token', 'list']],
  'diff-report.ts': [['rebuild', 'meals', '--diff']],
}

const cli = join(import.meta.dirname, '..', '..', 'cli')

/** Returns the lines of the table only: `explain` and `rebuild --diff` print a line before it, and items after an empty line. */
const tableIn = ([command]: readonly string[], stdout: string): readonly string[] => {
  const lines = stdout.split('\n')
  return command === 'explain' || command === 'rebuild' ? lines.slice(1, lines.indexOf('')) : lines
}

describe('tables', { timeout: 240_000 }, () => {
  test('are printed by the commands that are tested here', () => {
    const files = readdirSync(cli, { recursive: true, encoding: 'utf8' }).filter(
      (file) =>
        file.endsWith('.ts') && /\boutput\.table\(|[^.\w]table\(\s*\[/.test(readFileSync(join(cli, file), 'utf8')),
    )
    expect(files.sort()).toEqual(Object.keys(TABLES).sort())
  })

  test('fit 80 columns with long names and ids, and keep every id whole without a terminal', async () => {
    const folder = freshFolder()
    const env = { TRIBUTARY_DATA: folder }
    const user = 'a'.repeat(64)
    const logs = lmdbLogs({ folder: join(folder, 'log') })
    const log = await logs.open(meals.topic)
    for (const key of ['b'.repeat(64), 'c'.repeat(64)])
      await log.append([{ key, value: Buffer.from([0, 127, 255, 255, 255, 1, 2, 3]) }])
    await logs.close()
    const server = await startServer(env)
    const person = client(server.url, await newToken(env, user))
    await runOk(['token', 'create', '--user', user, '--name', 'a name of many words '.repeat(4).trim()], env)
    await person.post('/v1/meals', {
      ...meal(1),
      eatenAt: '2026-11-16T04:30:00Z',
      mealSummary: 'word '.repeat(60).trim(),
    })
    await run(['parked', 'discard', 'c'.repeat(64), '--reason', 'x'.repeat(120), '--by', 'y'.repeat(60)], env)
    await server.stop()
    for (const args of Object.values(TABLES).flat()) {
      const at = args[0] === 'rebuild' ? fiveAm(env) : env
      const narrow = await run(args, { ...at, COLUMNS: '80' })
      expect([0, 3, 4], narrow.stderr).toContain(narrow.code)
      const lines = tableIn(args, narrow.stdout)
      expect(lines.join('').length, args.join(' ')).toBeGreaterThan(0)
      expect(
        lines.filter((line) => widthOf(line) > 80),
        args.join(' '),
      ).toEqual([])
    }
    expect((await run(['parked'], env)).stdout).toContain('b'.repeat(64))
    expect((await run(['token', 'list'], env)).stdout).toContain(user)
    expect((await run(['parked', '--discarded'], env)).stdout).toContain('x'.repeat(120))
  })
})
