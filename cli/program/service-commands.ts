import type { Command } from 'commander'
import type { Domains } from '../../domains/domains.ts'
import { Fault } from '../../schemas/fault.ts'
import { wholeNumber } from './options.ts'
import type { Run } from './action.ts'

const LAST_PORT = 65_535

/** Adds one command per local service of the domains. Fault: `bad-config` if a service has the name of another command. */
export const addServiceCommands = (program: Command, run: Run, { records }: Domains): void => {
  for (const { domain, localServices = [] } of records)
    for (const service of localServices) {
      const { name, about, port } = service
      if (program.commands.some((command) => command.name() === name))
        throw new Fault(
          'bad-config',
          `The local service ${name} of the domain ${domain.name} has the name of another command. Rename the service in the record of ${domain.name}.`,
        )
      program
        .command(name)
        .description(`${about}; print the variables that let a server use it, and run until stopped`)
        .option('--port <port>', 'the port on 127.0.0.1; 0 selects a free port', wholeNumber(0, LAST_PORT), port)
        .action((options: { port: number }) =>
          run.tool(async () => (await import('../commands/local-service.ts')).runLocalService)({ service, ...options }),
        )
    }
}
