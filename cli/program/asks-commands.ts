import type { Command } from 'commander'
import { json } from './options.ts'
import type { Run } from './action.ts'

export const addAsksCommands = (program: Command, run: Run): void => {
  const asks = program
    .command('asks')
    .description('list and release calls to outside services that wait for an operator')
  asks
    .command('list', { isDefault: true })
    .argument('[domain]')
    .description(
      'list the waiting calls: those that change something and are older than the last flip, and those that must not be repeated and have an unknown result',
    )
    .addOption(json())
    .action((domain: string | undefined, options: object) =>
      run(async () => (await import('../commands/asks.ts')).list)({ domain, ...options }),
    )
  asks
    .command('release')
    .argument('[id]')
    .option('--all', 'release every waiting call')
    .description('make a waiting call; a process with the role fetcher makes it')
    .addOption(json())
    .action((id: string | undefined, options: object) =>
      run(async () => (await import('../commands/asks.ts')).release)({ id, ...options }),
    )
}
