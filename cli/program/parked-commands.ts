import type { Command } from 'commander'
import { json, wholeNumber } from './options.ts'
import type { Run } from './action.ts'

export const addParkedCommands = (program: Command, run: Run): void => {
  const parked = program
    .command('parked')
    .description('list, show, retry and discard events that the processor could not fold')
  parked
    .command('list', { isDefault: true })
    .argument('[domain]')
    .description('list the parked keys: those with an event that the processor could not fold; exit 4 if there are any')
    .option(
      '--generation <n>',
      'list the parked keys of this generation. Default: the serving generation',
      wholeNumber(1),
    )
    .option('--discarded', 'list the discarded events, with who discarded each and why')
    .addOption(json())
    .action((domain: string | undefined, options: object) =>
      run(async () => (await import('../commands/parked.ts')).list)({ domain, ...options }),
    )
  parked
    .command('show')
    .argument('<id>')
    .description('show a parked event and why its fold failed')
    .addOption(json())
    .action((id: string, options: object) =>
      run(async () => (await import('../commands/parked.ts')).show)({ id, ...options }),
    )
  parked
    .command('discard')
    .argument('<id>')
    .description(
      'discard a parked event and record who did it and why; the processor then folds the later events of the key',
    )
    .requiredOption('--reason <text>', 'why the event is discarded')
    .option('--by <name>', 'who decides it. Default: the user of this operating system')
    .addOption(json())
    .action((id: string, options: object) =>
      run(async () => (await import('../commands/parked.ts')).discard)({ id, ...(options as { reason: string }) }),
    )
  parked
    .command('retry')
    .argument('[id]')
    .option('--all', 'retry every parked key')
    .description('fold the events of a parked key again, in order')
    .addOption(json())
    .action((id: string | undefined, options: object) =>
      run(async () => (await import('../commands/parked.ts')).retry)({ id, ...options }),
    )
}
