import { constants, setPriority } from 'node:os'
import { calledAs } from './called-as.ts'
import { columnsIn, createOutput, EXIT, wantsColor } from './output.ts'
import { runCommand } from './run.ts'

const output = createOutput({
  out: process.stdout,
  err: process.stderr,
  color: wantsColor(process.env, process.argv, process.stdout.isTTY && process.stderr.isTTY),
  columns: columnsIn(process.env),
  now: Date.now,
})

// Switches off the warning of the AWS SDK on Node versions. The user cannot act on it, because this program pins the version of the SDK.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'

/** The first signal stops the command cleanly. The second one ends the process. */
const stopping = new AbortController()
const onSignal = (): void => {
  if (stopping.signal.aborted) process.exit(EXIT.interrupted)
  stopping.abort()
}
process.on('SIGINT', onSignal)
process.on('SIGTERM', onSignal)

/** If the reader of stdout ends first (`… | head`), the command has not failed. */
process.stdout.on('error', (error) => process.exit('code' in error && error.code === 'EPIPE' ? EXIT.fine : EXIT.failed))

const exit = await runCommand(
  {
    env: process.env,
    input: process.stdin,
    calledAs: calledAs(process.argv[1], process.cwd()),
    output,
    signal: stopping.signal,
    // Lowers the priority of this process. Threads that start later inherit the priority.
    lowerPriority: () => setPriority(constants.priority.PRIORITY_LOW),
  },
  process.argv.slice(2),
)
// The callback runs when stdout is written completely, also into a pipe. Then the process ends, even if connections or timers are still open.
process.stdout.write('', () => process.exit(exit))
