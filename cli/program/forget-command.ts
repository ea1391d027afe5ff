import type { Command } from 'commander'
import { json } from './options.ts'
import type { Run } from './action.ts'

export const addForgetCommand = (program: Command, run: Run): void => {
  program
    .command('forget')
    .argument('[person]')
    .description(
      'destroy the encryption key of a person or of a part of a person, and remove the data from the log, the items and every rebuild; cannot be undone',
    )
    .option('--subject <id>', 'the person, or a part such as ann~link~1; the same as the argument')
    .option('--yes', 'do not ask for confirmation (required without a terminal)')
    .addOption(json())
    .action((person: string | undefined, options: object) =>
      run(async () => (await import('../commands/forget.ts')).forget)({ person, ...options }),
    )
}
