import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import { SHELLS, type Shell } from './completion.ts'
import { createRecorder, outcomeOf } from './command-record.ts'
import type { Recorder } from './command-record.ts'
import type { Context } from './context.ts'
import { version } from './version.ts'
import { EXIT } from './output.ts'
import type { Exit } from './output.ts'

type Action<Options> = (context: Context, options: Options) => Promise<Exit>

const wholeNumber = (least: number, most = Infinity) => (text: string): number => {
  const value = Number(text)
  if (!/^\d{1,12}$/.test(text) || value < least) throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`)
  if (value > most) throw new InvalidArgumentError(`It must be at most ${most}.`)
  return value
}
const price = (text: string): number => {
  if (!/^\d{1,6}(\.\d{1,6})?$/.test(text)) throw new InvalidArgumentError('It must be an amount such as 0.625.')
  return Number(text)
}
/** The server collects these before it sends them. */
const MOST_LAST = 10_000
const json = (): Option => new Option('--json', 'one JSON a line, stable')

const withoutEnd = (text: string): string => text.replace(/\n$/, '')

/** Commands are loaded when they run, so that each starts as quickly as what it needs. */
export const createProgram = (context: Context, exit: (code: Exit) => void): Command => {
  let recorder: Recorder | undefined
  const run = <Options>(load: () => Promise<Action<Options>>) => async (options: Options): Promise<void> => {
    const action = await load()
    try {
      const code = await action({ ...context, ...(recorder && { recorder }) }, options)
      const ended = context.signal.aborted && code !== EXIT.fine ? EXIT.interrupted : code
      await recorder?.end(`exit ${ended}`)
      exit(ended)
    } catch (error) {
      await recorder?.end(context.signal.aborted ? `exit ${EXIT.interrupted}` : outcomeOf(error))
      throw error
    }
  }
  const program = new Command('tributary')
    .description('Events on a log, folded into items that can be rebuilt and proven equal to their events.')
    .version(version())
    .option('--no-color', 'no colours (also by NO_COLOR)')
    .exitOverride()
    .configureOutput({ writeOut: (text) => context.output.line(withoutEnd(text)), writeErr: (text) => context.output.note(withoutEnd(text)) })
    .hook('preAction', (_, command) => void (recorder = createRecorder(command)))
    .showHelpAfterError('(tributary --help, or tributary COMMAND --help, tells more)')
    .addHelpText('after', '\nExit codes: 0 fine, 1 failed, 2 usage, 3 differences found, 4 something is parked, 130 interrupted.')
  serving(program, run)
  reading(program, run)
  mending(program, run)
  forgetting(program, run)
  saving(program, run)
  proving(program, run)
  return program
}

type Run = <Options>(load: () => Promise<Action<Options>>) => (options: Options) => Promise<void>

const serving = (program: Command, run: Run): void => {
  program.command('start').description('run the pipeline')
    .option('--roles <roles>', 'which parts run here: edge,processor,sender,timers (default: all)')
    .option('--print-config', 'show the configuration, secrets hidden, and end')
    .action(run(async () => (await import('./commands/start.ts')).start))
  const token = program.command('token').description('access for a person, an app or a device')
  token.command('create').description('make a token; the secret is shown once')
    .requiredOption('--user <id>', 'whose data it opens')
    .option('--domain <domain>', 'which domain', 'meals')
    .option('--scopes <scopes>', 'comma separated: read, write, device', 'read,write')
    .option('--name <name>', 'what people call it', 'command line').addOption(json())
    .action(run(async () => (await import('./commands/token.ts')).create))
  token.command('list').description('all tokens, or those of one user').option('--user <id>').addOption(json())
    .action(run(async () => (await import('./commands/token.ts')).list))
  token.command('revoke').argument('<id>').description('end a token, at once').addOption(json())
    .action((id: string, options: { json?: true }) => run(async () => (await import('./commands/token.ts')).revoke)({ id, ...options }))
  program.command('demo').description('feed a running pipeline with realistic, seeded traffic through its real edge')
    .option('--domain <domain>', 'which domain', 'meals')
    .option('--seconds <n>', 'for how long', wholeNumber(1), 30)
    .option('--rate <n>', 'requests a second', wholeNumber(1), 20)
    .option('--seed <n>', 'the same seed gives the same traffic', wholeNumber(0), 1).addOption(json())
    .action(run(async () => (await import('./commands/demo.ts')).demo))
  program.command('append').argument('<domain>').argument('<type>').argument('<json>', 'the fields of the event, and "personal" with its personal fields; - reads stdin').description('append one event by hand, with the checks of the edge')
    .option('--key <key>', 'the key of the event (default, if keys are people: the subject, else the actor)').option('--subject <id>', 'the person whom the personal fields are about (default: the actor, or the key if keys are people)')
    .option('--actor <id>', 'the user who does it (default: none, the operator)').option('--at <time>', 'when it happened (RFC 3339; default: now)')
    .option('--idempotency-key <key>', 'the same command with the same key has no further effect')
    .option('--yes', 'do not ask').addOption(json())
    .action((domain: string, type: string, fields: string, options: object) => run(async () => (await import('./commands/append.ts')).append)({ domain, type, fields, ...options }))
  program.command('import').argument('<domain>').argument('<file>').description('items of the source tables (NDJSON or a DynamoDB export) as events; of expenses also what Spliit or "export" wrote; repeatable without effect')
    .option('--currency <code>', 'of expenses whose group names none').addOption(json())
    .action((domain: string, file: string, options: { json?: true; currency?: string }) => run(async () => (await import('./commands/import.ts')).importFile)({ domain, file, ...options }))
  program.command('export').argument('<domain>').argument('<key>').description('everything of one key to stdout: of expenses, a group; what "import" takes again, or CSV')
    .addOption(new Option('--format <format>', 'one JSON a line, or CSV').choices(['json', 'csv']).default('json'))
    .option('--history', 'what happened, too')
    .action((domain: string, key: string, options: { format: 'json' | 'csv'; history?: true }) => run(async () => (await import('./commands/export.ts')).exportOne)({ domain, key, ...options }))
}

const reading = (program: Command, run: Run): void => {
  program.command('status').description('a line a domain: serving generation, lag, parked, rates').option('--watch', 'again and again').addOption(json())
    .action(run(async () => (await import('./commands/status.ts')).status))
  program.command('events').description('read the log, decoded')
    .option('--domain <domain>', 'which domain', 'meals').option('--key <key>', 'one key only')
    .option('--from <time>', 'since (RFC 3339)').option('--to <time>', 'until (RFC 3339), exclusive')
    .option('--last <n>', 'only the newest n events', wholeNumber(1, MOST_LAST))
    .option('--follow', 'continue with new events, from the end of the log unless --last or --from is given').addOption(json())
    .action(run(async () => (await import('./commands/events.ts')).events))
  program.command('explain').argument('<domain>').argument('<pk>').argument('[sk]').description('the events behind an item, what each changed, and the item as it was')
    .option('--as-of <time>', 'at that time (RFC 3339), or after the event at that position (partition:offset)').addOption(json())
    .action((domain: string, pk: string, sk: string | undefined, options: object) => run(async () => (await import('./commands/explain.ts')).explain)({ domain, pk, sk, ...options }))
  program.command('cost').argument('[domain]').description("what this log costs on DynamoDB, beside one transaction an event")
    .option('--sample <n>', 'this many keys only, drawn anew each time', wholeNumber(1))
    .option('--window <ms>', 'what came within so many milliseconds was one batch', wholeNumber(0), 200)
    .option('--events-per-month <n>', 'for the bill (default: as this log grew)', wholeNumber(1))
    .option('--write-price <dollars>', 'a million write units', price, 0.625).option('--read-price <dollars>', 'a million read units', price, 0.125).addOption(json())
    .action((domain: string | undefined, options: object) => run(async () => (await import('./commands/cost.ts')).cost)({ domain, window: 200, writePrice: 0.625, readPrice: 0.125, ...options }))
  const schemas = program.command('schemas').description('what may be said')
  schemas.command('check').description('every schema against all its predecessors').addOption(json())
    .action(run(async () => (await import('./commands/schemas.ts')).check))
  schemas.command('show').description('ids and fingerprints').addOption(json())
    .action(run(async () => (await import('./commands/schemas.ts')).show))
}

const mending = (program: Command, run: Run): void => {
  program.command('verify').argument('[domain]').description('fold the log afresh and compare every stored item, both ways; exit 3 when they differ')
    .option('--key <key>', 'one key only').option('--sample <n>', 'this many keys only, drawn anew each time', wholeNumber(1))
    .option('--generation <n>', 'of this one, not of the serving one', wholeNumber(1)).addOption(json())
    .action((domain: string | undefined, options: object) => run(async () => (await import('./commands/verify.ts')).verify)({ domain, ...options }))
  program.command('rebuild').argument('<domain>').description('build the next generation beside the serving one, and flip')
    .option('--diff', 'show what would change, field by field, and flip nothing; exit 3 when something differs')
    .option('--sample <n>', 'with --diff: how many changed items and decisions to show (default: 20)', wholeNumber(0))
    .option('--no-flip', 'build it only').option('--resume', 'go on with the generation that was left half-built')
    .option('--max-writes-per-second <n>', 'leave those who serve their share (write units on DynamoDB, items embedded)', wholeNumber(1))
    .option('--accept-parked', 'flip also where keys stand still that go on in the serving one')
    .option('--accept-unfollowed', 'flip also where nobody follows the new one yet')
    .option('--yes', 'do not ask').addOption(json())
    .action((domain: string, options: { flip: boolean }) => run(async () => (await import('./commands/rebuild.ts')).rebuild)({ domain, ...options }))
  program.command('flip').argument('<domain>').description('serve another complete generation, forwards or back')
    .option('--to <generation>', 'which one (default: the newest that is newer than the serving one)', wholeNumber(1))
    .option('--accept-parked', 'also where keys stand still that go on in the serving one')
    .option('--accept-unfollowed', 'also where nobody follows it').addOption(json())
    .action((domain: string, options: object) => run(async () => (await import('./commands/flip.ts')).flip)({ domain, ...options }))
  program.command('generations').argument('[domain]').description('what is there, which one serves, who follows; or drop one')
    .option('--domain <domain>', 'which domain').option('--drop <generation>', 'remove its table, its group and its place in the list', wholeNumber(1)).option('--yes', 'do not ask (needed off a terminal)').addOption(json())
    .action((domain: string | undefined, options: object) => run(async () => (await import('./commands/generations.ts')).generations)({ ...options, ...(domain === undefined ? {} : { domain }) }))
  const parked = program.command('parked').description('keys that stand still because one of their events could not be folded; exit 4 when there are any')
  parked.command('list', { isDefault: true }).argument('[domain]').option('--generation <n>', 'of this one, not of the serving one', wholeNumber(1))
    .option('--discarded', 'what was given up, by whom and why').addOption(json())
    .action((domain: string | undefined, options: object) => run(async () => (await import('./commands/parked.ts')).list)({ domain, ...options }))
  parked.command('show').argument('<id>').description('the event, and why').addOption(json())
    .action((id: string, options: object) => run(async () => (await import('./commands/parked.ts')).show)({ id, ...options }))
  parked.command('discard').argument('<id>').description('give up on the event, on the record; the key heals past it')
    .requiredOption('--reason <text>', 'why').option('--by <name>', 'who decides it (default: the user of this system)').addOption(json())
    .action((id: string, options: object) => run(async () => (await import('./commands/parked.ts')).discard)({ id, ...(options as { reason: string }) }))
  parked.command('retry').argument('[id]').option('--all', 'every one').description('fold them again, in order').addOption(json())
    .action((id: string | undefined, options: object) => run(async () => (await import('./commands/parked.ts')).retry)({ id, ...options }))
}

const forgetting = (program: Command, run: Run): void => {
  program.command('forget').argument('[person]').description('destroy the key of a person: what they said is gone from the log, the items and every rebuild; cannot be undone')
    .option('--subject <id>', 'the person').option('--yes', 'do not ask (needed off a terminal)').addOption(json())
    .action((person: string | undefined, options: object) => run(async () => (await import('./commands/forget.ts')).forget)({ person, ...options }))
}

const saving = (program: Command, run: Run): void => {
  program.command('backup').argument('<folder>').description('write a consistent copy of the embedded data folder while the server runs')
    .requiredOption('--keys <folder>', 'where the keys of people go: never into the same backup as the log').addOption(json())
    .action((folder: string, options: { keys: string; json?: true }) => run(async () => (await import('./commands/backup.ts')).backup)({ folder, ...options }))
  program.command('restore').argument('<folder>').description('check a backup, write it to an empty data folder, and verify every item')
    .requiredOption('--keys <folder>', 'the keys that the backup wrote apart')
    .action((folder: string, options: { keys: string }) => run(async () => (await import('./commands/restore.ts')).restore)({ folder, ...options }))
}

const proving = (program: Command, run: Run): void => {
  program.command('doctor').description('check the configuration and every service it names').addOption(json())
    .action(run(async () => (await import('./commands/doctor.ts')).doctor))
  program.command('simulate').description('the deterministic simulation of engine and folds')
    .option('--seeds <n>', 'how many seeds', wholeNumber(1)).option('--seed <n>', 'this one only', wholeNumber(0))
    .option('--minutes <n>', 'as many as fit', wholeNumber(1)).addOption(json())
    .action(run(async () => (await import('./commands/simulate.ts')).simulate))
  program.command('completion').addArgument(new Argument('<shell>').choices(SHELLS)).description('print a script that completes commands, options and domains in your shell')
    .action((shell: Shell) => run(async () => (await import('./commands/completion.ts')).completion)({ shell, program }))
  program.command('bench').argument('<name>').argument('[options...]').description('run a benchmark, such as rebuild, from a clone of the repository (npm run bench NAME)')
    .allowUnknownOption()
    .action((name: string, rest: readonly string[], options: object) => run(async () => (await import('./commands/bench.ts')).bench)({ name, rest, ...options }))
}
