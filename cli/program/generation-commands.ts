import type { Command } from 'commander'
import { json, wholeNumber } from './options.ts'
import type { Run } from './action.ts'

export const addGenerationCommands = (program: Command, run: Run): void => {
  program
    .command('verify')
    .argument('[domain]')
    .description(
      'fold the log again and compare the result with every stored item; report changed, missing and extra items; exit 3 if there are any',
    )
    .option('--key <key>', 'only this key')
    .option('--sample <n>', 'only this many keys, chosen at random in each run', wholeNumber(1))
    .option('--generation <n>', 'verify this generation. Default: the serving generation', wholeNumber(1))
    .addOption(json())
    .action((domain: string | undefined, options: object) =>
      run(async () => (await import('../commands/verify.ts')).verify)({ domain, ...options }),
    )
  program
    .command('rebuild')
    .argument('<domain>')
    .description('build the next generation next to the serving one, and flip to it')
    .option('--diff', 'show what would change, field by field, without a flip; exit 3 if something differs')
    .option('--sample <n>', 'with --diff: how many changed items and decisions to show. Default: 20', wholeNumber(0))
    .option('--no-flip', 'build the generation without a flip')
    .option('--resume', 'continue the generation that an interrupted rebuild left incomplete')
    .option(
      '--max-writes-per-second <n>',
      'limit of writes per second (write units on DynamoDB, items embedded). Default: no limit',
      wholeNumber(1),
    )
    .option('--accept-parked', 'flip even if the new generation has parked keys that are not parked in the serving one')
    .option('--accept-unfollowed', 'flip even if no process follows the new generation yet')
    .option('--yes', 'do not ask for confirmation')
    .addOption(json())
    .action((domain: string, options: { flip: boolean }) =>
      run(async () => (await import('../commands/rebuild.ts')).rebuild)({ domain, ...options }),
    )
  program
    .command('flip')
    .argument('<domain>')
    .description('serve another complete generation, a newer or an older one')
    .option(
      '--to <generation>',
      'the generation to serve. Default: the newest, if it is newer than the serving one',
      wholeNumber(1),
    )
    .option('--accept-parked', 'flip even if that generation has parked keys that are not parked in the serving one')
    .option('--accept-unfollowed', 'flip even if no process follows that generation')
    .addOption(json())
    .action((domain: string, options: object) =>
      run(async () => (await import('../commands/flip.ts')).flip)({ domain, ...options }),
    )
  program
    .command('generations')
    .argument('[domain]')
    .description('list the generations, which one serves and whether a processor follows each, or drop one')
    .option('--domain <domain>', 'the domain; the same as the argument')
    .option('--drop <generation>', 'remove the table and the consumer group of this generation', wholeNumber(1))
    .option('--yes', 'do not ask for confirmation (required without a terminal)')
    .addOption(json())
    .action((domain: string | undefined, options: object) =>
      run(async () => (await import('../commands/generations.ts')).generations)({
        ...options,
        ...(domain === undefined ? {} : { domain }),
      }),
    )
}
