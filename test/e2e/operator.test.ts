import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { CHANGES, commandText } from '../../host/ipc/command-record.ts'
import { createOutput } from '../../cli/output.ts'
import { createDomains } from '../../domains/domains.ts'
import { createProgram } from '../../cli/program.ts'
import { freshFolder, newToken, run, startCommand, startServer, runOk, until, type Server } from './program.ts'
import { describeOnServices } from './on-services.ts'

interface Line {
  readonly msg: string
  readonly by: string
  readonly uid: number
  readonly command: string
  readonly outcome: string
  readonly at: string
}

const linesOf = (server: Server): readonly Line[] =>
  server
    .stderr()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
    .filter(({ msg }) => msg === 'operator command')

/** Waits until the server has logged `count` commands, and returns them with their outcomes. */
const logged = async (server: Server, count: number): Promise<readonly string[]> => {
  await until(
    () => Promise.resolve(linesOf(server).length >= count),
    () => `the server logged ${JSON.stringify(linesOf(server))}`,
  )
  return linesOf(server).map(({ command, outcome }) => `${command}: ${outcome}`)
}

const MEAL = {
  mealId: '20261116T083000000Z-abc',
  eatenAt: '2026-11-16T08:30:00Z',
  tz: 'UTC',
  utcOffsetMinutes: 0,
  userDate: '2026-11-16',
  dayOverridden: false,
  dayRuleVersion: 1,
  calories: 250_000,
  protein: 0,
  carbs: 0,
  fat: 0,
  extended: [],
  dropped: [],
  personal: { mealSummary: 'Secret soup', emoji: null, notes: null },
}
const append = (...options: readonly string[]): readonly string[] => [
  'append',
  'meals',
  'MealLogged',
  JSON.stringify(MEAL),
  '--subject',
  'ann',
  ...options,
]

describe('an operator command', { timeout: 120_000 }, () => {
  test('writes one line to the log of the running server: who, what, when and how it ended', async () => {
    const env = { TRIBUTARY_DATA: freshFolder(), TRIBUTARY_LOG_LEVEL: 'info' }
    const server = await startServer(env)
    await newToken(env, 'ann')
    expect(await runOk(append(), env)).toMatch(/^0:\d+ MealLogged of ann \(event [0-9a-f-]{36}\): accepted$/)
    expect(await run(['parked', 'discard', 'no-such-id', '--reason', 'a secret reason'], env)).toMatchObject({
      code: 1,
    })
    await runOk(['verify', 'meals'], env)
    await runOk(['status'], env)
    const following = startCommand(['events', '--follow'], env)
    await until(
      () => Promise.resolve(following.stderr() !== ''),
      () => 'events does not follow',
    )
    following.kill('SIGKILL')
    expect(await logged(server, 6)).toEqual([
      'token create --user ann --scopes read,write: exit 0',
      'append meals MealLogged … --subject ann: exit 0',
      'parked discard no-such-id --reason …: parked-unknown',
      'verify meals: exit 0',
      'status: exit 0',
      'events --follow: unknown',
    ])
    const [line] = linesOf(server)
    expect(line).toMatchObject({
      uid: process.getuid?.(),
      by: expect.stringMatching(/./),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    })
    expect(server.stderr()).not.toMatch(/Secret soup|a secret reason/)
  })

  test('that changes something while no server runs is logged by the next server', async () => {
    const env = { TRIBUTARY_DATA: freshFolder(), TRIBUTARY_LOG_LEVEL: 'info' }
    await newToken(env, 'ann')
    await runOk(['status'], env)
    expect(await run(append('--idempotency-key', 'a secret key', '--json'), env)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"kind":"applied"'),
    })
    const server = await startServer(env)
    expect(await logged(server, 2)).toEqual([
      'token create --user ann --scopes read,write: done',
      'append meals MealLogged … --subject ann --idempotency-key … --json: done',
    ])
    await server.stop()
    const again = await startServer(env)
    await runOk(['status'], env)
    expect(await logged(again, 1)).toEqual(['status: exit 0'])
  })

  test('is logged without personal arguments, and every listed command exists', () => {
    const output = createOutput({ out: { write: () => true }, err: { write: () => true }, color: false, now: () => 0 })
    const program = createProgram(
      { env: {}, output, input: process.stdin, signal: new AbortController().signal },
      () => undefined,
      createDomains([]),
    )
    const paths = (command: Command, path: readonly string[]): readonly string[] =>
      command.commands.length === 0
        ? [path.join(' ')]
        : command.commands.flatMap((each) => paths(each, [...path, each.name()]))
    const all = paths(program, [])
    expect(CHANGES.filter((name) => !all.includes(name))).toEqual([])
    const made = new Command('tributary')
    made
      .command('token')
      .command('create')
      .argument('[json]')
      .option('--name <name>')
      .option('--user <id>')
      .option('--quiet')
      .action(() => undefined)
    made.parse(['token', 'create', '{"a":1}', '--name', 'Ann Smith', '--user', 'a b', '--quiet'], { from: 'user' })
    expect(commandText(made.commands[0]?.commands[0] as Command)).toBe('token create … --name … --user "a b" --quiet')
  })
})

describeOnServices('an operator command on Kafka and DynamoDB', (services) => {
  test('is logged by one of the servers; events --last and append work', async () => {
    const env = services.env({ TRIBUTARY_LOG_LEVEL: 'info', TRIBUTARY_KAFKA_PARTITIONS: '3' })
    const server = await startServer(env)
    await newToken(env, 'ann')
    expect(await runOk(append(), env)).toMatch(/^\d:\d+ MealLogged of ann .*: accepted$/)
    expect(await logged(server, 2)).toEqual([
      'token create --user ann --scopes read,write: done',
      'append meals MealLogged … --subject ann: done',
    ])
    const last = (await runOk(['events', '--last', '2', '--json'], env))
      .split('\n')
      .map((line) => (JSON.parse(line) as { type: string }).type)
    expect(last).toEqual(['PatIssued', 'MealLogged'])
    expect(await runOk(['events', '--last', '1', '--key', 'ann'], env)).toContain('MealLogged')
    expect((await logged(server, 4)).slice(2)).toEqual([
      'events --last 2 --json: done',
      'events --key ann --last 1: done',
    ])
  }, 240_000)
})
