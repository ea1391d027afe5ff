import { type Command, Option } from 'commander'
import { json } from './options.ts'
import type { ImportOption, ImportOptions } from '../../projections/importing.ts'
import type { Run } from './action.ts'

export const addDataCommands = (program: Command, run: Run, importOptions: readonly ImportOption[]): void => {
  program
    .command('append')
    .argument('<domain>')
    .argument('<type>')
    .argument('<json>', 'the fields of the event; its personal fields are in the object "personal". - reads stdin')
    .description(
      'append one event by hand, with the checks of the edge, and print its position and the result of its fold',
    )
    .option('--key <key>', 'the key of the event. Default if keys are people: the subject, else the actor')
    .option(
      '--subject <id>',
      'the person whom the personal fields describe. Default: the actor, or the key if keys are people',
    )
    .option('--actor <id>', 'the user who causes the event. Default: none (the operator)')
    .option('--at <time>', 'when it happened (RFC 3339). Default: now')
    .option('--idempotency-key <key>', 'a repeated command with the same key has no effect')
    .option('--yes', 'do not ask for confirmation')
    .addOption(json())
    .action((domain: string, type: string, fields: string, options: object) =>
      run(async () => (await import('../commands/append.ts')).append)({ domain, type, fields, ...options }),
    )
  const importing = program
    .command('import')
    .argument('<domain>')
    .argument(
      '<file>',
      'NDJSON, a DynamoDB export, or another format that the domain reads, such as the output of "export"',
    )
    .description('append the items of existing tables as events; a repeated import has no effect')
    .addOption(json())
    .action((domain: string, file: string, { json, ...values }: { json?: true } & ImportOptions) =>
      run(async () => (await import('../commands/import.ts')).importFile)({
        domain,
        file,
        values,
        ...(json && { json }),
      }),
    )
  for (const { name, value, about } of importOptions) importing.option(`--${name} <${value}>`, about)
  program
    .command('export')
    .argument('<domain>')
    .argument('<key>', 'the key of the log')
    .description('write everything of one key to stdout, as lines that "import" reads, or as CSV')
    .addOption(
      new Option('--format <format>', 'one JSON object per line, or CSV').choices(['json', 'csv']).default('json'),
    )
    .option('--history', 'include the history')
    .action((domain: string, key: string, options: { format: 'json' | 'csv'; history?: true }) =>
      run(async () => (await import('../commands/export.ts')).exportOne)({ domain, key, ...options }),
    )
}
