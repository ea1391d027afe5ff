import { Fault, messageOf } from '../../schemas/fault.ts'
import { outcomeOf } from './command-record.ts'
import type { Config } from '../config/config.ts'
import { readConfig } from '../config/config.ts'
import type { CommandContext } from './command-context.ts'
import { connectToServer, requireFolder } from '../folder/folder.ts'
import { createPerform } from './handlers.ts'
import type { ArgsOf, OperationName, OperationOutput, ResultOf, RowOf } from './operations.ts'
import { callServer, requireServer } from './server-calls.ts'
import { isEmbedded, openRuntime } from '../wiring/runtime.ts'
import type { Runtime } from '../wiring/runtime.ts'

export interface OperationCall<N extends OperationName> {
  readonly name: N
  readonly args: ArgsOf<N>
  /** Receives each row. Default: rows are dropped. */
  readonly row?: (row: RowOf<N>) => void
  readonly opening?: Opening
}

/** How this process opens the log and the items, if no server performs the operation. */
export interface Opening {
  /** True: folds new events during the operation, because the operation waits until its own events are folded. Default: false. */
  readonly processing?: boolean
  /** True: creates the data folder, tables and topics if they do not exist. Default: false. */
  readonly first?: boolean
}

export type CallOperation = <N extends OperationName>(
  name: N,
  args: ArgsOf<N>,
  row?: (row: RowOf<N>) => void,
) => Promise<ResultOf<N>>

/** Performs one operation. If a running server has the data folder, the server performs it. Otherwise this process performs it. */
export const callOperation = <N extends OperationName>(
  context: CommandContext,
  { name, args, row, opening = {} }: OperationCall<N>,
): Promise<ResultOf<N>> => withOperations(context, opening, (call) => call(name, args, row))

/** Performs several operations like `callOperation`. In this process, opens the log and the items only once. */
export const withOperations = async <T>(
  context: CommandContext,
  { processing = false, first = false }: Opening,
  use: (call: CallOperation) => Promise<T>,
): Promise<T> => {
  const config = readConfig(context.env, context.domains)
  if (isEmbedded(config) && (await isServerRunning(config))) {
    await context.recorder?.announce(config.data)
    return use(async (name, args, row) =>
      callServer(await requireServer(config.data))(name, args, outputTo(context, row)),
    )
  }
  if (isEmbedded(config) && !first) requireFolder(config.data)
  return withRuntime(context, { canCreate: first }, async (runtime) => {
    if (processing && isEmbedded(config))
      for (const pipeline of runtime.pipelines.values()) await pipeline.start('processor')
    return use((name, args, row) => createPerform(runtime)(name, args, outputTo(context, row)))
  })
}

const outputTo = <Row>(
  { output, signal }: CommandContext,
  row: (row: Row) => void = () => undefined,
): OperationOutput<Row> => ({ row, progress: (text) => output.progress(text), signal })

/** Returns true if a running server has the data folder. */
export const isServerRunning = async (config: Config): Promise<boolean> => {
  const socket = await connectToServer(config.data)
  socket?.destroy()
  return socket !== undefined
}

/** Opens the log and the items in this process while `use` runs. Creates folders, tables and topics only if `canCreate` is true. */
export const withRuntime = async <T>(
  context: CommandContext,
  { canCreate }: { readonly canCreate: boolean },
  use: (runtime: Runtime) => Promise<T>,
): Promise<T> => {
  const config = readConfig(context.env, context.domains)
  const failed = (_domain: string, error: unknown): void => {
    context.output.progress(error instanceof Fault ? `${error.code}: ${error.message}` : String(error))
  }
  const runtime = await openRuntime({
    config,
    observer: { failed },
    note: (line) => context.output.note(line),
    canCreate,
  })
  const leaveRecord = async (outcome: string): Promise<void> => {
    await context.recorder
      ?.leave(runtime.records, outcome, isEmbedded(config))
      .catch((error: unknown) =>
        context.output.note(`No server will log this command: its record could not be written (${messageOf(error)}).`),
      )
  }
  try {
    const result = await use(runtime)
    await leaveRecord('done')
    return result
  } catch (error) {
    await leaveRecord(outcomeOf(error))
    throw error
  } finally {
    await runtime.close()
  }
}
