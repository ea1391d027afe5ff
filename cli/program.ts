import { Command } from 'commander'
import { createRecorder, outcomeOf } from '../host/ipc/command-record.ts'
import type { Recorder } from '../host/ipc/command-record.ts'
import type { Domains } from '../domains/domains.ts'
import { loadDomains } from '../host/config/domains.ts'
import type { UnloadedContext } from './context.ts'
import { version } from '../host/config/version.ts'
import { EXIT } from './output.ts'
import type { Exit } from './output.ts'
import type { Action, Run, ToolAction } from './program/action.ts'
import { addAsksCommands } from './program/asks-commands.ts'
import { addBackupCommands } from './program/backup-commands.ts'
import { addDataCommands } from './program/data-commands.ts'
import { addForgetCommand } from './program/forget-command.ts'
import { addGenerationCommands } from './program/generation-commands.ts'
import { described } from './program/options.ts'
import { addParkedCommands } from './program/parked-commands.ts'
import { addPipelineCommands } from './program/pipeline-commands.ts'
import { importOptionsOf } from './program/import-options.ts'
import { addReadingCommands } from './program/reading-commands.ts'
import { addServiceCommands } from './program/service-commands.ts'
import { addToolCommands } from './program/tool-commands.ts'

const withoutEnd = (text: string): string => text.replace(/\n$/, '')

/**
 * The program with all commands. A command loads its module only when it runs, so that each one starts quickly. `domains`: the domains whose
 * import options and local services are a part of the program.
 */
export const createProgram = (context: UnloadedContext, exit: (code: Exit) => void, domains: Domains): Command => {
  let recorder: Recorder | undefined
  const handler =
    <Options>(act: (options: Options) => Promise<Exit>) =>
    async (options: Options): Promise<void> => {
      try {
        const code = await act(options)
        const ended = context.signal.aborted && code !== EXIT.fine ? EXIT.interrupted : code
        await recorder?.end(`exit ${ended}`)
        exit(ended)
      } catch (error) {
        await recorder?.end(context.signal.aborted ? `exit ${EXIT.interrupted}` : outcomeOf(error))
        throw error
      }
    }
  const run: Run = Object.assign(
    <Options>(load: () => Promise<Action<Options>>) =>
      handler<Options>(async (options) => {
        const [action, domains] = [await load(), await loadDomains(context.env['TRIBUTARY_DOMAINS'])]
        return action({ ...context, domains, ...(recorder && { recorder }) }, options)
      }),
    {
      tool: <Options>(load: () => Promise<ToolAction<Options>>) =>
        handler<Options>(async (options) => (await load())(context, options)),
    },
  )
  const program = new Command('tributary')
    .description('Append events to a log, fold them into items, rebuild the items and verify that they match the log.')
    .version(version())
    .option('--no-color', 'print without colours (the variable NO_COLOR does the same)')
    .exitOverride()
    .configureHelp({ optionDescription: described, argumentDescription: described })
    .configureOutput({
      writeOut: (text) => context.output.line(withoutEnd(text)),
      writeErr: (text) => context.output.note(withoutEnd(text)),
    })
    .hook('preAction', (_, command) => void (recorder = createRecorder(command)))
    .showHelpAfterError('(See tributary --help or tributary COMMAND --help)')
    .addHelpText(
      'after',
      '\nExit codes: 0 success, 1 failure, 2 wrong usage, 3 differences found, 4 a key is parked, 130 interrupted.',
    )
  // The help lists the commands in this order.
  addPipelineCommands(program, run)
  addDataCommands(program, run, importOptionsOf(domains))
  addReadingCommands(program, run)
  addGenerationCommands(program, run)
  addParkedCommands(program, run)
  addAsksCommands(program, run)
  addForgetCommand(program, run)
  addBackupCommands(program, run)
  addToolCommands(program, run)
  addServiceCommands(program, run, domains)
  return program
}
