import type { Command } from 'commander'
import { json } from './options.ts'
import type { Run } from './action.ts'

export const addBackupCommands = (program: Command, run: Run): void => {
  program
    .command('backup')
    .argument('<folder>')
    .description('write a consistent copy of the embedded data folder while the server runs')
    .requiredOption(
      '--keys <folder>',
      'the folder for the encryption keys of people; store it apart from the backup of the log',
    )
    .addOption(json())
    .action((folder: string, options: { keys: string; json?: true }) =>
      run(async () => (await import('../commands/backup.ts')).backup)({ folder, ...options }),
    )
  program
    .command('restore')
    .argument('<folder>')
    .description('check a backup, write it to an empty data folder, and verify every item')
    .requiredOption('--keys <folder>', 'the folder with the encryption keys that "backup" wrote')
    .action((folder: string, options: { keys: string }) =>
      run(async () => (await import('../commands/restore.ts')).restore)({ folder, ...options }),
    )
}
