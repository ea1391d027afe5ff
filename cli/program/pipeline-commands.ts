import type { Command } from 'commander'
import { json, wholeNumber } from './options.ts'
import { ROLES } from '../roles.ts'
import type { Run } from './action.ts'

export const addPipelineCommands = (program: Command, run: Run): void => {
  program
    .command('start')
    .description('run the pipeline, and print its addresses and the command that creates a first token')
    .option('--roles <roles>', `the roles that this process runs: ${ROLES.join(',')}. Default: all`)
    .option('--print-config', 'print the configuration without the values of secrets, and exit')
    .action(run(async () => (await import('../commands/start.ts')).start))
  const token = program
    .command('token')
    .description('create, list and revoke the access tokens of people, apps and devices')
  token
    .command('create')
    .description('create a token and show its secret once; the program stores only the hash')
    .requiredOption('--user <id>', 'the user whose data the token gives access to')
    .option('--domain <domain>', 'the domain. Default: the first domain')
    .option('--scopes <scopes>', 'the scopes of the token, comma separated: read, write, admin, device', 'read,write')
    .option('--name <name>', 'a name for the token', 'command line')
    .addOption(json())
    .action(run(async () => (await import('../commands/token.ts')).create))
  token
    .command('list')
    .description('list all tokens, or the tokens of one user')
    .option('--user <id>', 'list only the tokens of this user. Default: all users')
    .addOption(json())
    .action(run(async () => (await import('../commands/token.ts')).list))
  token
    .command('revoke')
    .argument('<id>', 'the id that "token list" shows')
    .description('revoke a token; it stops working at once')
    .addOption(json())
    .action((id: string, options: { json?: true }) =>
      run(async () => (await import('../commands/token.ts')).revoke)({ id, ...options }),
    )
  program
    .command('demo')
    .description('send realistic, seeded traffic to the edge of a running pipeline')
    .option('--domain <domain>', 'the domain. Default: the first domain')
    .option('--seconds <n>', 'how many seconds the traffic lasts', wholeNumber(1), 30)
    .option('--rate <n>', 'requests per second', wholeNumber(1), 20)
    .option('--seed <n>', 'seed of the traffic; the same seed sends the same traffic', wholeNumber(0), 1)
    .addOption(json())
    .action(run(async () => (await import('../commands/demo.ts')).demo))
}
