import { Argument, type Command } from 'commander'
import { SHELLS, type Shell } from '../completion.ts'
import { json, wholeNumber } from './options.ts'
import type { Run } from './action.ts'

export const addToolCommands = (program: Command, run: Run): void => {
  program
    .command('doctor')
    .description('check the configuration and every service that it names, and print what to do')
    .addOption(json())
    .action(run(async () => (await import('../commands/doctor.ts')).doctor))
  program
    .command('simulate')
    .description(
      'run the deterministic simulation of the engine and the folds; a failing seed prints the command that repeats it',
    )
    .option('--seeds <n>', 'how many seeds to run', wholeNumber(1))
    .option('--seed <n>', 'run only this seed', wholeNumber(0))
    .option('--minutes <n>', 'stop after this many minutes', wholeNumber(1))
    .addOption(json())
    .action(run(async () => (await import('../commands/simulate.ts')).simulate))
  program
    .command('new')
    .argument('<name>')
    .description('write a package with a working domain of your own: events, folds, a table, routes and tests')
    .option('--folder <path>', 'the folder of the package. Default: ./<name>')
    .option(
      '--tributary <spec>',
      'the dependency on this program for package.json. Default: this clone, or the installed version',
    )
    .action((name: string, options: object) =>
      run.tool(async () => (await import('../commands/new.ts')).newDomain)({ name, ...options }),
    )
  program
    .command('completion')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .description('print a script that completes commands, options and domains in your shell')
    .action((shell: Shell) =>
      run.tool(async () => (await import('../commands/completion.ts')).completion)({ shell, program }),
    )
  program
    .command('bench')
    .argument('<name>')
    .argument('[options...]')
    .description('run a benchmark, such as rebuild; needs a clone of the repository (npm run bench NAME)')
    .allowUnknownOption()
    .action((name: string, rest: readonly string[], options: object) =>
      run.tool(async () => (await import('../commands/bench.ts')).bench)({ name, rest, ...options }),
    )
}
