import { constants, setPriority } from 'node:os'
import { columnsIn, createOutput, EXIT, wantsColor } from './output.ts'
import { runCommand } from './run.ts'

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

const exit = await runCommand({
  env: process.env,
  input: process.stdin,
  output,
  signal: stopping.signal,
  // Threads that start later inherit the priority.
  giveWay: () => setPriority(constants.priority.PRIORITY_LOW),
}, process.argv.slice(2))
// What is left open belongs to nobody any more; stdout is written out first, also into a pipe.
process.stdout.write('', () => process.exit(exit))
