import { CommanderError } from 'commander'
import { isFault } from '../schemas/fault.ts'
import { columnsIn, createOutput, EXIT, wantsColor } from './output.ts'
import type { Exit } from './output.ts'
import { createProgram } from './program.ts'

const output = createOutput({
  out: process.stdout,
  err: process.stderr,
  color: wantsColor(process.env, process.argv, process.stdout.isTTY && process.stderr.isTTY),
  columns: columnsIn(process.env),
  now: Date.now,
})

// The SDK is pinned, and its advice about Node versions is for us, not for whoever reads our one line.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'

/** The first signal asks to stop; the second does not ask. */
const stopping = new AbortController()
const onSignal = (): void => {
  if (stopping.signal.aborted) process.exit(EXIT.interrupted)
  stopping.abort()
}
process.on('SIGINT', onSignal)
process.on('SIGTERM', onSignal)

/** Whoever reads our data may stop reading (`… | head`): that is no failure. */
process.stdout.on('error', (error) => process.exit('code' in error && error.code === 'EPIPE' ? EXIT.fine : EXIT.failed))

const run = async (): Promise<Exit> => {
  let exit: Exit = EXIT.fine
  const program = createProgram({ env: process.env, output, signal: stopping.signal }, (code) => (exit = code))
  await program.parseAsync(process.argv)
  return exit
}

const failed = (error: unknown): Exit => {
  output.settle()
  if (stopping.signal.aborted) return EXIT.interrupted
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.usage
  if (isFault(error)) output.note(`${output.red('tributary:')} ${error.code}: ${error.message}`)
  else output.note(`${output.red('tributary:')} internal: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  if (isFault(error, 'flip-would-park')) return EXIT.parked
  return isFault(error, 'bad-usage') ? EXIT.usage : EXIT.failed
}

const exit = await run().catch(failed)
output.settle()
// What is left open belongs to nobody any more; stdout is written out first, also into a pipe.
process.stdout.write('', () => process.exit(exit))
