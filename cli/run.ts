import { CommanderError } from 'commander'
import { OUR_DOMAINS } from '../domains/list.ts'
import { loadDomains } from '../host/config/domains.ts'
import { isFault } from '../schemas/fault.ts'
import type { UnloadedContext } from './context.ts'
import { EXIT } from './output.ts'
import type { Exit } from './output.ts'
import { createProgram } from './program.ts'

/** Runs one command, reports a failure to stderr, and resolves to the exit code. Uses no state of the process except `context`. */
export const runCommand = async (context: UnloadedContext, args: readonly string[]): Promise<Exit> => {
  let exit: Exit = EXIT.fine
  try {
    // If the selected domains cannot be loaded, the help shows the commands and options of the domains in this package. A command that uses the
    // domains reports the fault.
    const domains = await loadDomains(context.env['TRIBUTARY_DOMAINS']).catch(() => OUR_DOMAINS)
    await createProgram(context, (code) => (exit = code), domains).parseAsync(args, { from: 'user' })
  } catch (error) {
    exit = reportFailure(context, error)
  }
  context.output.settle()
  return exit
}

const reportFailure = ({ output, signal }: UnloadedContext, error: unknown): Exit => {
  output.settle()
  if (signal.aborted) return EXIT.interrupted
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.usage
  if (isFault(error)) output.note(`${output.red('tributary:')} ${error.code}: ${error.message}`)
  else
    output.note(
      `${output.red('tributary:')} internal: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    )
  if (isFault(error, 'flip-would-park')) return EXIT.parked
  return isFault(error, 'bad-usage') ? EXIT.usage : EXIT.failed
}
