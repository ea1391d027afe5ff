import type { Command } from 'commander'
import { json, price, wholeNumber } from './options.ts'
import type { Run } from './action.ts'

/** The maximum of `--last`. There is a maximum because the server holds these events in memory before it sends them. */
const MOST_LAST = 10_000

export const addReadingCommands = (program: Command, run: Run): void => {
  program
    .command('status')
    .description('show one line per domain: serving generation, lag, parked keys, rates')
    .option('--watch', 'refresh every 2 seconds')
    .addOption(json())
    .action(run(async () => (await import('../commands/status.ts')).status))
  program
    .command('events')
    .description('read the log and print its events, decoded')
    .option('--domain <domain>', 'the domain. Default: the first domain')
    .option('--key <key>', 'only this key')
    .option('--from <time>', 'only events at or after this time (RFC 3339)')
    .option('--to <time>', 'only events before this time (RFC 3339)')
    .option('--last <n>', `only the newest n events, at most ${MOST_LAST}`, wholeNumber(1, MOST_LAST))
    .option('--follow', 'continue with new events. Default start: the end of the log; with --last or --from: there')
    .addOption(json())
    .action(run(async () => (await import('../commands/events.ts')).events))
  program
    .command('explain')
    .argument('<domain>')
    .argument('<pk>')
    .argument('[sk]')
    .description('show the events behind an item, the changes of each event, and the item as it was')
    .option(
      '--as-of <time>',
      'show the item at this time (RFC 3339), or after the event at this position (partition:offset). Default: now',
    )
    .addOption(json())
    .action((domain: string, pk: string, sk: string | undefined, options: object) =>
      run(async () => (await import('../commands/explain.ts')).explain)({ domain, pk, sk, ...options }),
    )
  program
    .command('cost')
    .argument('[domain]')
    .description('compute what this log costs on DynamoDB, next to the cost of one transaction per event')
    .option('--sample <n>', 'only this many keys, chosen at random in each run', wholeNumber(1))
    .option('--window <ms>', 'events that arrive within this many milliseconds count as one batch', wholeNumber(0), 200)
    .option('--events-per-month <n>', 'events per month, for the bill. Default: the growth of this log', wholeNumber(1))
    .option('--write-price <dollars>', 'price of a million write units', price, 0.625)
    .option('--read-price <dollars>', 'price of a million read units', price, 0.125)
    .addOption(json())
    .action((domain: string | undefined, options: object) =>
      run(async () => (await import('../commands/cost.ts')).cost)({
        domain,
        window: 200,
        writePrice: 0.625,
        readPrice: 0.125,
        ...options,
      }),
    )
  const schemas = program.command('schemas').description('check and show the schemas of the events')
  schemas
    .command('check')
    .description('check that every schema is compatible with all its predecessors')
    .addOption(json())
    .action(run(async () => (await import('../commands/schemas.ts')).check))
  schemas
    .command('show')
    .description('show the id and fingerprint of every schema')
    .addOption(json())
    .action(run(async () => (await import('../commands/schemas.ts')).show))
  schemas
    .command('codegen')
    .description('write the TypeScript types of the schemas of a package')
    .option('--folder <path>', 'the folder with the .avdl files and lock.json', 'schemas')
    .option('--types <path>', 'the folder for the types', 'src/generated')
    .option('--lock', 'also give new records and versions their ids, if every version can read the others')
    .option('--check', 'write nothing; exit 1 if the types differ from the schemas')
    .action(run.tool(async () => (await import('../commands/schemas.ts')).codegen))
}
